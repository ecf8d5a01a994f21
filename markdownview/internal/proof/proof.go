// Package proof reads the chapters of a book with a full parser of Markdown, and finds
// links, images and anchors that lead nowhere. Package book, which also runs in a cluster,
// only scans them.
package proof

import (
	"bytes"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extensionast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"golang.org/x/net/html"
	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/crossplane-contrib/function-markdownview/book"
)

// The kinds of problems.
const (
	DeadLink   = "DeadLink"
	DeadImage  = "DeadImage"
	DeadAnchor = "DeadAnchor"
)

// A Problem is a link, an image or an anchor that leads nowhere.
type Problem struct {
	book.Problem

	Kind string
}

// Read returns the problems of the chapters of a book that mdBook can build, in the order of
// the chapters. It calls progress for each of them.
func Read(files book.Files, progress func(format string, args ...any)) []Problem {
	r := &reader{Files: files, site: book.NewSite(files), pages: map[string]*page{}}
	chapters := book.Chapters(files)
	for i, name := range chapters {
		progress("reading chapter %d of %d", i+1, len(chapters))
		for _, l := range r.page(name).links {
			r.check(name, l)
		}
	}

	return r.problems
}

type reader struct {
	book.Files

	site     *book.Site
	pages    map[string]*page
	problems []Problem
}

// A page is what the check of links needs of a file.
type page struct {
	links []link
	ids   map[string]bool
	// counts and used are the ids that mdBook 0.4 and 0.5 have given to headings.
	counts map[string]int
	used   map[string]bool
	// includes is whether the page has the text of other files, so the number behind the
	// id of a heading is not known.
	includes bool
}

type link struct {
	line   int
	image  bool
	target string
}

// check adds a problem if a link of a chapter leads nowhere.
func (r *reader) check(chapter string, l link) {
	add := func(kind, message string) {
		r.problems = append(r.problems, Problem{book.Problem{File: chapter, Line: l.line, Message: message}, kind})
	}
	if dead := r.site.Dead(chapter, l.target); dead != "" {
		kind := DeadLink
		if l.image {
			kind = DeadImage
		}
		add(kind, dead)

		return
	}
	_, anchor, _ := strings.Cut(l.target, "#")
	if decoded, err := url.PathUnescape(anchor); err == nil {
		anchor = decoded
	}
	to := r.site.Chapter(chapter, l.target)
	if to == "" || l.image || anchor == "" || anchor == "top" || r.page(to).has(anchor) {
		return
	}
	fix := "remove \"#" + anchor + "\", or add a heading or an element with this id to " + to
	if near := r.page(to).nearest(anchor); near != "" {
		fix = "write \"#" + near + "\", which is an id of " + to
	}
	add(DeadAnchor, fix+": the link to \""+l.target+"\" leads to the top of the page")
}

var number = regexp.MustCompile(`-[0-9]+$`)

func (p *page) has(id string) bool {
	return p.ids[id] || p.includes && p.ids[number.ReplaceAllString(id, "")]
}

// nearest returns an id that differs from a wrong one only in case and punctuation, as the
// ids of other tools do.
func (p *page) nearest(wrong string) string {
	plain := func(id string) string {
		return strings.Map(func(c rune) rune {
			if unicode.IsLetter(c) || unicode.IsDigit(c) {
				return unicode.ToLower(c)
			}

			return -1
		}, id)
	}
	var near []string
	for id := range p.ids {
		if plain(id) == plain(wrong) {
			near = append(near, id)
		}
	}
	if len(near) == 0 {
		return ""
	}

	return slices.Min(near)
}

// markdown parses what mdBook 0.4 and 0.5 do.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList, extension.Footnote, extension.DefinitionList),
	goldmark.WithParserOptions(parser.WithHeadingAttribute()),
).Parser()

// include matches an include, and captures the name of the file.
var include = regexp.MustCompile(`\{\{\s*#(?:include|rustdoc_include)\s+([^\s:}]+)`)

// page returns the page of a file.
func (r *reader) page(name string) *page {
	if p, ok := r.pages[name]; ok {
		return p
	}
	p := &page{ids: map[string]bool{}, counts: map[string]int{}, used: map[string]bool{}}
	r.pages[name] = p // A file can include itself.
	source := []byte(strings.TrimPrefix(r.Markdowns[name], "\ufeff"))
	for _, m := range include.FindAllSubmatch(source, -1) {
		p.includes = true
		for id := range r.page(path.Join(path.Dir(name), string(m[1]))).ids {
			p.ids[id] = true
		}
	}
	line := func(offset int) int { return 1 + bytes.Count(source[:min(max(offset, 0), len(source))], []byte("\n")) }
	_ = ast.Walk(markdown.Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			p.addHeading(n, source)
		case *extensionast.DefinitionTerm:
			p.addNew(n, source)
		case *ast.Link:
			p.links = append(p.links, link{line(n.Pos()), false, string(n.Destination)})
		case *ast.Image:
			p.links = append(p.links, link{line(n.Pos()), true, string(n.Destination)})
		case *ast.RawHTML:
			p.addHTML(n.Segments.Value(source), line(n.Pos()))
		case *ast.HTMLBlock:
			raw := n.Lines().Value(source)
			if n.HasClosure() {
				raw = append(raw, n.ClosureLine.Value(source)...)
			}
			p.addHTML(raw, line(n.Lines().At(0).Start))
		}

		return ast.WalkContinue, nil
	})

	return p
}

