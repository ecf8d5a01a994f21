package book

import "testing"

func TestClean(t *testing.T) {
	for target, want := range map[string]string{
		"a.md": "a.md", "./a.md": "a.md", "x//a.md": "x/a.md", "x/./a.md": "x/a.md", "./x/.//./a.md": "x/a.md", ".": "", "../a.md": "../a.md", ".a.md": ".a.md", "x/a.": "x/a.",
	} {
		if got := clean(target); got != want {
			t.Errorf("clean(%q): want %q, got %q", target, want, got)
		}
	}
}
