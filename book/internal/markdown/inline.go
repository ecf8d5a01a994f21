package markdown

import "strings"

// space are the characters that separate the parts of a tag.
const space = " \t\r\n"

// An inline scans the text of a paragraph, or a part of it.
type inline struct {
	*scanner

	at, end int
	last    bool         // The paragraph certainly ends where the text ends.
	runs    *[maxRun]int // Where the last run of backticks of each length begins, if known.
	defines int          // Where a definition can begin.
}

// A bracket is an opening bracket.
type bracket struct {
	at      int
	image   bool
	nesting bool // A link follows it, so it does not begin one.
}

// special are the characters with a meaning.
const special = "<`[]"

// isSpecial has special as a table.
var isSpecial = [256]bool{'<': true, '`': true, '[': true, ']': true}

// isSpecialInTarget are those with a meaning in the target of a link.
var isSpecialInTarget = [256]bool{'(': true, ')': true, '\\': true}

// near is how many bytes are read one by one before a faster search begins, which takes
// longer to begin.
const near = 24

func (s *scanner) emit(r Reference) {
	if !s.done && !s.yield(r) {
		s.done = true
	}
}

// end returns the end of the line, without its line feed.
func (s *scanner) end(at int) int {
	if i := strings.IndexByte(s.text[at:], '\n'); i >= 0 {
		return at + i
	}

	return len(s.text)
}

// scan yields the references of the text.
func (i *inline) scan() {
	i.brackets, i.defines = i.brackets[:0], -1
	if i.fresh {
		i.defines = i.at
	}
	var next [len(special)]int
	for !i.done {
		first := i.at + ordinary(i.text[i.at:i.end])
		if first == i.at+near {
			first = i.end
			for k := range next {
				if next[k] < i.at || next[k] == 0 {
					next[k] = i.find(i.at, special[k])
				}
				first = min(first, next[k])
			}
		}
		switch {
		case first >= i.end:
			return
		case i.html && i.text[first] != '<', i.escaped(first): // In HTML, only tags have a meaning.
			i.at = first + 1
		default:
			i.at = i.read(first, i.text[first])
		}
	}
}

// ordinary returns how many of the first characters of text are not special.
func ordinary(text string) int {
	n := 0
	for n < min(len(text), near) && !isSpecial[text[n]] {
		n++
	}

	return n
}

// find returns the offset of the next character, or the end.
func (i *inline) find(at int, c byte) int {
	if at >= i.end {
		return i.end
	}
	if n := strings.IndexByte(i.text[at:i.end], c); n >= 0 {
		return at + n
	}

	return i.end
}

// escaped returns whether an odd number of backslashes precedes a character.
func (i *inline) escaped(at int) bool {
	n := at
	for n > i.at && i.text[n-1] == '\\' {
		n--
	}

	return (at-n)%2 == 1
}

// read reads what begins with a character, and returns its end.
func (i *inline) read(at int, c byte) int {
	switch c {
	case '`':
		return i.code(at)
	case '<':
		return i.angle(at)
	case '[':
		if len(i.brackets) == maxBrackets {
			return i.end
		}
		image := at > i.at && i.text[at-1] == '!' && !i.escaped(at-1)
		i.brackets = append(i.brackets, bracket{at: at, image: image})

		return at + 1
	default:
		return i.bracket(at)
	}
}

// code moves past a code span, or past backticks that do not open one.
func (i *inline) code(at int) int {
	n := run(i.text[:i.end], at)
	if n >= maxRun {
		i.unsure = true
		return i.end
	}
	if i.runs == nil || i.runs[n] > at {
		for from := at + n; ; {
			from = i.find(from, '`')
			if from == i.end {
				break
			}
			length := run(i.text[:i.end], from)
			if length == n && strings.IndexByte(i.text[at:from], '|') >= 0 {
				return min(i.end, i.scanner.end(from)) // The pipe may end a cell of a table.
			} else if length == n {
				return from + n
			}
			from += length
		}
	}
	if !i.last {
		i.unsure = true // The span may end in the next part of the paragraph.
		return i.end
	}
	if i.runs == nil {
		i.runs = &[maxRun]int{}
		for from := i.find(at, '`'); from < i.end; {
			length := run(i.text[:i.end], from)
			if length < maxRun {
				i.runs[length] = from
			}
			from = i.find(from+length, '`')
		}
	}

	return at + n
}

