package book

import "testing"

func TestNearest(t *testing.T) {
	files := Files{Markdowns: map[string]string{"guide/intro.md": "", "a.md": "", "welcome.md": "", "SUMMARY.md": ""}, Binaries: []string{"logo.svg"}}
	for name, want := range map[string]string{
		"welcome": "welcome.md", "A.md": "a.md", "intro.md": "guide/intro.md", "guide/intor.md": "guide/intro.md", "guide/int.md": "guide/intro.md",
		"logo.sv": "", "b.md": "", "summary.md": "SUMMARY.md", "SUMMARYY.md": "", "third.md": "",
	} {
		if got := newIndex(files).nearest(name); got != want {
			t.Errorf("nearest(%q): want %q, got %q", name, want, got)
		}
	}
}
