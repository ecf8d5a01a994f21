package render

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.md")
	if err := os.WriteFile(file, []byte("A"), 0o600); err != nil {
		t.Fatal(err)
	}
	folder := Load(dir, Policy{})
	if folder.XR != "" || folder.Problem != "" || folder.Stamp == "" || folder != Load(dir, Policy{}) {
		t.Errorf("a folder has no text, no problem, and a stamp that stays: %+v", folder)
	}
	stamps, added := map[string]bool{folder.Stamp: true}, filepath.Join(dir, "b.md")
	for _, change := range []func() error{
		func() error { return os.Chtimes(file, time.Unix(0, 0), time.Unix(0, 0)) },
		func() error { return os.WriteFile(added, nil, 0o600) },
		func() error { return os.Rename(added, filepath.Join(dir, "c.md")) },
		func() error { return os.Symlink("nowhere.md", filepath.Join(dir, "d.md")) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		stamps[Load(dir, Policy{}).Stamp] = true
	}
	if len(stamps) != 5 {
		t.Errorf("the stamp of a folder changes with each of its files: want 5 stamps, got %v", stamps)
	}
	if s := Load(file, Policy{}); s.XR != "A" || s.Stamp != "" || s.Problem != "" {
		t.Errorf("a file has only a text: %+v", s)
	}
	for _, s := range []Source{Load(file+"x", Policy{}), Load(file, Policy{Composition: file + "x"}), Load(dir, Policy{Input: file + "x"})} {
		if want := "cannot read " + file + "x: no such file or directory"; s.Problem != want {
			t.Errorf("want %q, got %q", want, s.Problem)
		}
	}
}

// TestFind finds the first MarkdownView of a file.
func TestFind(t *testing.T) {
	const view = "kind: MarkdownView\nmetadata: {name: one}\n"
	cases := map[string]struct {
		reason, text, name, problem string
	}{
		"First":         {reason: "The first document that matches.", text: "kind: A\n---\n# A comment.\n---\n" + view + "---\nkind: MarkdownView\nmetadata: {name: two}\n", name: "one"},
		"JSON":          {reason: "JSON is YAML.", text: `{"kind": "MarkdownView", "metadata": {"name": "json"}}`, name: "json"},
		"Markdowns":     {reason: "The XRD of another author has another kind.", text: "kind: Wiki\nmetadata: {name: w}\nspec: {markdowns: {}}\n---\n" + view, name: "w"},
		"MarkdownsFrom": {reason: "The files are elsewhere.", text: "kind: Wiki\nmetadata: {name: w}\nspec: {markdownsFrom: []}\n---\n" + view, name: "w"},
		"None":          {reason: "No document matches.", text: "kind: A\n", problem: "not found"},
		"Empty":         {reason: "There are no documents.", problem: "not found"},
		"Markdown":      {reason: "The file is a chapter.", text: "Hello\n", problem: "a document in it is not an object of Kubernetes"},
		"Field":         {reason: "A field has another type.", text: "kind: A\nspec: text\n", problem: "spec cannot be a string"},
		"NotYAML":       {reason: "The file is broken.", text: "a: b: c", problem: "error converting YAML to JSON: yaml: mapping values are not allowed in this context"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Find(tc.text, Object.IsView)
			found, problem := got.GetFields()["metadata"].GetStructValue().GetFields()["name"].GetStringValue(), ""
			if err != nil {
				problem = err.Error()
			}
			if diff := cmp.Diff([]any{tc.name, tc.problem}, []any{found, problem}); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.reason, diff)
			}
			if errors.Is(err, ErrNotFound) != (tc.problem == "not found") {
				t.Errorf("%s\nwrong kind of error: %v", tc.reason, err)
			}
		})
	}
}
