package book

import (
	"net/url"
	"path"
	"strings"

	"github.com/yuin/goldmark/ast"
	"k8s.io/utils/lru"
)

// A chapter is a chapter of SUMMARY.md, or a link in it that is not a chapter.
type chapter struct {
	// target is the link as mdBook reads it. It is empty for a draft chapter.
	target string
	// name is the name of the file: the target without "." and "//".
	name string
	line int
}

// checkSummary finds the chapters, and reports the errors that keep mdBook from loading
// them.
func (b *book) checkSummary() {
	summary, ok := b.files.Markdowns[summaryName]
	if !ok {
		if near := b.nearest(summaryName); strings.EqualFold(near, summaryName) {
			b.errors.addf("", 0, "%s is missing: rename \"%s\"", summaryName, near)
			return
		}
		b.errors.addf("", 0, "%s is missing: add one that lists the chapters, such as \"- [Title](file.md)\"", summaryName)

		return
	}
	parsed := readSummary(summary)
	if parsed.problem.Message != "" {
		b.errors.add(func() Problem { return parsed.problem })
		return
	}
	for _, c := range parsed.chapters {
		if c.target != "" && b.checkTarget(&c) {
			b.chapters = append(b.chapters, c)
		}
	}
	if len(b.chapters) == 0 && len(b.errors.First) == 0 {
		b.errors.addf(summaryName, 0, "it lists no chapter, so mdBook has no first page: add a line such as \"- [Title](file.md)\"")
	}
	listed := map[string]bool{}
	for _, c := range b.chapters {
		listed[c.name] = true
	}
	for _, c := range parsed.lost {
		b.lost[clean(c.target)] = true
		if !hasScheme(c.target) && !listed[clean(c.target)] {
			b.warnings.addf(summaryName, c.line, "mdBook ignores the link to \"%s\": make it an item of its own, \"- [Title](file.md)\", "+
				"in the same list as the items above it, or after an empty line", c.target)
		}
	}
}

// hasScheme returns whether a target is a URL with a scheme, such as https:.
func hasScheme(target string) bool {
	for i, c := range []byte(target) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case c == ':' && i > 0:
			return true
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '.' || c == '-'):
		default:
			return false
		}
	}

	return false
}

// checkTarget returns whether mdBook can read a chapter, and reports an error if not.
func (b *book) checkTarget(c *chapter) bool {
	c.name = clean(c.target)
	_, exists := b.files.Markdowns[c.name]
	switch {
	case hasScheme(c.target) && !exists && !b.binaries[c.name]:
		b.errors.addf(summaryName, c.line, "\"%s\" is a URL, but a chapter is a file in spec.markdowns: link to the URL from a chapter", c.target)
	case strings.HasPrefix(c.target, "/"):
		b.errors.addf(summaryName, c.line, "chapter \"%s\" is outside of the book: write a path relative to SUMMARY.md", c.target)
	case strings.Contains("/"+c.target+"/", "/../"):
		b.errors.addf(summaryName, c.line, "chapter \"%s\" contains \"..\": write a path without it", c.target)
	case strings.HasSuffix(c.target, "/"), strings.HasSuffix(c.target, "/."), c.target == ".":
		b.errors.addf(summaryName, c.line, "chapter \"%s\" is not a file: link to a file such as \"%s\"", c.target, path.Join(c.name, "README.md"))
	case exists:
		if cause := unreachable(Page(c.name)); cause != "" {
			b.errors.addf(summaryName, c.line, "chapter \"%s\": mdBook's links to it do not work because its name %s: rename the file", c.target, cause)
			return false
		}

		return true
	case b.binaries[c.name]:
		b.errors.addf(summaryName, c.line, "chapter \"%s\" is in spec.binaries: a chapter is text in spec.markdowns", c.target)
	case strings.ContainsAny(c.target, "#?"):
		b.errors.addf(summaryName, c.line, "chapter \"%s\" contains \"#\" or \"?\", but a chapter is a whole file: link to the file alone", c.target)
	default:
		b.errors.add(func() Problem { return b.missing(c) })
	}

	return false
}

