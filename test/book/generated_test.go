package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/crossplane-contrib/function-markdownview/book"
)

// number returns the value of an environment variable, or a default.
func number(t *testing.T, name, otherwise string) int {
	t.Helper()
	n, err := strconv.Atoi(cmp.Or(os.Getenv(name), otherwise))
	must(t, err)

	return n
}

// generated runs a test with BOOKS random sources, whose seeds begin at SEED.
func generated(t *testing.T, test func(t *testing.T, m mdbook, r *rand.Rand)) {
	t.Helper()
	seed := number(t, "SEED", "1")
	for version, m := range mdbooks(t) {
		for i := range number(t, "BOOKS", "200") {
			t.Run(fmt.Sprintf("%s/%d", version, seed+i), func(t *testing.T) {
				t.Parallel()
				test(t, m, rand.New(rand.NewPCG(uint64(seed+i), 0)))
			})
		}
	}
}

func pick(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }

// line returns a line of SUMMARY.md that mdBook usually accepts.
func line(r *rand.Rand, next func() string) string {
	link := func() string {
		return pick(r, "[A](", "[A](", "[*b* `c`](", "[](", "[x\\]](") + pick(r, "", "", "./", "<", "") + next() + pick(r, ")", ")", ")", ")", " \"t\")", ">)")
	}
	indent := strings.Repeat(pick(r, "  ", "  ", "\t", "   "), r.IntN(4))
	switch r.IntN(24) {
	case 0:
		return ""
	case 1:
		return pick(r, "---", "***", "===", "```", "<!-- c -->", "<div>", "> ", "- ", "#", "  ")
	case 2:
		return pick(r, "# ", "## ", "### ", "> ", "> - ", "    ") + link()
	case 3:
		return link()
	case 4:
		return pick(r, "prose", "**bold**", "[A]: a.md", "[A]", "- [A]", "- text", "see "+link(), "![i](i.png)", "<https://example.com>", "- [ ] "+link())
	case 5:
		return indent + pick(r, "* ", "+ ", "1. ", "2) ", "10. ") + link()
	case 6:
		return indent + "- [Draft]()"
	case 7:
		return indent + "- " + link() + pick(r, " tail", " "+link(), " <!-- c -->", "\n"+indent+link())
	default:
		return indent + "- " + link()
	}
}

// TestGeneratedSummary checks random SUMMARY.md files: mdBook serves no book that Check
// rejects. If Check accepts the book, mdBook has a page for each chapter.
func TestGeneratedSummary(t *testing.T) {
	t.Parallel()
	generated(t, func(t *testing.T, m mdbook, r *rand.Rand) {
		files := book.Files{Markdowns: map[string]string{}}
		var names []string
		for i := range 12 {
			name := pick(r, "", "x/", "x/y/", "第/") + pick(r, "a", "b c", "readme", "index", "ch", "print", "404") + strconv.Itoa(i) + pick(r, ".md", ".md", ".md", ".txt", "")
			// The page print.html, which mdBook adds, has all chapters. If there is
			// only one chapter, it looks like the page of that chapter.
			if r.IntN(8) == 0 && !strings.Contains(name, "print") {
				name = strings.Replace(name, strconv.Itoa(i), "", 1)
			}
			if _, ok := files.Markdowns[name]; !ok {
				names = append(names, name)
			}
			files.Markdowns[name] = text(name)
		}
		unused := slices.Clone(names)
		next := func() string {
			switch {
			case r.IntN(40) == 0:
				return pick(r, "missing.md", "/a.md", "../a.md", "https://example.com/a.md", "#x", "x", "x/", ".", "")
			case r.IntN(30) == 0:
				return pick(r, names...)
			case len(unused) == 0:
				return ""
			}
			name := unused[0]
			unused = unused[1:]
			if r.IntN(2) == 0 {
				return strings.ReplaceAll(name, " ", "%20")
			}

			return strings.ReplaceAll(name, " ", pick(r, "%20", "&#32;", " "))
		}
		lines := []string{pick(r, "# Summary\n", "# Summary\n", "# Summary\n", "", "<!-- c -->\n# S\n", "Summary\n---\n")}
		for range r.IntN(10) + 1 {
			lines = append(lines, line(r, next))
			if r.IntN(4) == 0 {
				lines = append(lines, "")
			}
		}
		files.Markdowns["SUMMARY.md"] = strings.Join(lines, pick(r, "\n", "\n", "\r\n", "\r"))
		if problems, _ := book.Check(files); strings.Contains(problems.String(), "carriage returns alone") {
			return // mdBook may serve a part of the book.
		}
		m.same(t, files)
	})
}

// TestGeneratedAuto checks that mdBook serves every generated SUMMARY.md with all
// chapters.
func TestGeneratedAuto(t *testing.T) {
	t.Parallel()
	generated(t, func(t *testing.T, m mdbook, r *rand.Rand) {
		files := book.Files{Markdowns: map[string]string{}}
		segment := func() string {
			var s strings.Builder
			for range r.IntN(4) + 1 {
				s.WriteString(pick(r, "a", "b", "B", "README", "index", "第一章", "é", " ", "-", "_", ".", "(", ")", "[", "]", "*", "`", "&amp;", "&", "<", ">", "!", "%20", "%", "#", "?", "'", "\"", ":", "~", "$", "{", "|", "1", "\u00a0", "\u2028"))
			}

			return s.String()
		}
		for range r.IntN(12) + 1 {
			var segments []string
			for range r.IntN(3) {
				segments = append(segments, pick(r, segment(), "x", "y"))
			}
			name := strings.Join(append(segments, pick(r, segment(), "README", "index")+pick(r, ".md", ".md", ".md", ".txt", ".html")), "/")
			title := segment() + pick(r, " [x](y) ", "", " *b* ", " `c` ", " \\ ") + segment()
			files.Markdowns[name] = mark(name) + "\n\n# " + title + "\n"
		}
		files.Markdowns["start.md"] = text("start.md")
		if problems, _ := book.Check(files); strings.Contains(problems.String(), "file name") || strings.Contains(problems.String(), "the folder of") {
			return
		}
		files.Markdowns["SUMMARY.md"] = book.Summary(files)
		if problems, _ := book.Check(files); len(problems.First) > 0 {
			t.Fatalf("Check rejects the generated SUMMARY.md: %v\n%s", problems, files.Markdowns["SUMMARY.md"])
		}
		m.same(t, files)
	})
}
