package summary

import (
	"bytes"
	"fmt"
	"regexp"

	"github.com/yuin/goldmark/ast"

	"github.com/crossplane-contrib/function-markdownview/book/internal/frontmatter"
	"github.com/crossplane-contrib/function-markdownview/book/internal/markdown"
	"github.com/crossplane-contrib/function-markdownview/book/internal/problem"
)

// An event is an event of pulldown-cmark, the parser of mdBook. mdBook reads SUMMARY.md
// as a sequence of events.
type event struct {
	kind  eventKind
	tag   ast.NodeKind // For start and end.
	level int          // For a heading or emphasis.
	link  string       // The target of a link.
	line  int
}

type eventKind int

const (
	none eventKind = iota
	start
	end
	html
	other
)

func (e event) starts(tag ast.NodeKind) bool { return e.kind == start && e.tag == tag }

// events returns the events of a document. It distinguishes only those that
// Parse needs.
func events(source []byte, root ast.Node) []event {
	lines := newLineIndex(source)
	nodes := 0
	_ = ast.Walk(root, func(ast.Node, bool) (ast.WalkStatus, error) {
		nodes++
		return ast.WalkContinue, nil
	})
	list := make([]event, 0, nodes)
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		e := newEvent(n, source)
		switch {
		case e.kind == start && !entering:
			list = append(list, event{kind: end, tag: e.tag, level: e.level})
		case e.kind != none && entering:
			e.line = lines.line(max(n.Pos(), 0))
			list = append(list, e)
		}

		return ast.WalkContinue, nil
	})

	return list
}

// newEvent returns the event with which a node starts.
func newEvent(n ast.Node, source []byte) event {
	e := event{kind: start, tag: n.Kind()}
	switch n := n.(type) {
	case *ast.Document, *ast.TextBlock, *ast.LinkReferenceDefinition:
		e.kind = none
	case *ast.Paragraph, *ast.Blockquote, *ast.List, *ast.ListItem, *ast.Image, *ast.CodeBlock, *ast.FencedCodeBlock:
	case *ast.Heading:
		e.level = n.Level
	case *ast.Emphasis:
		e.level = n.Level
	case *ast.Link:
		e.link = markdown.Unescape(string(n.Destination))
	case *ast.AutoLink:
		e.tag, e.link = ast.KindLink, string(n.Label(source))
	case *ast.HTMLBlock:
		e.kind = html
	default:
		e.kind = other
	}

	return e
}

// ignored returns the text of a SUMMARY.md that mdBook ignores although its author
// probably intended it as a chapter or a heading: links in indented code, and headings of
// a level other than 1.
func ignored(source []byte, list []event) (code, headings []problem.Problem) {
	if n, _ := frontmatter.Read(string(source[:min(len(source), frontmatter.Max)])); n > 0 {
		headings = append(headings, problem.Problem{
			File: Name, Line: 1,
			Message: fmt.Sprintf("remove lines 1 to %d: mdBook does not support front matter", n),
		})
		for len(list) > 0 && list[0].line <= n {
			list = list[1:]
		}
	}
	for i, e := range list {
		switch {
		case e.starts(ast.KindCodeBlock):
			text := lineOf(source, e.line)
			content := bytes.TrimLeft(text, " \t")
			columns, _ := opening(text[:len(text)-len(content)])
			if bytes.Contains(content, []byte("](")) && columns >= 4 {
				code = append(code, problem.Problem{
					File: Name, Line: e.line,
					Message: fmt.Sprintf("indent this line by at most 3 spaces: with %d, it is code and not a list", columns),
				})
			}
		case e.starts(ast.KindHeading) && e.level > 1 && !list[min(i+1, len(list)-1)].starts(ast.KindLink):
			headings = append(headings, problem.Problem{
				File: Name, Line: e.line,
				Message: fmt.Sprintf("write a part as \"# Part\", or remove it: mdBook ignores headings of level %d", e.level),
			})
		}
	}

	return code, headings
}

// lineOf returns a line of text, counted from 1.
func lineOf(source []byte, n int) []byte {
	for line := range bytes.Lines(source) {
		if n--; n == 0 {
			return bytes.TrimRight(line, "\n")
		}
	}

	return nil
}

// maxTarget is how many bytes of a line are searched for a link.
const maxTarget = 1024

var linkWithSpace = regexp.MustCompile(`\]\(([^()<>"']* [^()<>"']*)\)`)

// spaced returns the target of the first link in a line that is none because the target
// contains a space.
func spaced(source []byte, line int) string {
	text := lineOf(source, line)
	m := linkWithSpace.FindSubmatch(text[:min(len(text), maxTarget)])
	if m == nil {
		return ""
	}

	return string(bytes.TrimSpace(m[1]))
}
