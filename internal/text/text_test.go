package text

import "testing"

func TestCut(t *testing.T) {
	for text, want := range map[string]string{
		"":     "",
		"abc":  "abc",
		"abcd": "abc…",
		"abペ":  "ab…",
		"ペ":    "ペ",
		"ペa":   "ペ…",
	} {
		if got := Cut(text, 3); got != want {
			t.Errorf("cut(%q, 3): want %q, got %q", text, want, got)
		}
	}
}
