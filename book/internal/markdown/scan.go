// Package markdown reads chapters: the places that refer to files, and the title. It does
// not parse them.
package markdown

import (
	"iter"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/crossplane-contrib/function-markdownview/book/internal/frontmatter"
)

// A Reference is a place in a chapter that refers to a file, or a heading.
type Reference struct {
	Kind   Kind
	Offset int    // In bytes.
	Target string // As written. For a heading, its text with its markup.
	Label  string // Of a definition or a use.
}

// A Kind is the kind of a reference.
type Kind int

// The kinds of references.
const (
	Link       Kind = iota // [text](target), or an image.
	Definition             // [label]: target
	Use                    // [label], [text][label]
	Attribute              // <a href="target">, <img src="target">
	Heading                // # target
)

const (
	maxItems       = 32   // Open lists.
	maxRun         = 32   // Backticks that can open a code span.
	maxBrackets    = 32   // Open brackets.
	maxRule        = 1024 // Bytes of a thematic break.
	maxLabel       = 1024 // Bytes of a label.
	maxParentheses = 3    // Open parentheses in a target.
)

// Scan returns the references of a chapter, in one pass. It is not a parser: it yields
// what any reading of the text agrees on, and omits what only a parser can decide. The
// rest of a paragraph is omitted if a code span may be open, and the rest of the text if a
// code block or a comment may be.
func Scan(text string) iter.Seq[Reference] {
	return func(yield func(Reference) bool) {
		if strings.Count(text, "\r") != strings.Count(text, "\r\n") {
			return // Some lines end with a carriage return alone.
		}
		s := &scanner{text: text, yield: yield, from: -1, fresh: true, lookahead: lookahead(text)}
		at := 0
		for n, _ := frontmatter.Read(text); n > 0; n-- {
			at = s.end(at) + 1
		}
		for at < len(text) && !s.done {
			at = s.line(at)
		}
		s.flush(true)
	}
}

// lookahead returns how many bytes of the text may be read in advance.
func lookahead(text string) int { return 4*len(text) + 1<<10 }

// A scanner holds the state between two lines.
type scanner struct {
	text      string
	yield     func(Reference) bool
	done      bool
	lookahead int // How many bytes may still be read in advance.

	next      int   // Where the next line begins.
	items     []int // The columns at which the contents of the open list items begin.
	brackets  []bracket
	paragraph bool // The last line is one of a paragraph.
	html      bool // The last line is one of an HTML block that ends before an empty line.
	table     bool // The last line may be a row of a table.
	unsure    bool // The last line may be within a code span.

	// The text of the current paragraph that is not scanned yet. from is -1 if there is
	// none. fresh means that nothing of the paragraph was scanned.
	from, to int
	fresh    bool
}

// indent returns the first character of a line that is not a space, and its column.
func (s *scanner) indent(at, end, column int) (int, int) {
	for ; at < end; at++ {
		switch s.text[at] {
		case ' ':
			column++
		case '\t':
			column += 4 - column%4
		case '\r':
		default:
			return at, column
		}
	}

	return at, column
}

// base returns the column at which the contents of the innermost list item begin.
func (s *scanner) base() int {
	if len(s.items) == 0 {
		return 0
	}

	return s.items[len(s.items)-1]
}

// line reads a line, and returns the start of the next one to read.
func (s *scanner) line(start int) int {
	end := s.end(start)
	s.next = end + 1
	for end > start && s.text[end-1] <= ' ' {
		end--
	}
	at, column := s.indent(start, end, 0)
	switch {
	case at == end:
		s.flush(true)
		return s.next
	case s.html && column >= s.base():
		s.to = end
		s.done = s.done || s.unsure && isFence(s.text[at:end])

		return s.next
	case s.html:
		s.flush(true) // The list item ends, and the HTML block with it.
	}
	open := len(s.items)
	for column < s.base() {
		s.items = s.items[:len(s.items)-1]
	}

	return s.block(at, end, column, len(s.items) < open)
}

// block reads a line from its first character on. left means that the line is not in the
// list item of the line before.
func (s *scanner) block(at, end, column int, left bool) int { //nolint:cyclop // The cases of the grammar belong together.
	if column-s.base() >= 4 {
		if s.paragraph {
			s.flush(false)
			s.unsure = true
		} else {
			s.flush(true) // Indented code.
		}

		return s.next
	}
	line := s.text[at:end]
	switch c := line[0]; c {
	case '#':
		if level := run(line, 0); level <= 6 && (level == len(line) || line[level] == ' ' || line[level] == '\t') {
			return s.heading(at, end, level)
		}
	case '`', '~':
		if isFence(line) {
			s.flush(true)
			return s.fence(s.next, c, run(line, 0))
		}
	case '>':
		return s.quote(at, end)
	case '<':
		if next := s.htmlBlock(at, end, line); next >= 0 {
			return next
		}
	case '=':
		if s.paragraph && run(line, 0) == len(line) {
			return s.underline(at, end)
		}
	case '-', '*', '_', '+', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if next := s.rule(line); next >= 0 {
			return next
		}
		if width := Marker(line); width > 0 {
			return s.item(at, end, column, width, left)
		}
		s.delimit(line)
	case '|', ':':
		s.delimit(line)
	}
	s.add(at, end)

	return s.next
}

