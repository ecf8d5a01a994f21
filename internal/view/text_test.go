package view

import "testing"

func TestPlain(t *testing.T) {
	for text, want := range map[string]bool{
		"":                     true,
		"# Title\n":            true,
		"\x00\x1f":             true,
		"~":                    true,
		"\x7f":                 false,
		"\u0080":               false,
		"\u0085":               false,
		"\u009f":               false,
		"\u00a0":               true,
		"\u00bf\u00c0":         true,
		"\u00a0 and \u0085":    false,
		"\u2028\ufeff\ufffd":   true,
		"\ufffe":               false,
		"\uffff":               false,
		"\U00010000\U0001ffff": true,
		"一👩‍👩‍👧‍👦":             true,
		"cut \xc2":             true,
		"cut \xef\xbf":         true,
	} {
		if got := Plain(text); got != want {
			t.Errorf("plain(%q): want %t, got %t", text, want, got)
		}
	}
}
