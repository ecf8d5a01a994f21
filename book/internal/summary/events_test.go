package summary

import "testing"

func TestSpaced(t *testing.T) {
	for line, want := range map[string]string{
		"- [A](a b.md)": "a b.md", "- [A]( a b c.md )": "a b c.md", "- [A](a.md)": "", `- [A](a.md "t")`: "", "- [A](<a b.md>": "", "text (a b)": "", "": "",
	} {
		if got := spaced([]byte("first\n"+line+"\nlast [x](y z)"), 2); got != want {
			t.Errorf("spaced(%q): want %q, got %q", line, want, got)
		}
	}
}