// isFence returns whether a line opens a fenced code block.
func isFence(line string) bool {
	n := run(line, 0)
	return n >= 3 && (line[0] == '~' || line[0] == '`' && strings.IndexByte(line[n:], '`') < 0)
}

// delimit notes that the rows of a table may follow a line. The line above is then a row.
func (s *scanner) delimit(line string) {
	if strings.Trim(line[:min(len(line), maxRule)], "|-: \t") != "" || !strings.Contains(line, "-") {
		return
	}
	if s.from >= 0 && strings.IndexByte(s.text[s.from:s.to], '\n') >= 0 {
		s.from, s.fresh = -1, false // Not sure where the table begins.
	}
	s.flush(false)
	s.table = true
}

// add adds text to the paragraph.
func (s *scanner) add(at, end int) {
	if s.table {
		s.flush(false)
	}
	if s.from < 0 {
		s.from = at
	}
	s.to = end
	s.paragraph = true
}

// flush scans the text of the paragraph. last means that the paragraph certainly ends.
func (s *scanner) flush(last bool) {
	if s.from >= 0 && !s.unsure && !s.done && ordinary(s.text[s.from:s.to]) < s.to-s.from {
		(&inline{scanner: s, at: s.from, end: s.to, last: last}).scan()
	}
	if s.from >= 0 {
		s.fresh = false
	}
	s.from = -1
	if last {
		s.paragraph, s.html, s.table, s.unsure, s.fresh = false, false, false, false, true
	}
}

// heading reads a heading of a level.
func (s *scanner) heading(at, end, level int) int {
	s.flush(true)
	s.add(at+level, end)
	if len(s.items) == 0 {
		title := strings.TrimSpace(s.text[at+level : end])
		if bare := strings.TrimRight(title, "#"); bare == "" || strings.HasSuffix(bare, " ") || strings.HasSuffix(bare, "\t") {
			title = strings.TrimSpace(bare)
		}
		s.emit(Reference{Kind: Heading, Offset: at, Target: title})
	}
	s.flush(true)

	return s.next
}

// underline reads a line that makes a heading of the paragraph above, or is text.
func (s *scanner) underline(at, end int) int {
	if s.fresh && s.from >= 0 && len(s.items) == 0 {
		s.emit(Reference{Kind: Heading, Offset: s.from, Target: s.text[s.from:s.to]})
		s.flush(true)

		return s.next
	}
	s.flush(false)
	s.add(at, end)

	return s.next
}

// rule reads a thematic break or the underline of a heading, or returns -1.
func (s *scanner) rule(line string) int {
	if s.paragraph && line[0] == '-' && run(line, 0) == len(line) {
		if s.fresh && s.from >= 0 && len(s.items) == 0 {
			s.emit(Reference{Kind: Heading, Offset: s.from, Target: s.text[s.from:s.to]})
		}
		s.flush(true)

		return s.next
	}
	if !isRule(line) {
		return -1
	}
	s.flush(true)

	return s.next
}

// isRule returns whether a line is a thematic break.
func isRule(line string) bool {
	c := line[:1]

	return strings.IndexByte("-*_", line[0]) >= 0 && len(line) <= maxRule && strings.Count(line, c) >= 3 && strings.Trim(line, " \t"+c) == ""
}

// item reads the first line of a list item whose Marker has a width.
func (s *scanner) item(at, end, column, width int, left bool) int {
	content, to := s.indent(at+width, end, column+width)
	first := s.text[at : at+width-1]
	if s.paragraph && !left && (content == end || first != "" && first != "1") {
		// Such items cannot interrupt a paragraph, but it may have ended.
		s.flush(false)
		s.unsure = true
		s.done = s.done || strings.Contains(s.text[at:end], "```") || strings.Contains(s.text[at:end], "~~~")
		s.add(at, end)

		return s.next
	}
	s.flush(true)
	switch {
	case len(s.items) == maxItems:
		s.done = true
	case content == end:
		s.done = s.done || len(s.items) > 0 // It is not clear which item ends.
	case to-column-width > 4:
		s.items = append(s.items, column+width+1) // The line is indented code.
	default:
		s.items = append(s.items, to)
		return s.block(content, end, to, false)
	}

	return s.next
}

// fence moves past a fenced code block that was opened by n characters.
func (s *scanner) fence(at int, c byte, n int) int {
	for at < len(s.text) {
		end := s.end(at)
		from, column := s.indent(at, end, 0)
		switch {
		case from == end:
		case column < s.base():
			return at // The list item ends, and the code block with it.
		case s.text[from] == c && column-s.base() < 4 && closes(s.text[from:end], n):
			return end + 1
		}
		at = end + 1
	}

	return at
}

