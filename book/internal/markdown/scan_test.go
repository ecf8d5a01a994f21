package markdown

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	goldmarkext "github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// found returns the targets of links, images and attributes that scan yields, and the
// headings, each with its line.
func found(markdown string) []string {
	var all []string
	names := map[Kind]string{Link: "link", Definition: "definition", Use: "use", Attribute: "attribute", Heading: "heading"}
	for r := range Scan(markdown) {
		line := string(rune('1' + strings.Count(markdown[:r.Offset], "\n")))
		all = append(all, line+" "+names[r.Kind]+" "+r.Label+r.Target)
	}

	return all
}

func TestScan(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   []string
	}{
		"Link":               {"A link is found.", "see [a](b.md) and\n![c](d.png)", []string{"1 link b.md", "2 link d.png"}},
		"Title":              {"A link can have a title.", `[a](b.md "t") [c](<d e.md> 't') [f](g.md (t))`, []string{"1 link b.md", "1 link d e.md", "1 link g.md"}},
		"Parentheses":        {"Parentheses in a target are balanced.", "[a](b(c).md)", []string{"1 link b(c).md"}},
		"EscapedTarget":      {"A parenthesis in a target can be escaped.", `[a](b\).md) [c](d\(.md)`, []string{`1 link b\).md`, `1 link d\(.md`}},
		"Rule":               {"A code span ends before a thematic break.", "`a\n***\n[b](c)`\n\n`d\n_ \t_\t_\n[e](f)`", []string{"3 link c", "7 link f"}},
		"RuleOfTwo":          {"A thematic break has three characters.", "`a\n**\n[b](c)`", nil},
		"RuleOfPluses":       {"A thematic break has no plus signs.", "`a\n+++\n[b](c)`", nil},
		"Escaped":            {"An escaped bracket is text.", `\[a](b) [c\](d) \\[e](f)`, []string{"1 link f"}},
		"Space":              {"A target with a space is no link.", "[a](b c.md)", []string{"1 use a"}},
		"NoBracket":          {"A target needs a bracket.", "a](b.md)", nil},
		"Image":              {"An image can be in a link.", "[![a](b.png)](c.md)", []string{"1 link b.png", "1 link c.md"}},
		"Nested":             {"A link cannot be in a link.", "[a [b](c.md)](d.md)", []string{"1 link c.md"}},
		"TwoLines":           {"The text of a link can have two lines.", "[a\nb](c.md)", []string{"1 link c.md"}},
		"CodeSpan":           {"A code span has no links.", "`[a](b)` ``[c](`d)`` [e](f)", []string{"1 link f"}},
		"CodeSpanTwoLines":   {"A code span can have two lines.", "`[a](b)\n[c](d)` [e](f)", []string{"2 link f"}},
		"CodeSpanOpen":       {"Backticks that nothing closes are text.", "``[a](b)\n\n`[c](d)", []string{"1 link b", "3 link d"}},
		"CodeSpanEscaped":    {"An escaped backtick opens nothing.", "\\`[a](b)`", []string{"1 link b"}},
		"CodeSpanUnsure":     {"A code span does not end in another item, but a scanner of lines cannot be sure.", "a `b\n2. [a](b)` [c](d)", nil},
		"CodeSpanCells":      {"A code span does not end in another cell.", "|a|b|\n|-|-|\n| ` | `[a](b)` |\n| [c](d) |", []string{"4 link d"}},
		"Fence":              {"A code block has no links.", "```sh\n[a](b)\n\n    ```\n~~~\n``\n```\n[c](d)", []string{"8 link d"}},
		"FenceOpen":          {"A code block without an end has no links.", "~~~\n[a](b)\n", nil},
		"FenceInfo":          {"Backticks on the line of a fence make it a code span.", "``` `a\n[b](c) ```", nil},
		"FenceInList":        {"A code block can be in a list item.", "- a\n\n  ```\n  [a](b)\n  ```\n  [c](d)", []string{"6 link d"}},
		"FenceEndsWithItem":  {"A code block ends with its list item.", "- ```\n  [a](b)\n\n[c](d)", []string{"4 link d"}},
		"FenceInQuote":       {"A code block can be in a quote.", "> ```\n> [a](b)\n> ```\n> [c](d)", []string{"4 link d"}},
		"FenceEndsWithQuote": {"A code block ends with its quote.", "> ```\n> [a](b)\n[c](d)", []string{"3 link d"}},
		"Indented":           {"Indented code has no links.", "a\n\n    [a](b)\n\n\t[c](d)\n\n[e](f)", []string{"7 link f"}},
		"IndentedInList":     {"Text of a list item is indented.", "- a\n\n  [b](c)\n\n10. a\n\n    [d](e)\n    - [f](g)", []string{"3 link c", "7 link e", "8 link g"}},
		"IndentedCodeInList": {"Code in a list item is indented further.", "- a\n\n      [b](c)\n-     [d](e)", nil},
		"EmptyItem":          {"An item that begins with an empty line ends.", "-\n\n     [a](b)", nil},
		"NumberInParagraph":  {"Only an item with the number 1 interrupts a paragraph.", "a\n2. b\n\n      [a](b)", nil},
		"Continuation":       {"A line that continues a paragraph can be indented, but a scanner of lines is not sure.", "a\n      [a](b)", nil},
		"Heading":            {"Headings are found.", "# A [b](c) #\n## B\nC\nD\n===\nE\n---\n#f", []string{"1 heading A [b](c)", "1 link c", "2 heading B", "3 heading C\nD", "6 heading E"}},
		"HeadingInItem":      {"The heading of an item is not one of the chapter.", "- # A\n> # B", nil},
		"Comment":            {"A comment has no links.", "<!-- [a](b)\n\n[c](d) --> [e](f)\n[g](h) <!-- [i](j) --> [k](l)", []string{"4 link h", "4 link l"}},
		"CommentOpen":        {"Nothing is sure behind a comment that does not end.", "[a](b) <!-- [c](d)\n\n[e](f)", []string{"1 link b"}},
		"HTMLBlock":          {"An HTML block has no links of Markdown up to an empty line.", "<div>\n[a](b) <a href=\"c\">\n```\n\n[d](e)", []string{"2 attribute c", "5 link e"}},
		"HTMLTag":            {"Tags can be in text.", `a <img src="b" alt='c'> <a class=d href='e'>[f](g)</a>`, []string{"1 attribute b", "1 attribute e", "1 link g"}},
		"HTMLTagOfLines":     {"A tag can have several lines.", "<img\n  src=\"a\"\n  alt=\"b\">", []string{"2 attribute a"}},
		"HTMLTagOpen":        {"A tag that does not end is text.", "<img src=\"a\" [b](c)", []string{"1 link c"}},
		"HTMLTagInCode":      {"Tags in code are text.", "`<img src=\"a\">`\n\n    <img src=\"b\">", nil},
		"Script":             {"A script is no HTML.", "<script>\n\n\"<a href='b'>\"\n</script>\n[c](d)", []string{"5 link d"}},
		"Pre":                {"Nothing in preformatted text is a link of Markdown.", "<pre>\n\n[a](b)\n\n</pre>\n[c](d)", []string{"6 link d"}},
		"URL":                {"A URL in angle brackets is not part of a link.", "<https://e.com/[a](b)> [c](d)", []string{"1 link d"}},
		"Definition":         {"Definitions and their uses are found.", "[a]: b.md\n[c]: d.md \"t\"\n\n[x][a] [c] [e][]", []string{"1 definition ab.md", "2 definition cd.md", "4 use a", "4 use c", "4 use e"}},
		"DefinitionInText":   {"A definition cannot interrupt a paragraph.", "a\n[b]: c.md", []string{"2 use b"}},
		"Footnote":           {"The definition of a footnote has text.", "[^a]: [b](c)", []string{"1 use ^a", "1 link c"}},
		"Quote":              {"A quote has links.", "> [a](b)\n> > [c](d)\n>\n>     [e](f)", []string{"1 link b", "2 link d"}},
		"Table":              {"A table has links.", "|a|\n|-|\n|[b](c)|", []string{"3 link c"}},
		"CarriageReturn":     {"Line ends of Windows are line ends.", "# A\r\n\r\n[b](c)\r\n```\r\n[d](e)\r\n```\r\n", []string{"1 heading A", "3 link c"}},
		"CarriageReturns":    {"Nothing is sure if lines end with a carriage return alone.", "[a](b)\r[c](d)", nil},
		"FrontMatter":        {"Front matter is skipped.", "---\ntitle: A\n---\n[b](c)", []string{"4 link c"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, found(tc.text)); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// parsed returns the targets of all links, images and attributes that a parser finds.
func parsed(markdown string) []string {
	source := []byte(markdown)
	var all []string
	root := goldmark.New(goldmark.WithExtensions(goldmarkext.Table, goldmarkext.Strikethrough, goldmarkext.Footnote)).Parser().Parse(text.NewReader(source))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Link:
			all = append(all, string(n.Destination))
		case *ast.Image:
			all = append(all, string(n.Destination))
		case *ast.RawHTML:
			all = append(all, "<"+string(n.Segments.Value(source)))
		case *ast.HTMLBlock:
			all = append(all, "<"+string(n.Lines().Value(source)))
			if n.HasClosure() {
				all = append(all, "<"+string(n.ClosureLine.Value(source)))
			}
		}

		return ast.WalkContinue, nil
	})

	return all
}

