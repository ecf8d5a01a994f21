package summary

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParse checks what testdata/cases.yaml does not: the lines of chapters, and the
// links that mdBook ignores.
func TestParse(t *testing.T) {
	cases := map[string]struct {
		reason, text   string
		chapters, lost []string
		problem        string
	}{
		"Lines": {
			"Each chapter has its line, with any line ends.", "# S\r\n\r[P](p.md)\n\n- [A](a.md)\r  - [B](./b%20c.md)\n- [D]()\n\n[S](s.md)\n",
			[]string{"3 p.md", "5 a.md", "6 ./b c.md", "7 ", "9 s.md"},
			nil, "",
		},
		"Lost": {
			"A second nested list replaces the first.", "- [A](a.md)\n  - [B](b.md)\n    - [C](c.md)\n  * [D](d.md) [E](e.md)\n",
			[]string{"1 a.md", "4 d.md"},
			[]string{"2 b.md", "3 c.md", "4 e.md"},
			"",
		},
		"CarriageReturns": {
			"mdBook reads HTML up to a line feed.", "<!-- c -->\r\r- [A](a.md)\r", nil, nil,
			"SUMMARY.md line 1: end the lines of the file with line feeds, not with carriage returns alone: mdBook does not see where this code or HTML ends",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			lines := func(chapters []Chapter) (lines []string) {
				for _, c := range chapters {
					lines = append(lines, fmt.Sprint(c.Line, " ", c.Target))
				}

				return lines
			}
			got := Parse(tc.text)
			if diff := cmp.Diff([]any{tc.chapters, tc.lost, tc.problem}, []any{lines(got.Chapters), lines(got.Lost), got.Problem.String()}); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestClean(t *testing.T) {
	for target, want := range map[string]string{
		"a.md": "a.md", "./a.md": "a.md", "x//a.md": "x/a.md", "x/./a.md": "x/a.md", "./x/.//./a.md": "x/a.md", ".": "", "../a.md": "../a.md", ".a.md": ".a.md", "x/a.": "x/a.",
	} {
		if got := Clean(target); got != want {
			t.Errorf("Clean(%q): want %q, got %q", target, want, got)
		}
	}
}