// addHeading adds the ids that mdBook 0.4 and 0.5 give to a heading.
func (p *page) addHeading(n *ast.Heading, source []byte) {
	if id, ok := n.AttributeString("id"); ok {
		if raw, ok := id.([]byte); ok {
			p.ids[string(raw)] = true

			return
		}
	}
	p.addOld(textOf(n, source, nil))
	p.addNew(n, source)
}

// addOld adds the id that mdBook 0.4 gives to a text. It counts texts with the same id.
// https://github.com/rust-lang/mdBook/blob/v0.4.48/src/utils/mod.rs (unique_id_from_content)
func (p *page) addOld(content string) {
	id := strings.Map(func(c rune) rune {
		if c <= unicode.MaxASCII {
			return unicode.ToLower(c)
		}

		return c
	}, idOf(content))
	if p.counts[id]++; p.counts[id] > 1 {
		id += "-" + strconv.Itoa(p.counts[id]-1)
	}
	p.ids[id] = true
}

// dashes are hyphens that mdBook 0.5 shows as dashes.
var dashes = regexp.MustCompile(`--+`)

// addNew adds the id that mdBook 0.5 gives to a heading or a term. It finds a number that is not
// used yet.
// https://github.com/rust-lang/mdBook/blob/v0.5.0/crates/mdbook-core/src/utils/html.rs (unique_id)
func (p *page) addNew(n ast.Node, source []byte) {
	id := idOf(cases.Lower(language.Und).String(textOf(n, source, dashes)))
	next := id
	for i := 1; p.used[next]; i++ {
		next = id + "-" + strconv.Itoa(i)
	}
	p.used[next], p.ids[next] = true, true
}

func idOf(content string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case unicode.In(c, unicode.L, unicode.N, unicode.Other_Alphabetic), c == '_', c == '-':
			return c
		case unicode.IsSpace(c):
			return '-'
		default:
			return -1
		}
	}, strings.TrimSpace(content))
}

// textOf returns the text of a heading, without what matches outside of code.
func textOf(n ast.Node, source []byte, without *regexp.Regexp) string {
	var out strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			text := c.Value(source)
			if n.Kind() != ast.KindCodeSpan {
				if text = []byte(html.UnescapeString(string(text))); without != nil {
					text = without.ReplaceAll(text, nil)
				}
			}
			out.Write(text)
			if c.SoftLineBreak() || c.HardLineBreak() {
				out.WriteByte(' ')
			}
		case *ast.String:
			out.Write(c.Value)
		case *ast.AutoLink:
			out.Write(c.Label(source))
		case *extensionast.FootnoteLink:
			out.WriteString(strconv.Itoa(c.Index))
		case *ast.Image, *ast.RawHTML:
		default:
			out.WriteString(textOf(c, source, without))
		}
	}

	return out.String()
}

// heading matches the tag of a heading in HTML.
var heading = regexp.MustCompile(`^h[1-6]$`)

// addHTML adds the links, images and ids of HTML. mdBook 0.4 gives ids to its headings too.
func (p *page) addHTML(raw []byte, line int) {
	var title *strings.Builder
	for t := html.NewTokenizer(bytes.NewReader(raw)); t.Next() != html.ErrorToken; {
		at := line
		line += bytes.Count(t.Raw(), []byte("\n"))
		token := t.Token()
		switch {
		case token.Type == html.StartTagToken && heading.MatchString(token.Data) && !slices.ContainsFunc(token.Attr, func(a html.Attribute) bool { return a.Key != "class" }):
			title = &strings.Builder{}
		case token.Type == html.TextToken && title != nil:
			title.WriteString(token.Data)
		case token.Type == html.EndTagToken && heading.MatchString(token.Data) && title != nil:
			p.addOld(title.String())
			title = nil
		}
		p.addAttributes(token, at)
	}
}

func (p *page) addAttributes(token html.Token, line int) {
	for _, a := range token.Attr {
		switch {
		case a.Key == "id", a.Key == "name" && token.Data == "a":
			p.ids[a.Val] = true
		case a.Key == "href" && token.Data == "a":
			p.links = append(p.links, link{line, false, a.Val})
		case a.Key == "src" && token.Data == "img":
			p.links = append(p.links, link{line, true, a.Val})
		}
	}
}
