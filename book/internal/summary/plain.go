package summary

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// plain returns those events of a SUMMARY.md that Parse needs, if it has what most people
// write: headings of level 1, and items "- [Title](file.md)" without other markup. For any
// other text it returns nil. With goldmark for such a text, the first call for a book takes a
// seventh longer.
func plain(text string) []event {
	o := outline{events: make([]event, 0, 4*strings.Count(text, "\n")+8)}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSuffix(line, "\n")
		if line != "" && !o.heading(line, n) && !o.item(line, n) {
			return nil
		}
	}
	o.end(-1)

	return o.events
}

// An outline is what plain has read.
type outline struct {
	events []event
	lists  []int // The columns of the markers of the open lists.
}

// end ends the lists whose markers are in a later column, and returns whether there are any.
func (o *outline) end(column int) (ended bool) {
	for n := len(o.lists) - 1; n >= 0 && column < o.lists[n]; n-- {
		o.events = append(o.events, event{kind: end, tag: ast.KindList})
		o.lists, ended = o.lists[:n], true
	}

	return ended
}

// heading reads line n, and returns whether it is a heading without links and code.
func (o *outline) heading(line string, n int) bool {
	title, ok := strings.CutPrefix(line, "# ")
	if !ok || strings.ContainsAny(title, "[<`\\") {
		return false
	}
	o.end(-1)
	o.events = append(o.events, event{kind: start, tag: ast.KindHeading, level: 1, line: n}, event{kind: end, tag: ast.KindHeading, level: 1})

	return true
}

// item reads line n, and returns whether it is an item that it can read.
func (o *outline) item(line string, n int) bool {
	item := strings.TrimLeft(line, " ")
	target, ok := plainTarget(item)
	if !ok {
		return false
	}
	column := len(line) - len(item)
	ended := o.end(column)
	last := -2 // The text of a list begins two columns behind its markers.
	if len(o.lists) > 0 {
		last = o.lists[len(o.lists)-1]
	}
	if column != last {
		if ended || column < last+2 || column > last+5 {
			return false
		}
		o.lists = append(o.lists, column)
		o.events = append(o.events, event{kind: start, tag: ast.KindList, line: n})
	}
	o.events = append(o.events, event{kind: start, tag: ast.KindListItem, line: n},
		event{kind: start, tag: ast.KindLink, link: target, line: n}, event{kind: end, tag: ast.KindLink})

	return true
}

// plainTarget returns the target of an item that is a link without other markup.
func plainTarget(item string) (target string, ok bool) {
	item, ok = strings.CutPrefix(item, "- [")
	if !ok || !strings.HasSuffix(item, ")") {
		return "", false
	}
	title, target, ok := strings.Cut(item[:len(item)-1], "](")
	for _, c := range []byte(target) {
		ok = ok && c > ' ' && c != 0x7f && strings.IndexByte("()<>[]`\\&", c) < 0
	}

	return target, ok && !strings.ContainsAny(title, "[]<`\\")
}
