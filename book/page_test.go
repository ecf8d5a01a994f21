package book

import "testing"

func TestPage(t *testing.T) {
	for name, want := range map[string]string{
		"a.md": "a.html", "x/a.txt": "x/a.html", "a": "a.html", "README.md": "index.html", "x/readme": "x/index.html", ".md": ".md.html", "a.b.md": "a.b.html", "a.html": "a.html",
	} {
		if got := Page(name); got != want {
			t.Errorf("Page(%q): want %q, got %q", name, want, got)
		}
	}
}
