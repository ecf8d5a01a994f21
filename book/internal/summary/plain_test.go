package summary

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzPlain checks that plain reads a text as goldmark does, and that it reads the usual one.
func FuzzPlain(f *testing.F) {
	for _, seed := range []string{
		"# Summary\n\n- [A](a.md)\n  - [B_b](x/b-1.md)\n    - [*C*!](<c)\n", "- [A](a.md)\n\n    - [B]()\n\n# P\n- [C](c%20d.md)", "- [D](d)\n # P\n", "# \n",
		"- [A](a)\n    - [B](b)\n  - [C](c)", "- [A](a)\n\n      - [B](b)", "- [A](a)\n   - [B](b)\n- [C](c)", " - [A](a)",
		"- [A[b](c)](d)", "- [A[b](c)", "- [A]b](c)", "- [A](b](c)", "- [A\\](b)", "- [<b](c)>](d)", "- [`](a)`](b)",
		"- [A](a(b)", "- [A](a)b)", "- [A](<a>)", "- [A](a[b)", "- [A](a\\!b)", "- [A](a\tb)", "- [A](&amp;)", "- [A](a\x01b)", "- [](a)", "- [A](\"t\")",
		"# <http://a>", "# [A](a)", "# `A", "# A\\", "- [<a>](b)", "- [<http://a>](b)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, summary string) {
		source := normalize(summary)
		got := plain(string(source))
		if _, err := check(source); err != nil || got == nil {
			return
		}
		want := read(source, summary, events(source, parse(source)))
		if diff := cmp.Diff(want, read(source, summary, got)); diff != "" {
			t.Errorf("summary of %q: -want, +got:\n%s", summary, diff)
		}
	})
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]bool{
		"# Summary\n\n- [A](a.md)\n  - [B](b.md)\n- [C](c.md)\n\n# Part\n\n- [D](d.md)\n": true,
		"[A](a.md)\n":                 false,
		"* [A](a.md)\n":               false,
		"- [A](a b.md)\n":             false,
		"- [A](a.md) text\n":          false,
		"- [A](a.md)\n - [B](b.md)\n": false,
		"- [`A](a.md)\n":              false,
	} {
		if got := plain(text) != nil; got != want {
			t.Errorf("plain(%q): want %t, got %t", text, want, got)
		}
	}
}
