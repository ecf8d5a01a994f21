package book

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// goldmark takes quadratic time for some unusual texts, and recurses as deep as blocks
// are nested. These limits keep its cost linear.
const (
	// maxNesting is how many quotes and lists one line can open.
	maxNesting = 32
	// maxDefinitions is how many link reference definitions a text can have.
	maxDefinitions = 500
	// maxEmphasis is how many runs of * or _ one block can have.
	maxEmphasis = 200
	// maxLookahead is how many bytes are read to find the ends of links, for each byte
	// of the text.
	maxLookahead = 100
)

// maxSmall is the size in bytes of the largest text that is parsed in parallel with
// others.
const maxSmall = 16 << 10

var largeText sync.Mutex

// alone waits until no other large text is parsed. The caller must call done when it no
// longer uses the document of the text. A document takes up to 400 times the size of
// its text, so several large ones would exceed the memory limit of the function.
func alone(text string) (done func()) {
	if len(text) <= maxSmall {
		return func() {}
	}
	largeText.Lock()

	return largeText.Unlock
}

var markdowns = parser.NewParser(
	parser.WithBlockParsers(parser.DefaultBlockParsers()...),
	parser.WithInlineParsers(
		util.Prioritized(parser.NewCodeSpanParser(), 100),
		util.Prioritized(boundedLinks{parser.NewLinkParser()}, 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(parser.NewRawHTMLParser(), 400),
		util.Prioritized(boundedEmphasis{parser.NewEmphasisParser()}, 500),
	),
	parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
)

// parse parses CommonMark. It returns false if the text exceeds a limit: the document
// is then nil, or lacks links.
func parse(source []byte) (ast.Node, bool) {
	if isNested(source) || bytes.Count(source, []byte("]:")) > maxDefinitions {
		return nil, false
	}
	pc := parser.NewContext()
	w := &work{lookahead: maxLookahead*len(source) + 1<<16}
	pc.Set(workKey, w)

	return markdowns.Parse(text.NewReader(source), parser.WithContext(pc)), !w.exceeded
}

// isNested returns whether a line opens more quotes and lists than maxNesting.
func isNested(source []byte) bool {
	for line := range bytes.Lines(source) {
		markers := 0
		for i, c := range line {
			if strings.IndexByte(" \t>-+*0123456789.)", c) < 0 {
				break
			}
			// A list marker ends before a space.
			if c == '>' || c != ' ' && c != '\t' && i+1 < len(line) && strings.IndexByte(" \t\r\n", line[i+1]) >= 0 {
				markers++
			}
		}
		if markers > maxNesting {
			return true
		}
	}

	return false
}

// work counts the work spent on a text.
type work struct {
	lookahead int
	block     ast.Node
	emphasis  int
	exceeded  bool
}

var workKey = parser.NewContextKey()

func spent(pc parser.Context) *work {
	w, _ := pc.Get(workKey).(*work)
	return w
}

// boundedLinks stops looking for the ends of links when the lookahead is used up.
type boundedLinks struct{ parser.InlineParser }

func (p boundedLinks) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if line, at := block.PeekLine(); len(line) > 1 && line[0] == ']' && line[1] == '(' {
		w := spent(pc)
		// The title of a link can end on another line.
		if w.lookahead -= parent.Lines().At(parent.Lines().Len()-1).Stop - at.Start; w.lookahead < 0 {
			w.exceeded = true
			return nil
		}
	}

	return p.InlineParser.Parse(parent, block, pc)
}

// CloseBlock implements parser.CloseBlocker, which InlineParser does not include.
func (p boundedLinks) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if closer, ok := p.InlineParser.(parser.CloseBlocker); ok {
		closer.CloseBlock(parent, block, pc)
	}
}

// boundedEmphasis reads * and _ as text when a block has too many of them.
type boundedEmphasis struct{ parser.InlineParser }

func (p boundedEmphasis) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	w := spent(pc)
	if parent != w.block {
		w.block, w.emphasis = parent, 0
	}
	if w.emphasis++; w.emphasis > maxEmphasis {
		w.exceeded = true
		return nil
	}

	return p.InlineParser.Parse(parent, block, pc)
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

var entity = regexp.MustCompile(`^&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]*);`)

// unescape resolves backslashes and entities, which goldmark leaves to its renderer.
func unescape(raw []byte) string {
	if !bytes.ContainsAny(raw, `\&`) {
		return string(raw)
	}
	var out strings.Builder
	for i := 0; i < len(raw); i++ {
		switch {
		case raw[i] == '\\' && i+1 < len(raw) && util.IsPunct(raw[i+1]):
			i++
			out.WriteByte(raw[i])
		case raw[i] == '&':
			match := entity.Find(raw[i:min(len(raw), i+40)])
			if characters, ok := resolve(match); ok {
				out.WriteString(characters)
				i += len(match) - 1

				continue
			}
			out.WriteByte('&')
		default:
			out.WriteByte(raw[i])
		}
	}

	return out.String()
}

// resolve returns the characters of an entity such as &amp; or &#x41;.
func resolve(reference []byte) (string, bool) {
	if len(reference) == 0 {
		return "", false
	}
	name := string(reference[1 : len(reference)-1])
	if name[0] != '#' {
		found, ok := util.LookUpHTML5EntityByName(name)
		if !ok {
			return "", false
		}

		return string(found.Characters), true
	}
	digits, base := name[1:], 10
	if digits[0] == 'x' || digits[0] == 'X' {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseInt(digits, base, 32)
	if err != nil || n == 0 || !utf8.ValidRune(rune(n)) {
		n = utf8.RuneError
	}

	return string(rune(n)), true
}
