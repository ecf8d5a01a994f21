package book

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/book/internal/summary"
)

// TestOutput checks what mdBook writes. The conflicts are in testdata/cases.yaml.
func TestOutput(t *testing.T) {
	files := Files{Markdowns: map[string]string{"README.md": "", "x/a.md": "", "b.txt": "", "c.md": ""}, Binaries: []string{"img/logo.svg"}}
	r := &report{}
	got := checkOutput(newIndex(files), []summary.Chapter{{Name: "README.md"}, {Name: "x/a.md"}}, r)
	want := &output{
		pages:  map[string]string{"index.html": "README.md", "x/a.html": "x/a.md"},
		copies: map[string]bool{"b.txt": true, "img/logo.svg": true},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(output{})); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if len(r.errors.First)+len(r.warnings.First) > 0 {
		t.Errorf("want no problems, got %v", r)
	}
}