// angle moves past a comment, a tag or a URL in angle brackets.
func (i *inline) angle(at int) int {
	at += run(i.text[:i.end], at) - 1
	if strings.HasPrefix(i.text[at:i.end], "<!--") {
		stop := strings.Index(i.text[at+2:i.end], "-->")
		if stop < 0 {
			i.done = true // Some readers take what follows for a comment.
			return i.end
		}

		return at + 2 + stop + 3
	}
	if stop, ok := i.tag(at, true); ok {
		return stop
	}
	for stop := at + 1; stop < i.end && i.text[stop] > ' ' && i.text[stop] != '<'; stop++ {
		if i.text[stop] == '>' && HasScheme(i.text[at+1:stop]) {
			return stop + 1
		}
	}

	return at + 1
}

// spend returns whether so many bytes may be read in advance.
func (i *inline) spend(n int) bool {
	if i.lookahead -= n; i.lookahead < 0 {
		i.done = true
	}

	return !i.done
}

// tag returns the end of a tag, and emits its links if emit is true. The rules are
// those of https://spec.commonmark.org/0.31.2/#raw-html.
func (i *inline) tag(at int, emit bool) (int, bool) { //nolint:cyclop // The cases of the grammar belong together.
	text := i.text[:i.end]
	p := at + 1
	if strings.HasPrefix(text[p:], "/") {
		p++
	}
	if p == i.end || !isLetter(text[p]) {
		return 0, false
	}
	for p < i.end && (isLetter(text[p]) || isDigit(text[p]) || text[p] == '-') {
		p++
	}
	var found [4]Reference // More are not emitted.
	for n := 0; ; {
		from := p
		p = skip(text, p, space)
		if p == i.end || text[p] == '<' || !i.spend(p-from+1) {
			return 0, false
		}
		if text[p] == '>' || strings.HasPrefix(text[p:], "/>") {
			for _, r := range found[:n] {
				i.emit(r)
			}

			return p + strings.IndexByte(text[p:], '>') + 1, true
		}
		if p == from {
			return 0, false
		}
		r, stop, ok := i.attribute(p)
		if !ok {
			return 0, false
		}
		if p = stop; emit && r.Target != "" && n < len(found) {
			found[n] = r
			n++
		}
	}
}

// attribute returns the link of an attribute, if it is one, and the end of the attribute.
func (i *inline) attribute(at int) (r Reference, end int, ok bool) {
	text := i.text[:i.end]
	end = at
	for end < i.end && (isLetter(text[end]) || text[end] == '_' || text[end] == ':' || end > at && (isDigit(text[end]) || text[end] == '.' || text[end] == '-')) {
		end++
	}
	name := text[at:end]
	value := skip(text, end, space)
	if name == "" || value == i.end || text[value] != '=' {
		return Reference{}, end, name != ""
	}
	value = skip(text, value+1, space)
	target, end, ok := i.value(value)
	if !strings.EqualFold(name, "src") && !strings.EqualFold(name, "href") {
		target = ""
	}

	return Reference{Kind: Attribute, Offset: value + 1, Target: target}, end, ok
}

// value returns the quoted value of an attribute, and the end of any value.
func (i *inline) value(at int) (target string, end int, ok bool) {
	if at == i.end {
		return "", 0, false
	}
	if c := i.text[at]; c == '"' || c == '\'' {
		end = i.find(at+1, c)
		if !i.spend(end-at) || end == i.end {
			return "", 0, false
		}

		return i.text[at+1 : end], end + 1, true
	}
	for end = at; end < i.end && strings.IndexByte(" \t\r\n\"'=<>`", i.text[end]) < 0; end++ {
		continue
	}

	return "", end, end > at && i.spend(end-at)
}

// bracket reads what ends with a closing bracket: a link, an image, a definition, or the
// use of one.
func (i *inline) bracket(at int) int { //nolint:cyclop // The cases of the grammar belong together.
	if len(i.brackets) == 0 {
		return at + run(i.text[:i.end], at)
	}
	b := i.brackets[len(i.brackets)-1]
	i.brackets = i.brackets[:len(i.brackets)-1]
	text := i.text[:i.end]
	following := byte(0)
	if at+1 < i.end {
		following = text[at+1]
	}
	label := text[b.at+1 : at]
	switch {
	case b.nesting:
		return at + 1
	case following == '(':
		target, end, ok := i.destination(at + 2)
		if ok {
			i.emit(Reference{Kind: Link, Offset: b.at, Target: target})
		}
		if ok || end < 0 {
			i.nest(b)
		}
		if ok {
			return end
		}
	case following == ':' && b.at == i.defines:
		if end := i.define(at+2, b.at, label); end > 0 {
			return end
		}
	case following == '[':
		if end := i.find(at+2, ']'); end < i.end && end > at+2 && end-at < maxLabel {
			if end+1 < i.end && text[end+1] == '(' {
				return at + 1 // That may be a link of its own.
			}
			i.emit(Reference{Kind: Use, Offset: b.at, Label: text[at+2 : end]})
			i.nest(b)

			return end + 1
		}
	}
	if label != "" && len(label) < maxLabel {
		i.emit(Reference{Kind: Use, Offset: b.at, Label: label})
		i.nest(b)
	}

	return at + 1
}

