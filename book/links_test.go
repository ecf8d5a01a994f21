package book

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// warnings returns the warnings about a book with a text in the chapter x/a.md.
func warnings(t *testing.T, text string) Problems {
	t.Helper()
	errors, warnings := Check(Files{
		Markdowns: map[string]string{
			summaryName: "- [A](x/a.md)\n- [B](b.md)\n- [X](x/b.md)\n", "x/a.md": text, "b.md": "", "x/b.md": "",
		},
		Binaries: []string{"img/logo.svg"},
	})
	if len(errors.First) > 0 {
		t.Fatal(errors)
	}

	return warnings
}

// TestLinks checks the warnings about the links of a chapter. More cases are in
// testdata/cases.yaml.
func TestLinks(t *testing.T) {
	dead := func(line int, target, path string) string {
		const message = `x/a.md line %d: fix the link to "%s", which leads nowhere, or add %s to the book`
		return fmt.Sprintf(message, line, target, path)
	}
	definitions := ""
	for i := range 1001 {
		definitions += fmt.Sprintf("[%[1]d]: %[1]d\n", i+1)
	}
	cases := map[string]struct {
		reason, text string
		want         []string
	}{
		"Served": {
			"Pages, copies and files of mdBook are served.",
			"[a](a.md) [b](../b.md) [c](../b.html#x) [d](../img/logo.svg?x) [e](/b.html) [f](%62.md) [g](../toc.js) [i](../x/a.md) [j](<>) [k](/img/logo.svg)", nil,
		},
		"Dead": {
			"Links that lead nowhere are reported with their line.", "[a](c.md)\n\n![b](../img/d.png)\n<img src='e&amp;f.png'>",
			[]string{dead(1, "c.md", "x/c.md"), dead(3, "../img/d.png", "img/d.png"), dead(4, "e&f.png", "x/e&f.png")},
		},
		"Definitions": {
			"The use of a dead definition is reported, the first definition counts, and order is that of the text.",
			"[a][x]\n[b](c.md)\n[Y]\n\n[x]: d.md\n[x]: b.md\n[y  Z]: e.md\n[y]: f.md\n",
			[]string{dead(1, "d.md", "x/d.md"), dead(2, "c.md", "x/c.md"), dead(3, "f.md", "x/f.md")},
		},
		"ManyDefinitions": {
			"Only the first 1,000 definitions are checked.", "[1001] [1000]\n\n" + definitions,
			[]string{dead(1, "1000", "x/1000")},
		},
		"ManyLinks": {
			"The work of ordinary links is not limited.", strings.Repeat("[a link](../b.md)\n", 10_000) + "[a](c.md)",
			[]string{dead(10001, "c.md", "x/c.md")},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, warnings(t, tc.text).Lines()); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLimitsOfLinks checks that dead links come in the order of the text, also if a definition
// follows its use, that all of them are counted unless they are too many for their text, and that
// a target that is longer than any path is not reported: it would be copied several times.
func TestLimitsOfLinks(t *testing.T) {
	got := warnings(t, "[a]\n\n"+strings.Repeat("[c](c.md)\n", 30)+"\n[a]\n\n[a]: a.txt\n[A]: b.md\n")
	var lines []int
	for _, p := range got.First {
		lines = append(lines, p.Line)
	}
	want := []int{1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21}
	if diff := cmp.Diff(want, lines); diff != "" || got.More != 12 {
		t.Errorf("want 12 more, got %d; lines: -want, +got:\n%s", got.More, diff)
	}
	got = warnings(t, strings.Repeat("[](c)", 40_000))
	if n := len(got.First) + got.More; n < 1000 || n > 20_000 {
		t.Errorf("want between 1000 and 20,000 warnings, got %d", n)
	}
	for size, want := range map[int]int{maxTarget: 1, maxTarget + 1: 0} {
		if got := len(warnings(t, "[b]("+strings.Repeat("b", size)+")\n").First); got != want {
			t.Errorf("a target of %d bytes: want %d warnings, got %d", size, want, got)
		}
	}
}

// TestChaptersApart checks that definitions and dead links of a chapter are not those of the
// next one, and that a file that no chapter shows can include another.
func TestChaptersApart(t *testing.T) {
	_, warnings := Check(Files{Markdowns: map[string]string{
		summaryName: "- [A](a.md)\n- [B](b.md)\n", "a.md": "[x]\n\n[x]: gone.md\n", "b.md": "[x] [y](gone.md)\n",
		"c.txt": "{{#include d.md}}", "d.md": "",
	}})
	const gone = `line 1: fix the link to "gone.md", which leads nowhere, or add gone.md to the book`
	if diff := cmp.Diff([]string{"a.md " + gone, "b.md " + gone}, warnings.Lines()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestSite checks where links of x/a.md lead: to a chapter, elsewhere or nowhere.
func TestSite(t *testing.T) {
	site := NewSite(Files{Markdowns: map[string]string{summaryName: "- [A](x/a.md)\n- [B](b.md)\n", "x/a.md": "", "b.md": "", "c.md": ""}})
	for target, want := range map[string]struct{ chapter, dead string }{
		"../b.md":       {"b.md", ""},
		"../b.html#c":   {"b.md", ""},
		"#d":            {"x/a.md", ""},
		"?d":            {"x/a.md", ""},
		"../c.md":       {"", `add c.md to SUMMARY.md: it has no page, so the link to "../c.md" leads nowhere`},
		"e.md":          {"", `fix the link to "e.md", which leads nowhere, or add x/e.md to the book`},
		"//example.com": {"", ""},
		"mailto:a@b.c":  {"", ""},
		"":              {"", ""},
	} {
		if chapter, dead := site.Chapter("x/a.md", target), site.Dead("x/a.md", target); chapter != want.chapter || dead != want.dead {
			t.Errorf("%q: want %q and %q, got %q and %q", target, want.chapter, want.dead, chapter, dead)
		}
	}
}