// tokens are the parts of the texts of FuzzScan.
var tokens = []string{
	"\n", "\n", "\n", "\n\n", "\n\n", " ", "  ", "    ", "\t", "- ", "- ", "* ", "1. ", "2. ", "> ", "> ", "`", "`", "``", "```", "\n```\n", "\n~~~\n",
	"[a](b)", "[a](b)", "[a](b)", "[a](b)", "![c](d)", "[", "]", "](e)", "(f)", "<g> 'h')", "<!--", "-->", "<!-- i -->", "<div>", "\n<div>\n", "<b>", "</b>", "\n<b>\n",
	"<img src=\"j\">", "<a href='k'", ">", "|", "\n|-|-|\n", "l ", "m", "# ", "\n===\n", "\n---\n", "---", "\\", "*", "<pre>", "</pre>", "[n]: o", "\"", "'", "<https://p>", "\n\n      ",
}

// falseAlarms returns the links that scan finds in a text of some tokens, and a parser does
// not.
func falseAlarms(numbers []byte) (markdown string, alarms []Reference) {
	var out strings.Builder
	for i, n := range numbers[:min(len(numbers), 100)] {
		// Each link has a target of its own.
		out.WriteString(strings.NewReplacer("(b)", fmt.Sprintf("(b%d)", i), "(d)", fmt.Sprintf("(d%d)", i), "\"j\"", fmt.Sprintf("\"j%d\"", i)).Replace(tokens[int(n)%len(tokens)]))
	}
	markdown = out.String()
	targets := parsed(markdown)
	for r := range Scan(markdown) {
		if r.Kind != Link && r.Kind != Attribute {
			continue
		}
		if !slices.ContainsFunc(targets, func(target string) bool {
			return target == r.Target && r.Kind == Link || r.Kind == Attribute && strings.HasPrefix(target, "<") && strings.Contains(target, r.Target)
		}) {
			alarms = append(alarms, r)
		}
	}

	return markdown, alarms
}

// TestNoFalseAlarms checks random texts: a parser finds every link that scan finds.
func TestNoFalseAlarms(t *testing.T) {
	links := 0
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 0))
		numbers := make([]byte, 5+r.IntN(30))
		for i := range numbers {
			numbers[i] = byte(r.IntN(len(tokens)))
		}
		markdown, alarms := falseAlarms(numbers)
		if len(alarms) > 0 {
			t.Errorf("a parser does not find %v in\n%s", alarms, markdown)
		}
		for range Scan(markdown) {
			links++
		}
	}
	if links < 20_000 {
		t.Errorf("%d links found, so this test shows little", links)
	}
}

// FuzzScan does the same with texts that a fuzzer generates.
func FuzzScan(f *testing.F) {
	for n := range byte(len(tokens)) {
		f.Add([]byte{n, 0, 22, n, 3, 23, n, 24, n, 25})
	}
	f.Fuzz(func(t *testing.T, numbers []byte) {
		if markdown, alarms := falseAlarms(numbers); len(alarms) > 0 {
			t.Errorf("a parser does not find %v in\n%s", alarms, markdown)
		}
	})
}