func (b *book) missing(c *chapter) Problem {
	message := "chapter \"" + display(c.target) + "\" is not in spec.markdowns: "
	if decoded, err := url.PathUnescape(c.target); err == nil && decoded != c.target && b.has(clean(decoded)) {
		message += "did you mean \"<" + display(decoded) + ">\"? mdBook decodes only %20"
	} else if near := b.nearest(c.name); near != "" {
		message += "did you mean \"" + display(near) + "\"?"
	} else {
		message += "add the file or remove the link"
	}

	return Problem{File: summaryName, Line: c.line, Message: message}
}

// clean removes "." and empty segments, as a file system does.
func clean(target string) string {
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

// events returns the events of a document. It distinguishes only those that
// parseSummary needs.
func events(source []byte, root ast.Node) []event {
	lines := newLineIndex(source)
	var list []event
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
		e.link = unescape(n.Destination)
	case *ast.AutoLink:
		e.tag, e.link = ast.KindLink, string(n.Label(source))
	case *ast.HTMLBlock:
		e.kind = html
	default:
		e.kind = other
	}

	return e
}

// A parsedSummary is what mdBook reads from a SUMMARY.md.
type parsedSummary struct {
	chapters []chapter // Including drafts.
	lost     []chapter // Links that are not chapters.
	problem  Problem
}

// An item is a chapter in a list of SUMMARY.md, with the items of its nested list.
type item struct {
	chapter

	children []*item
}

const (
	// maxSummary is the size in bytes of the largest SUMMARY.md. mdBook has no limit,
	// but a book has at most a thousand files, and each line costs a microsecond or
	// more.
	maxSummary = 256 << 10
	// maxKnown is the size in bytes of the largest SUMMARY.md that is cached, and known
	// is how many are cached.
	maxKnown = 32 << 10
	known    = 32
)

// summaries caches parsed SUMMARY.md files by their text. Most changes of a book do not
// change SUMMARY.md, and a rejected book is checked again.
var summaries = lru.New(known)

// readSummary returns parseSummary(summary), from the cache if possible.
func readSummary(summary string) parsedSummary {
	if len(summary) > maxKnown {
		return parseSummary(summary)
	}
	if parsed, ok := summaries.Get(summary); ok {
		return parsed.(parsedSummary) //nolint:forcetypeassert // Nothing else is stored.
	}
	parsed := parseSummary(summary)
	summaries.Add(strings.Clone(summary), parsed) // The text may share the memory of a request.

	return parsed
}

// parseSummary follows
// https://github.com/rust-lang/mdBook/blob/v0.5.4/crates/mdbook-summary/src/lib.rs
// function by function, including its quirks.
func parseSummary(summary string) parsedSummary {
	if len(summary) > maxSummary {
		return parsedSummary{problem: Problem{File: summaryName, Message: "is larger than 256 KiB: list the chapters only, or split the book"}}
	}
	defer alone(summary)()
	source := []byte(summary)
	root, ok := parse(source)
	if !ok {
		return parsedSummary{problem: Problem{File: summaryName, Message: "is too deeply nested, or has too many links, definitions, * or _ in one paragraph: make it simpler"}}
	}
	p := &summaryParser{events: events(source, root)}
	p.title()
	items := p.affix(true)
	items = append(items, p.parts()...)
	if p.problem == "" {
		items = append(items, p.affix(false)...)
	}
	if p.problem != "" {
		return parsedSummary{problem: Problem{File: summaryName, Line: p.line, Message: p.problem}}
	}

	var result parsedSummary
	var flatten func([]*item)
	flatten = func(items []*item) {
		for _, i := range items {
			result.chapters = append(result.chapters, i.chapter)
			flatten(i.children)
		}
	}
	flatten(items)
	result.lost = p.lost

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

func (e event) starts(tag ast.NodeKind) bool { return e.kind == start && e.tag == tag }
func (e event) startsH1() bool               { return e.starts(ast.KindHeading) && e.level == 1 }

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
