package book

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLinks checks the warnings about the links of a chapter. More cases are in
// testdata/cases.yaml.
func TestLinks(t *testing.T) {
	nowhere := func(line int, target, path string) []string {
		return []string{fmt.Sprintf(`x/a.md line %d: fix the link to "%s", which leads nowhere, or add x/%s to the book`, line, target, path)}
	}
	include := func(line int, target, path string) []string {
		return []string{fmt.Sprintf(`x/a.md line %d: fix the include of "%s", or add %s to the book: the file does not exist`, line, target, path)}
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
			[]string{
				`x/a.md line 1: fix the link to "c.md", which leads nowhere, or add x/c.md to the book`,
				`x/a.md line 3: fix the link to "../img/d.png", which leads nowhere, or add img/d.png to the book`,
				`x/a.md line 4: fix the link to "e&f.png", which leads nowhere, or add x/e&f.png to the book`,
			},
		},
		"Definitions": {
			"The use of a dead definition is reported, the first definition counts, and order is that of the text.",
			"[a][x]\n[b](c.md)\n[Y]\n\n[x]: d.md\n[x]: b.md\n[y  Z]: e.md\n[y]: f.md\n",
			[]string{
				`x/a.md line 1: fix the link to "d.md", which leads nowhere, or add x/d.md to the book`,
				`x/a.md line 2: fix the link to "c.md", which leads nowhere, or add x/c.md to the book`,
				`x/a.md line 3: fix the link to "f.md", which leads nowhere, or add x/f.md to the book`,
			},
		},
		"UnusedDefinition":   {"A definition that nothing uses is no link.", "[x]: d.md\n", nil},
		"SecondDefinition":   {"The first definition counts.", "[a][x]\n\n[x]: b.md\n[x]: d.md\n", nowhere(1, "b.md", "b.md")},
		"ManyDefinitions":    {"Only the first 1,000 definitions are checked.", "[1001] [1000]\n\n" + definitions(1001), nowhere(1, "1000", "1000")},
		"ManyLinks":          {"The work of ordinary links is not limited.", strings.Repeat("[a link](../b.md)\n", 10_000) + "[a](c.md)", nowhere(10001, "c.md", "c.md")},
		"TooManyLinks":       {"Links that are too many for their text are not checked.", strings.Repeat("[](b)", 40_000), nil},
		"FrontMatter":        {"mdBook shows front matter.", "---\na: b\n---\n", []string{"x/a.md line 1: remove lines 1 to 3: mdBook shows the front matter on the page"}},
		"Included":           {"An included file needs no page.", "{{#include ../c.md}}", nil},
		"IncludedElsewhere":  {"An absolute path is not in the book.", "{{#include /b.md}}", include(1, "/b.md", "/b.md")},
		"IncludedAndMissing": {"The line is that of the name.", "a\n{{#include\nd.md}}", include(3, "d.md", "x/d.md")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			files := Files{
				Markdowns: map[string]string{summaryName: "- [A](x/a.md)\n- [B](b.md)\n", "x/a.md": tc.text, "b.md": ""},
				Binaries:  []string{"img/logo.svg"},
			}
			if strings.Contains(tc.text, "%62.md") {
				files.Markdowns["x/b.md"] = ""
				files.Markdowns[summaryName] += "- [X](x/b.md)\n"
			}
			if strings.Contains(tc.text, "c.md}}") {
				files.Markdowns["c.md"] = ""
			}
			errors, warnings := Check(files)
			if len(errors.First) > 0 {
				t.Fatal(errors)
			}
			if name == "TooManyLinks" {
				if n := len(warnings.First) + warnings.More; n < 1000 || n > 20_000 {
					t.Errorf("%s\nwant between 1000 and 20,000 warnings, got %d", tc.reason, n)
				}

				return
			}
			if diff := cmp.Diff(tc.want, warnings.Lines()); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func definitions(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "[%d]: %d\n", i+1, i+1)
	}

	return out.String()
}

// TestLimitsOfLinks checks that dead links come in the order of the text, also if a definition
// follows its use, that all of them are counted, and that a target that is longer than any
// path is not reported: it would be copied several times.
func TestLimitsOfLinks(t *testing.T) {
	check := func(text string) Problems {
		_, warnings := Check(Files{Markdowns: map[string]string{summaryName: "- [C](chapter.md)", "chapter.md": text}})
		return warnings
	}
	warnings := check("[a]\n\n" + strings.Repeat("[b](b.md)\n", 30) + "\n[a]\n\n[a]: a.md\n[A]: chapter.md\n")
	var lines []int
	for _, p := range warnings.First {
		lines = append(lines, p.Line)
	}
	want := []int{1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21}
	if diff := cmp.Diff(want, lines); diff != "" || warnings.More != 12 {
		t.Errorf("want 12 more, got %d; lines: -want, +got:\n%s", warnings.More, diff)
	}
	for size, want := range map[int]int{maxTarget: 1, maxTarget + 1: 0} {
		if got := len(check("[b](" + strings.Repeat("b", size) + ")\n").First); got != want {
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
