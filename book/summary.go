package book

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// A chapter is a chapter of SUMMARY.md, or a link in it that is not a chapter.
type chapter struct {
	// target is the link as mdBook reads it. It is empty for a draft chapter.
	target string
	// name is the name of the file: the target without "." and "//".
	name string
	line int
}

// A parsedSummary is what mdBook reads from a SUMMARY.md.
type parsedSummary struct {
	chapters []chapter // Including drafts.
	lost     []chapter // Links that are not chapters.
	code     []Problem // Links in indented code.
	ignored  []Problem // Other text that mdBook ignores.
	problem  Problem
}

// An item is a chapter in a list of SUMMARY.md, with the items of its nested list.
type item struct {
	chapter

	children []*item
}

// parseSummary follows
// https://github.com/rust-lang/mdBook/blob/v0.5.4/crates/mdbook-summary/src/lib.rs
// function by function, including its quirks.
func parseSummary(summary string) parsedSummary {
	source := normalize(summary)
	root, line, err := parse(source)
	if err != nil {
		return parsedSummary{problem: Problem{File: summaryName, Line: line, Message: err.Error()}}
	}
	p := &summaryParser{events: events(source, root)}
	if strings.Count(summary, "\r") != strings.Count(summary, "\r\n") {
		p.rejectBlocks()
	}
	p.title()
	items := p.affix(true)
	items = append(items, p.parts()...)
	if p.problem == "" {
		items = append(items, p.affix(false)...)
	}
	if p.problem != "" {
		if target := spaced(source, p.line); target != "" {
			p.problem = "the link to \"" + display(target) + "\" contains a space, so mdBook does not read it as a link: " +
				"write \"<" + display(target) + ">\" or \"" + display(strings.ReplaceAll(target, " ", "%20")) + "\""
		}

		return parsedSummary{problem: Problem{File: summaryName, Line: p.line, Message: p.problem}}
	}

	result := parsedSummary{lost: p.lost}
	var flatten func([]*item)
	flatten = func(items []*item) {
		for _, i := range items {
			result.chapters = append(result.chapters, i.chapter)
			flatten(i.children)
		}
	}
	flatten(items)
	result.code, result.ignored = ignored(source, p.events)

	return result
}

type summaryParser struct {
	events []event
	next   int
	lost   []chapter

	problem string
	line    int
}

// more returns the next event. Callers go back with p.next--.
func (p *summaryParser) more() (event, bool) {
	if p.problem != "" || p.next >= len(p.events) {
		return event{}, false
	}
	p.next++

	return p.events[p.next-1], true
}

func (p *summaryParser) fail(line int, problem string) {
	p.line, p.problem = line, problem
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

// rejectBlocks fails if a text whose lines end with a carriage return alone has code or HTML:
// mdBook then takes what follows up to a line feed for a part of that.
func (p *summaryParser) rejectBlocks() {
	for _, e := range p.events {
		if e.kind == html || e.starts(ast.KindCodeBlock) || e.starts(ast.KindFencedCodeBlock) {
			p.fail(e.line, "mdBook does not see where this code or HTML ends: end the lines of the file with line feeds, not with carriage returns alone")
			return
		}
	}
}

func (p *summaryParser) lose(items []*item) {
	for _, i := range items {
		if i.target != "" {
			p.lost = append(p.lost, i.chapter)
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
			p.fail(e.line, "a list or a heading follows a paragraph that ended the list of chapters: "+
				"remove the paragraph, or write it as a heading such as \"# Part\"")

			return nil
		case e.starts(ast.KindLink):
			items = append(items, p.link(e))
		}
	}
}

func (p *summaryParser) link(e event) *item {
	p.skip(e)
	return &item{chapter: e.chapter()}
}

// chapter returns the chapter that a link leads to. mdBook decodes only %20.
func (e event) chapter() chapter {
	return chapter{target: strings.ReplaceAll(e.link, "%20", " "), line: e.line}
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
			p.fail(line, "an item of the list does not begin with a link: write \"- [Title](file.md)\", or \"- [Title]()\" for a draft")

			return nil
		}
	}
}
