// Package summary reads a SUMMARY.md as mdBook does.
package summary

import (
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/crossplane-contrib/function-markdownview/book/internal/problem"
)

// Name is the name of the file that lists the chapters.
const Name = "SUMMARY.md"

// A Chapter is a chapter of SUMMARY.md, or a link in it that is not a chapter.
type Chapter struct {
	// Target is the link as mdBook reads it. It is empty for a draft chapter.
	Target string
	// Name is the name of the file: the target without "." and "//".
	Name string
	Line int
}

// A Summary is what mdBook reads from a SUMMARY.md.
type Summary struct {
	Chapters []Chapter         // Including drafts.
	Lost     []Chapter         // Links that are not chapters.
	Code     []problem.Problem // Links in indented code.
	Ignored  []problem.Problem // Other text that mdBook ignores.
	Problem  problem.Problem
}

// An item is a chapter in a list of SUMMARY.md, with the items of its nested list.
type item struct {
	Chapter

	children []*item
}

// Parse follows
// https://github.com/rust-lang/mdBook/blob/v0.5.4/crates/mdbook-summary/src/lib.rs
// function by function, including its quirks.
func Parse(text string) Summary {
	source := normalize(text)
	if line, err := check(source); err != nil {
		return Summary{Problem: problem.Problem{File: Name, Line: line, Message: err.Error()}}
	}
	list := plain(string(source))
	if list == nil {
		list = events(source, parse(source))
	}

	return read(source, text, list)
}

// read reads the events of a text. source is the normalized text.
func read(source []byte, text string, list []event) Summary {
	p := &summaryParser{events: list}
	if strings.Count(text, "\r") != strings.Count(text, "\r\n") {
		p.rejectBlocks()
	}
	p.title()
	items := p.affix(true)
	items = append(items, p.parts()...)
	items = append(items, p.affix(false)...)
	if p.problem.Message != "" {
		if target := spaced(source, p.problem.Line); target != "" {
			p.problem.Message = "write \"<" + problem.Display(target) + ">\" or \"" + problem.Display(strings.ReplaceAll(target, " ", "%20")) + "\": " +
				"mdBook does not read a link that contains a space"
		}

		return Summary{Problem: p.problem}
	}

	result := Summary{Lost: p.lost, Chapters: make([]Chapter, 0, p.links)}
	var flatten func([]*item)
	flatten = func(items []*item) {
		for _, i := range items {
			result.Chapters = append(result.Chapters, i.Chapter)
			flatten(i.children)
		}
	}
	flatten(items)
	result.Code, result.Ignored = ignored(source, p.events)

	return result
}

type summaryParser struct {
	events  []event
	next    int
	links   int // How many chapters were read.
	lost    []Chapter
	problem problem.Problem
}

// more returns the next event. Callers go back with p.next--.
func (p *summaryParser) more() (event, bool) {
	if p.problem.Message != "" || p.next >= len(p.events) {
		return event{}, false
	}
	p.next++

	return p.events[p.next-1], true
}

func (p *summaryParser) fail(line int, message string) {
	p.problem = problem.Problem{File: Name, Line: line, Message: message}
}

func (e event) startsH1() bool { return e.starts(ast.KindHeading) && e.level == 1 }

// skip moves past the first event that ends what e started. Like mdBook, it does not
// count nested starts.
func (p *summaryParser) skip(e event) {
	for {
		n, ok := p.more()
		if !ok || n.kind == end && n.tag == e.tag && n.level == e.level {
			return
		}
		p.ignore(n)
	}
}

// ignore records a link that mdBook ignores.
func (p *summaryParser) ignore(e event) {
	if e.starts(ast.KindLink) && e.link != "" {
		p.lost = append(p.lost, e.chapter())
	}
}

// rejectBlocks fails if the file has code or HTML, and lines that end with a carriage return alone:
// mdBook then takes what follows up to a line feed for a part of that.
func (p *summaryParser) rejectBlocks() {
	for _, e := range p.events {
		if e.kind == html || e.starts(ast.KindCodeBlock) || e.starts(ast.KindFencedCodeBlock) {
			p.fail(e.line, "end the lines of the file with line feeds, not with carriage returns alone: mdBook does not see where this code or HTML ends")
			return
		}
	}
}

