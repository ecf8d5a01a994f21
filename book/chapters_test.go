package book

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestChapters checks which files are chapters. The errors are in testdata/cases.yaml.
func TestChapters(t *testing.T) {
	files := Files{
		Markdowns: map[string]string{
			summaryName: "- [B](./x//b.md)\n  - [Draft]()\n  - [C](c%20d.md)\n- [Missing](e.md)\n- [Binary](f.md)\n\n[A](a.md)\n",
			"a.md":      "", "x/b.md": "", "c d.md": "", "unlisted.md": "",
		},
		Binaries: []string{"f.md"},
	}
	if diff := cmp.Diff([]string{"x/b.md", "c d.md", "a.md"}, Chapters(files)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if got := Chapters(Files{Markdowns: map[string]string{"a.md": ""}}); len(got) > 0 {
		t.Errorf("A book without SUMMARY.md has no chapters, got %q", got)
	}
}
