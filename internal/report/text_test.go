package report

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	long := strings.Repeat("a", 1000)
	for got, want := range map[string]string{
		Line("one\ntwo\x00\u200bthree\u00a0字"):     "one two  three\u00a0字",
		Line(long):                                 long,
		Line(long + "\n"):                          long + "…",
		Line(Line(long + "\n")):                    long + "…",
		Line(Line("a" + strings.Repeat("字", 400))): "a" + strings.Repeat("字", 333) + "…",
		Short(long):                                long[:80] + "…",
		Choice("an image", nil):                    "remove it: the Composition allows none",
		Choice("an image", []string{"a", "b"}):     "name an image that matches a or b",
	} {
		if got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}