// closes returns whether a line that begins with a character of a fence closes a code
// block that was opened by n of them.
func closes(line string, n int) bool {
	length := run(line, 0)
	return length >= n && strings.TrimRight(line[length:], " \t\r") == ""
}

// unquote returns the start of the text behind at most most markers of quotes, and the
// number of markers.
func (s *scanner) unquote(at, end, most int) (text, depth int) {
	text = at
	for depth < most {
		from, column := s.indent(text, end, 0)
		if from == end || s.text[from] != '>' || column > 4 {
			break
		}
		depth++
		text = from + 1
	}

	return text, depth
}

// quote reads a line of a quote.
func (s *scanner) quote(at, end int) int {
	text, depth := s.unquote(at, end, end-at)
	from, column := s.indent(text, end, 0)
	switch {
	case from == end:
		s.flush(true)
		return s.next
	case column > 4:
		s.flush(false)
		s.unsure = s.unsure || s.paragraph

		return s.next
	}
	line := s.text[from:end]
	if isFence(line) {
		s.flush(true)
		return s.quotedFence(s.next, line[0], run(line, 0), depth)
	}
	s.flush(false)
	if line[0] == '<' || Marker(line) > 0 && strings.ContainsAny(line, "<`~") {
		s.done = s.done || strings.Contains(line, "```") || strings.Contains(line, "~~~") // It may open a code block.
		s.unsure = true
	}
	s.add(from, end)
	s.flush(false)

	return s.next
}

// quotedFence moves past a fenced code block in a quote.
func (s *scanner) quotedFence(at int, c byte, n, depth int) int {
	for at < len(s.text) {
		end := s.end(at)
		from, markers := s.unquote(at, end, depth)
		if markers < depth {
			return at
		}
		from, column := s.indent(from, end, 0)
		if from < end && s.text[from] == c && column <= 4 && closes(s.text[from:end], n) {
			return end + 1
		}
		at = end + 1
	}

	return at
}

// htmlBlock reads the start of an HTML block, or returns -1.
func (s *scanner) htmlBlock(at, end int, line string) int {
	switch {
	case strings.HasPrefix(line, "<!--"):
		s.flush(true)
		i := strings.Index(s.text[at+2:], "-->")
		if i < 0 {
			return len(s.text)
		}

		return s.behind(at + 2 + i)
	case strings.HasPrefix(line, "<!"), strings.HasPrefix(line, "<?"):
		s.flush(true)
		return len(s.text)
	}
	name, unsure := tagName(line[1:]), false
	switch {
	case name == "":
		return -1
	case literalTags.Has(name):
		s.flush(true)
		return s.literal(at)
	case blockTags.Has(name):
	default:
		i := &inline{scanner: s, at: at, end: end}
		stop, ok := i.tag(at, false)
		if !ok || strings.TrimSpace(s.text[stop:end]) != "" || s.paragraph && s.fresh && s.from >= 0 {
			return -1 // Such a tag cannot interrupt a paragraph.
		}
		unsure = s.paragraph
	}
	s.flush(true)
	s.add(at, end)
	s.html, s.unsure = true, unsure

	return s.next
}

// behind returns the start of the line behind an offset, at which an HTML block ends. In a
// list item, the block may have ended before if the offset is on another line.
func (s *scanner) behind(at int) int {
	next := s.end(at) + 1
	s.done = s.done || next > s.next && len(s.items) > 0

	return next
}

// literal moves past an HTML block that ends with a tag such as </script>.
func (s *scanner) literal(at int) int {
	for {
		i := strings.Index(s.text[at:], "</")
		if i < 0 {
			return len(s.text)
		}
		at += i + 2
		if at < len(s.text) && isLetter(s.text[at]) && literalTags.Has(tagName(s.text[at:min(len(s.text), at+10)])) {
			return s.behind(at)
		}
	}
}

// The names of the tags that begin an HTML block:
// https://spec.commonmark.org/0.31.2/#html-blocks
var (
	literalTags = sets.New("pre", "script", "style", "textarea")
	blockTags   = sets.New(strings.Fields(`address article aside base basefont blockquote body caption center col colgroup
		dd details dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head
		header hr html iframe legend li link main menu menuitem nav noframes ol optgroup option p param search section
		source summary table tbody td tfoot th thead title tr track ul`)...)
)

// tagName returns the name of a tag whose "<" is in front of the text, in lower case.
func tagName(text string) string {
	text = strings.TrimPrefix(text, "/")
	i := 0
	for i < len(text) && (isLetter(text[i]) || i > 0 && ('0' <= text[i] && text[i] <= '9' || text[i] == '-')) {
		i++
	}
	if i < len(text) && strings.IndexByte(" \t\r\n/>", text[i]) < 0 {
		return ""
	}

	return strings.ToLower(text[:i])
}
