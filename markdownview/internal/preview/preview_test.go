package preview

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/markdownview/internal/render"
)

func TestFree(t *testing.T) {
	port, err := free(0)
	if err != nil || port == 0 {
		t.Fatalf("free(0): want a port, got %d, %v", port, err)
	}
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if _, err := free(port); err == nil {
		t.Errorf("free(%d): want an error for a port in use, got none", port)
	}
}

func TestPoll(t *testing.T) {
	const good = "kind: ConfigMap\n---\napiVersion: a/v1\nkind: Wiki\nmetadata: {name: w}\nspec: {markdowns: {SUMMARY.md: '[A](a.md)', a.md: Hello}}\n"
	xr, composition, out := filepath.Join(t.TempDir(), "xr.yaml"), filepath.Join(t.TempDir(), "c.yaml"), &bytes.Buffer{}
	served := 0
	p := &preview{
		path: xr, policy: render.Policy{Composition: composition}, port: 3000, dir: t.TempDir(), log: log.New(out, "", 0),
		serve: func([]string) error { served++; return nil },
	}
	steps := []struct {
		reason, file, text string
		want, page         string
		served             int
	}{
		{"There is no Composition yet.", xr, good, "cannot read " + composition + ": no such file or directory\n", "", 0},
		{
			"The first document with markdowns is the MarkdownView, and the function of the step has another name.", composition,
			"kind: Composition\nspec: {pipeline: [{step: other, functionRef: {name: other}}, {step: book, functionRef: {name: team-function-markdownview}}]}\n",
			xr + ": 2 files at http://localhost:3000\n", "Hello", 1,
		},
		{"Nothing has changed.", xr, good, "", "Hello", 1},
		{
			"The function rejects the book: the last one stays.", xr, "kind: MarkdownView\nmetadata: {name: w}\nspec: {replicas: 9, markdowns: {SUMMARY.md: '[A](a.md)', a.md: Bye}}\n",
			`Degraded=True InvalidSpec: spec.replicas: Invalid value: 9: must be from 1 to 5` + "\n" +
				`Synced=False ReconcileError: cannot compose resources: pipeline step "book" returned a fatal result: cannot compose MarkdownView "w": spec.replicas: Invalid value: 9: must be from 1 to 5` + "\n" +
				xr + ": the last good book is still served\n", "Hello", 1,
		},
		{"The file is not YAML.", xr, "a: b: c", "cannot read " + xr + ": error converting YAML to JSON: yaml: mapping values are not allowed in this context\n" + xr + ": the last good book is still served\n", "Hello", 1},
		{
			"A ConfigMap is not in the file.", xr, "kind: MarkdownView\nmetadata: {name: w}\nspec: {markdowns: {SUMMARY.md: '[A](a.md)'}, markdownsFrom: [{configMap: {name: more}}]}\n",
			`Degraded=True ConfigMapNotFound: spec.markdownsFrom[0].configMap.name: Not found: "more": create this ConfigMap in namespace default, or remove it from the list` + "\n" +
				`Synced=False ReconcileError: cannot compose resources: pipeline step "book" returned a fatal result: cannot compose MarkdownView "w": spec.markdownsFrom[0].configMap.name: Not found: "more": create this ConfigMap in namespace default, or remove it from the list` + "\n" +
				xr + ": the last good book is still served\n", "Hello", 1,
		},
		{
			"The ConfigMap is in the file.", xr, "kind: MarkdownView\nmetadata: {name: w}\nspec: {markdowns: {SUMMARY.md: '[A](a.md)'}, markdownsFrom: [{configMap: {name: more}}]}\n" +
				"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\ndata: {a.md: More}\n", xr + ": 2 files at http://localhost:3000\n", "More", 2,
		},
		{
			"An include leaves the book: the last one stays.", xr, "kind: MarkdownView\nmetadata: {name: w}\nspec: {markdowns: {SUMMARY.md: '[A](a.md)', a.md: '{{#include b.txt}}', b.txt: '{{#include /proc/self/environ}}'}}\n",
			`b.txt line 1: remove the include of "/proc/self/environ", which is outside of the book` + "\n" +
				xr + ": the last good book is still served\n", "More", 2,
		},
		{"The book is valid again.", xr, "kind: MarkdownView\nmetadata: {name: w}\nspec: {markdowns: {SUMMARY.md: '[A](a.md)', a.md: Bye}}\n", xr + ": 2 files at http://localhost:3000\n", "Bye", 3},
	}
	for _, s := range steps {
		if err := os.WriteFile(s.file, []byte(s.text), 0o600); err != nil {
			t.Fatal(err)
		}
		out.Reset()
		if err := p.poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		page, _ := os.ReadFile(filepath.Join(p.dir, "src", "a.md"))
		if diff := cmp.Diff([]any{s.want, s.page, s.served}, []any{out.String(), string(page), served}); diff != "" {
			t.Errorf("%s\nprinted, page, served: -want +got\n%s", s.reason, diff)
		}
	}
	if entries, _ := os.ReadDir(p.dir); len(entries) != 4 {
		t.Errorf("the folder of the book has %v, want src, theme and their targets", entries)
	}
}

// TestPollFolder checks that the book of a folder is served again when a file changes.
func TestPollFolder(t *testing.T) {
	docs, out, served := filepath.Join(t.TempDir(), "docs"), &bytes.Buffer{}, 0
	p := &preview{path: docs, port: 3000, dir: t.TempDir(), log: log.New(out, "", 0), serve: func([]string) error { served++; return nil }}
	steps := []struct {
		reason, file, text string
		want, page         string
		served             int
	}{
		{"A folder without SUMMARY.md is a book, in folders too.", "guide/a.md", "Hello", docs + ": 2 files at http://localhost:3000\n", "Hello", 1},
		{"Nothing has changed.", "", "", "", "Hello", 1},
		{"A file changes.", "guide/a.md", "Hello again", docs + ": 2 files at http://localhost:3000\n", "Hello again", 2},
		{"A new file.", "logo.png", "\xff", docs + ": 3 files at http://localhost:3000\n", "Hello again", 3},
		{"A new file that is not part of the book.", ".markdownignore", "logo.png\n", docs + ": 2 files at http://localhost:3000\n", "Hello again", 4},
		{
			"A chapter without a file: the last book stays.", "SUMMARY.md", "- [A](guide/a.md)\n- [B](b.md)\n",
			`Degraded=True InvalidSpec: spec.markdowns: Invalid value: SUMMARY.md line 2: add chapter "b.md", or remove its link: the file is not in the book` + "\n" +
				`Synced=False ReconcileError: cannot compose resources: pipeline step "compose-markdownview" returned a fatal result: cannot compose MarkdownView "docs": spec.markdowns: Invalid value: SUMMARY.md line 2: add chapter "b.md", or remove its link: the file is not in the book` + "\n" +
				docs + ": the last good book is still served\n", "Hello again", 4,
		},
		{"The file of the chapter.", "b.md", "B", docs + ": 3 files at http://localhost:3000\n", "Hello again", 5},
	}
	for _, s := range steps {
		if file := filepath.Join(docs, s.file); s.file != "" {
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(s.text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		out.Reset()
		if err := p.poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		page, _ := os.ReadFile(filepath.Join(p.dir, "src", "guide", "a.md"))
		if diff := cmp.Diff([]any{s.want, s.page, s.served}, []any{out.String(), string(page), served}); diff != "" {
			t.Errorf("%s\nprinted, page, served: -want +got\n%s", s.reason, diff)
		}
	}
}
