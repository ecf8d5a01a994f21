package problem

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProblems(t *testing.T) {
	var p Problems
	p.Addf("", 0, "file %q", "a")
	p.Addf("a.md", 0, "whole")
	p.Addf("a\nb.md", 3, "link \"%s\" and %d", "c\td\"", 4)
	p.Addf("a.md", 1, "%s", strings.Repeat("字", 100))
	for i := range 20 {
		p.Addf("", 0, "%s", fmt.Sprint(i))
	}
	want := []string{`file "a"`, "a.md: whole", `a\nb.md line 3: link "c\td"" and 4`, "a.md line 1: " + strings.Repeat("字", 66) + "…"}
	for i := range 16 {
		want = append(want, fmt.Sprint(i))
	}
	want = append(want, "and 4 more")
	if diff := cmp.Diff(want, p.Lines()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if got := p.String(); got != strings.Join(want, "; ") {
		t.Errorf("want the lines in one, got %s", got)
	}
}