func (p *summaryParser) lose(items []*item) {
	for _, i := range items {
		if i.Target != "" {
			p.lost = append(p.lost, i.Chapter)
		}
		p.lose(i.children)
	}
}

func (p *summaryParser) title() {
	for {
		e, ok := p.more()
		switch {
		case !ok:
			return
		case e.startsH1():
			p.skip(e)
			return
		case e.kind != html:
			p.next--
			return
		}
	}
}

// affix reads the prefix or suffix chapters: those before or after the numbered ones.
func (p *summaryParser) affix(prefix bool) (items []*item) {
	for {
		e, ok := p.more()
		switch {
		case !ok:
			return items
		case (e.starts(ast.KindList) || e.startsH1()) && prefix:
			p.next--
			return items
		case e.starts(ast.KindList) || e.startsH1():
			p.fail(e.line, "remove the paragraph above this list or heading, or write it as a heading such as \"# Part\": "+
				"it ends the list of chapters")

			return nil
		case e.starts(ast.KindLink):
			items = append(items, p.link(e))
		}
	}
}

func (p *summaryParser) link(e event) *item {
	p.skip(e)
	p.links++

	return &item{Chapter: e.chapter()}
}

// chapter returns the chapter that a link leads to. mdBook decodes only %20.
func (e event) chapter() Chapter {
	target := strings.ReplaceAll(e.link, "%20", " ")
	return Chapter{Target: target, Name: Clean(target), Line: e.line}
}

// parts reads the numbered chapters, with or without headings.
func (p *summaryParser) parts() (items []*item) {
	for {
		e, ok := p.more()
		switch {
		case !ok:
			return items
		case e.starts(ast.KindParagraph):
			p.next--
			return items
		case e.startsH1():
			p.skip(e)
		default:
			p.next--
		}
		items = append(items, p.numbered()...)
	}
}

func (p *summaryParser) numbered() (items []*item) {
	for first := true; ; first = false {
		e, ok := p.more()
		switch {
		case !ok:
			return items
		case e.starts(ast.KindParagraph) && first:
		case e.starts(ast.KindParagraph), e.startsH1():
			p.next--
			return items
		case e.starts(ast.KindList):
			p.next--
			items = append(items, p.list()...)
		case e.kind == start:
			p.ignore(e)
			p.skip(e)
		}
	}
}

// list reads the items of a list and of its nested lists. It begins before the start event
// of the outermost list, and after the start event of a nested list.
func (p *summaryParser) list() (items []*item) {
	for {
		e, ok := p.more()
		switch {
		case !ok:
			return items
		case e.starts(ast.KindListItem):
			if i := p.item(e.line); i != nil {
				items = append(items, i)
			}
		case e.starts(ast.KindList) && len(items) == 0:
		case e.starts(ast.KindList):
			last := items[len(items)-1]
			p.lose(last.children)
			last.children = p.list()
		case e.kind == end && e.tag == ast.KindList:
			return items
		default:
			p.ignore(e)
		}
	}
}

func (p *summaryParser) item(line int) *item {
	for {
		e, ok := p.more()
		switch {
		case e.starts(ast.KindParagraph):
		case e.starts(ast.KindLink):
			return p.link(e)
		default:
			if ok && e.line > 0 {
				line = e.line
			}
			p.fail(line, "write \"- [Title](file.md)\", or \"- [Title]()\" for a draft: this item does not begin with a link")

			return nil
		}
	}
}

// Clean removes "." and empty segments, as a file system does.
func Clean(target string) string {
	if !strings.Contains(target, "./") && !strings.Contains(target, "//") && !strings.HasPrefix(target, ".") {
		return target
	}
	var kept []string
	for segment := range strings.SplitSeq(target, "/") {
		if segment != "" && segment != "." {
			kept = append(kept, segment)
		}
	}

	return strings.Join(kept, "/")
}
