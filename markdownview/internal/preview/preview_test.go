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

// A step of a test of poll writes a file, and has what poll prints and serves then.
type step struct {
	reason, file, text string
	want, page         string
	served             int
}

// poll polls after each step. page is the file that the steps read of the book.
func poll(t *testing.T, p *preview, page string, steps []step) {
	t.Helper()
	out, served := &bytes.Buffer{}, 0
	p.port, p.dir, p.log = 3000, t.TempDir(), log.New(out, "", 0)
	p.serve = func([]string) error { served++; return nil }
	for _, s := range steps {
		if err := errors.Join(os.MkdirAll(filepath.Dir(s.file), 0o755), os.WriteFile(s.file, []byte(s.text), 0o600)); err != nil {
			t.Fatal(err)
		}
		out.Reset()
		if err := p.poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		page, _ := os.ReadFile(filepath.Join(p.dir, "src", page))
		if diff := cmp.Diff([]any{s.want, s.page, s.served}, []any{out.String(), string(page), served}); diff != "" {
			t.Errorf("%s\nprinted, page, served: -want +got\n%s", s.reason, diff)
		}
	}
	if entries, _ := os.ReadDir(p.dir); len(entries) != 4 {
		t.Errorf("the folder of the book has %v, want src, theme and their targets", entries)
	}
}

func TestPoll(t *testing.T) {
	const good = "kind: ConfigMap\n---\napiVersion: a/v1\nkind: Wiki\nmetadata: {name: w}\nspec: {markdowns: {SUMMARY.md: '[A](a.md)', a.md: Hello}}\n"
	xr, composition := filepath.Join(t.TempDir(), "xr.yaml"), filepath.Join(t.TempDir(), "c.yaml")
	poll(t, &preview{path: xr, policy: render.Policy{Composition: composition}}, "a.md", []step{
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
			"The ConfigMap is in the file.", xr, "kind: MarkdownView\nmetadata: {name: w}\nspec: {markdowns: {SUMMARY.md: '[A](a.md)'}, markdownsFrom: [{configMap: {name: more}}]}\n" +
				"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\ndata: {a.md: More}\n", xr + ": 2 files at http://localhost:3000\n", "More", 2,
		},
		{
			"An include leaves the book: the last one stays.", xr, "kind: MarkdownView\nmetadata: {name: w}\nspec: {markdowns: {SUMMARY.md: '[A](a.md)', a.md: '{{#include b.txt}}', b.txt: '{{#include /proc/self/environ}}'}}\n",
			`b.txt line 1: remove the include of "/proc/self/environ", which is outside of the book` + "\n" +
				xr + ": the last good book is still served\n", "More", 2,
		},
		{"The book is valid again.", xr, "kind: MarkdownView\nmetadata: {name: w}\nspec: {markdowns: {SUMMARY.md: '[A](a.md)', a.md: Bye}}\n", xr + ": 2 files at http://localhost:3000\n", "Bye", 3},
	})
}

// TestPollFolder checks that the book of a folder is served again when a file changes.
func TestPollFolder(t *testing.T) {
	docs := filepath.Join(t.TempDir(), "docs")
	page, served := filepath.Join(docs, "guide", "a.md"), docs+": 2 files at http://localhost:3000\n"
	poll(t, &preview{path: docs}, "guide/a.md", []step{
		{"A folder without SUMMARY.md is a book, in folders too.", page, "Hello", served, "Hello", 1},
		{"A file changes.", page, "Hello again", served, "Hello again", 2},
	})
}
