package markdown

import (
	"fmt"
	"strings"
	"testing"
)

// TestScanLimits checks each limit of scan: a text at the limit has a link, and one above
// it has none. The numbers are literals, so that a test fails if a limit is raised.
func TestScanLimits(t *testing.T) {
	repeat := strings.Repeat
	cases := map[string]func(n int) string{
		"32 lists":              func(n int) string { return repeat("- ", 31+n) + "[a](b)" },
		"a rule of 1,024 bytes": func(n int) string { return repeat("- ", 411+100*n) + "--\n[a](b)" },
		"31 backticks":          func(n int) string { return "a " + repeat("`", 30+n) + " [a](b)" },
		"32 brackets":           func(n int) string { return repeat("[", 31+n) + "](b)" },
		"3 parentheses":         func(n int) string { return "[a](" + repeat("(b", 2+n) + repeat(")", 3+n) },
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			for n, want := range []int{1, 0} {
				links := 0
				for r := range Scan(text(n + 1)) {
					if r.Kind == Link {
						links++
					}
				}
				if links != want {
					t.Errorf("want %d links, got %d in %s", want, links, fmt.Sprintf("%.100q", text(n+1)))
				}
			}
		})
	}
}
