package summary

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/crossplane-contrib/function-markdownview/book/internal/markdown"
)

// The limits of a SUMMARY.md. goldmark takes quadratic time and memory for some unusual
// text. Within these limits, parsing costs about as much as 1 MiB of chapters. The
// largest SUMMARY.md that we know has 113 KiB in 1,150 lines, nested 6 deep.
const (
	// maxSummary is the size in bytes.
	maxSummary = 256 << 10
	// maxLines is how many lines and nested list markers there can be. A book has at most
	// a thousand files.
	maxLines = 2500
	// maxColumns is how many columns of spaces a line can begin with, also between list
	// markers.
	maxColumns = 128
	// maxOpen limits the number of lines times the depth of the deepest: goldmark visits
	// every open list and quote at each line.
	maxOpen = 20_000
	// maxMarkup is how many characters can be markup. Each can become a node.
	maxMarkup = 16_000
	// maxLookahead limits the sum, over all paragraphs and items, of their markup
	// characters times their bytes: goldmark can look for the end of each link, code span,
	// emphasis and tag up to the end of the paragraph.
	maxLookahead = 4 << 20
)

// markup are the characters at which goldmark looks for the end of something.
const markup = "[]`*_<"

var (
	blocks = parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))
	// commonMark is CommonMark without extensions, as mdBook reads SUMMARY.md.
	commonMark = parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)
)

// normalize returns text with line feeds as line ends. goldmark takes a carriage return
// for text.
func normalize(text string) []byte {
	if strings.IndexByte(text, '\r') >= 0 {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}

	return []byte(text)
}

// check returns an error if the text exceeds a limit. The error describes what to simplify. line
// is where, if that is one line.
func check(source []byte) (line int, err error) {
	if len(source) > maxSummary {
		return 0, errors.New("list the chapters only, or split the book: the file is larger than 256 KiB")
	}
	if n := countMarkup(source); n > maxMarkup {
		return 0, fmt.Errorf("list the chapters only, or split the book: the file has %d of the characters %s, more than %d", n, markup, maxMarkup)
	}
	if line, err := checkLines(source); err != nil {
		return line, err
	}

	return checkBlocks(source)
}

// parse parses CommonMark whose lines end with line feeds. check limits the time and memory.
func parse(source []byte) ast.Node { return commonMark.Parse(text.NewReader(source)) }

func countMarkup(b []byte) (n int) {
	for i := range len(markup) {
		n += bytes.Count(b, []byte(markup[i:i+1]))
	}

	return n
}

// checkLines returns an error if there are too many lines, or if they open too many lists
// and quotes.
func checkLines(source []byte) (line int, err error) {
	lines, deepest, extra := 0, 0, 0
	for text := range bytes.Lines(source) {
		lines++
		columns, markers := opening(text)
		extra += max(0, markers-1)
		if columns > maxColumns {
			return lines, fmt.Errorf("indent this line less: it begins with more than %d columns of spaces", maxColumns)
		}
		if depth := 1 + markers + columns/2; depth > deepest {
			deepest, line = depth, lines
		}
	}
	switch {
	case lines+extra > maxLines:
		return 0, fmt.Errorf("list the chapters only, or split the book: the file has %d lines and list markers behind others, more than %d", lines+extra, maxLines)
	case lines*deepest > maxOpen:
		return line, fmt.Errorf("nest the list less deeply, or split the book: it is too deep for a file of %d lines", lines)
	}

	return 0, nil
}

// opening returns how many columns of spaces, and how many markers of lists and quotes, a
// line begins with.
func opening(line []byte) (columns, markers int) {
	for i := 0; i < len(line) && columns <= maxColumns; i++ {
		switch line[i] {
		case ' ':
			columns++
		case '\t':
			columns += 4
		case '>':
			markers++
		default:
			width := markdown.Marker(string(line[i:min(i+11, len(line))]))
			if width == 0 {
				return columns, markers
			}
			markers++
			i += width - 1
		}
	}

	return columns, markers
}

// checkBlocks parses the blocks alone. It returns an error if paragraphs have so much
// markup that looking for its ends would be expensive.
func checkBlocks(source []byte) (line int, err error) {
	if countMarkup(source)*len(source) <= maxLookahead {
		return 0, nil // Whatever its paragraphs are.
	}
	lookahead, most, at := 0, 0, 0
	_ = ast.Walk(blocks.Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n.Type() != ast.TypeBlock || n.IsRaw() || n.Lines().Len() == 0 {
			return ast.WalkContinue, nil
		}
		first, last := n.Lines().At(0), n.Lines().At(n.Lines().Len()-1)
		cost := countMarkup(source[first.Start:last.Stop]) * (last.Stop - first.Start)
		if lookahead += cost; cost > most {
			most, at = cost, first.Start
		}

		return ast.WalkSkipChildren, nil
	})
	if lookahead > maxLookahead {
		return 1 + bytes.Count(source[:at], []byte("\n")),
			errors.New("write each link as a list item, or add empty lines: this paragraph has too many links, code spans or emphasis")
	}

	return 0, nil
}

// A lineIndex finds the line of an offset.
type lineIndex []int

func newLineIndex(source []byte) lineIndex {
	var ends lineIndex
	for i, c := range source {
		if c == '\n' {
			ends = append(ends, i)
		}
	}

	return ends
}

func (ends lineIndex) line(offset int) int {
	i, _ := slices.BinarySearch(ends, offset)
	return i + 1
}
