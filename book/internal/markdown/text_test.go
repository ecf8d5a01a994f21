package markdown

import "testing"

func TestUnescape(t *testing.T) {
	for raw, want := range map[string]string{
		`a\_b\c\\`: `a_b\c\`, "a&amp;b": "a&b", `a\&amp;b`: "a&amp;b", "&#97;&#x62;": "ab", "&nosuch;": "&nosuch;", "&ampx;": "&ampx;",
		"&#0;": "\ufffd", "&": "&", "&copy": "&copy", "&semi;": ";", `\`: `\`,
	} {
		if got := Unescape(raw); got != want {
			t.Errorf("Unescape(%q): want %q, got %q", raw, want, got)
		}
	}
}

func TestHasScheme(t *testing.T) {
	for target, want := range map[string]bool{
		"https://e.com": true, "mailto:a@b.c": true, "a+b-c.1:x": true, "a/b:c": false, "1:a": false, ":a": false, "a": false, "": false,
	} {
		if got := HasScheme(target); got != want {
			t.Errorf("HasScheme(%q): want %t, got %t", target, want, got)
		}
	}
}
