package check

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/markdownview/internal/folder"
	"github.com/crossplane-contrib/function-markdownview/markdownview/internal/render"
)

func TestInYAML(t *testing.T) {
	files := map[string]render.Source{
		"view.yaml": {XR: "kind: Service\n---\nkind: MarkdownView\nspec: {}\n---\nkind: Wiki\nspec: {markdowns: {}}\n---\nkind: Wiki\nspec:\n  book:\n    pages:\n    - {path: a}\n    - path: b\n  markdowns:\n    a.md: |\n      one\n      two\n    b.md: \"one\\ntwo\"\n  markdownsFrom:\n  - configMap: {name: more}\n    path: guide\n"},
		"more.yaml": {XR: "kind: ConfigMap\nmetadata: {name: other}\ndata: {c.md: x}\n---\nkind: ConfigMap\nmetadata: {name: more}\ndata:\n  c.md: x\nbinaryData:\n  logo.png: AAE=\n"},
		"bad.yaml":  {XR: "a: b: c"},
	}
	p := newInYAML("view.yaml", 2, files)
	got := map[string]string{}
	at := func(file string, line int) string { return fmt.Sprintf("%s:%d", file, line) }
	for _, name := range []string{"a.md", "b.md", "guide/c.md", "guide/logo.png", "no.md"} {
		got[name] = at(p.file(name, 2))
	}
	for _, field := range []string{"spec.book.pages[1].path", "spec.book.pages[5]", "spec.markdowns[b.md]", "spec.book.title", "status"} {
		got[field] = at(p.field(field))
	}
	want := map[string]string{
		"a.md": "view.yaml:18", "b.md": "view.yaml:19", "guide/c.md": "more.yaml:8", "guide/logo.png": "more.yaml:10", "no.md": "view.yaml:11",
		"spec.book.pages[1].path": "view.yaml:14", "spec.book.pages[5]": "view.yaml:13", "spec.markdowns[b.md]": "view.yaml:19", "spec.book.title": "view.yaml:12", "status": "view.yaml:9",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got := at(newInYAML("bad.yaml", 0, files).file("a.md", 1)); got != "bad.yaml:0" {
		t.Errorf("a file that is not YAML: want no line, got %s", got)
	}
}

func TestInFolder(t *testing.T) {
	p := inFolder{&folder.Folder{Path: "docs", Files: []folder.File{{Name: "a.md"}}}}
	for field, want := range map[string]string{"spec.markdowns[a.md]": "docs/a.md", "spec.binaries[a.md]": "docs/a.md", "spec.markdowns[b.md]": "docs", "spec.replicas": "docs"} {
		if file, line := p.field(field); file != want || line != 0 {
			t.Errorf("%s: want %s without a line, got %s:%d", field, want, file, line)
		}
	}
}