// nest notes that the brackets around what may be a link do not certainly begin another one.
func (i *inline) nest(b bracket) {
	for k := range i.brackets {
		i.brackets[k].nesting = i.brackets[k].nesting || !b.image && !i.brackets[k].image
	}
}

// define yields a definition whose target begins at an offset, and returns the end of its
// line. It returns 0 if it is not sure that there is one.
func (i *inline) define(at, bracket int, label string) int {
	i.defines = -1
	end := min(i.end, i.scanner.end(at))
	if !i.spend(end - at) {
		return 0
	}
	for end > at && i.text[end-1] <= ' ' {
		end--
	}
	line := strings.TrimLeft(i.text[at:end], " \t\r")
	target, title := line, ""
	if stop := strings.IndexAny(line, " \t"); stop >= 0 {
		target, title = line[:stop], strings.TrimLeft(line[stop:], " \t")
	}
	switch {
	case strings.HasPrefix(label, "^"), target == "", strings.HasPrefix(target, "<"):
		return 0
	case title != "" && (len(title) < 2 || strings.IndexByte(`"'(`, title[0]) < 0 || strings.IndexByte(`"')`, title[len(title)-1]) < 0):
		return 0
	}
	i.emit(Reference{Kind: Definition, Offset: bracket, Target: target, Label: label})
	i.defines = skip(i.text[:i.end], end, space)

	return end
}

// destination returns the target of a link, and the end of the link. It must be on one
// line: the end is -1 if it may be on another.
func (i *inline) destination(at int) (target string, end int, ok bool) { //nolint:cyclop // The cases of the grammar belong together.
	text := i.text[:i.end]
	at = skip(text, at, " \t")
	if strings.HasPrefix(text[at:], "<") {
		at++
		end = at
		for end < i.end && text[end] != '<' && text[end] != '>' && text[end] != '\n' {
			end += width(text, end)
		}
		if end >= i.end || text[end] != '>' || !i.spend(end-at) {
			return "", 0, false
		}

		return i.close(text[at:end], end+1)
	}
	end = at
	for end < i.end && text[end] > ' ' && !isSpecialInTarget[text[end]] {
		end++
	}
	depth := 0
	for ; end < i.end && text[end] > ' ' && (text[end] != ')' || depth > 0); end += width(text, end) {
		switch text[end] {
		case '(':
			if depth++; depth > maxParentheses || text[end-1] == ']' {
				return "", 0, false // Such a target is not worth reading twice.
			}
		case ')':
			depth--
		}
	}
	if end > i.end || depth > 0 || !i.spend(end-at) {
		return "", 0, false
	}

	return i.close(text[at:end], end)
}

// width returns 2 if a character is a backslash that escapes the next one, or 1.
func width(text string, at int) int {
	if text[at] == '\\' && at+1 < len(text) && text[at+1] > ' ' {
		return 2
	}

	return 1
}

// close returns the end of a link behind its target, which a title can follow.
func (i *inline) close(target string, at int) (string, int, bool) { //nolint:cyclop // The cases of the grammar belong together.
	text := i.text[:i.end]
	from := at
	if at = skip(text, at, " \t\r"); at < i.end && at > from && strings.IndexByte(`"'(`, text[at]) >= 0 {
		closer := text[at]
		if closer == '(' {
			closer = ')'
		}
		for at++; at < i.end && text[at] != closer && text[at] != '\n'; {
			at += width(text, at)
		}
		if !i.spend(at - from) {
			return "", 0, false
		}
		if at < i.end && text[at] == closer {
			at = skip(text, at+1, " \t\r")
		}
	}
	switch {
	case at < i.end && text[at] == ')':
		return target, at + 1, true
	case at < i.end && text[at] == '\n':
		return "", -1, false
	default:
		return "", 0, false
	}
}

func skip(text string, at int, characters string) int {
	for at < len(text) && text[at] <= ' ' && strings.IndexByte(characters, text[at]) >= 0 {
		at++
	}

	return at
}
