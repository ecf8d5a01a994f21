package book

import (
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
)

var (
	// https://rust-lang.github.io/mdBook/format/mdbook.html#including-files
	include = regexp.MustCompile(`\\?\{\{\s*#(?:include|rustdoc_include|playground|playpen|template)\s+([^}\s]+)[^}]*\}\}`)
	source  = regexp.MustCompile(`\s(?:[sS][rR][cC]|[hH][rR][eE][fF])\s*=\s*(?:"([^"]*)"|'([^']*)')`)
)

// warnLinks reports links, images and includes of chapters that lead nowhere. Parsing
// is most of the cost of a chapter, so only chapters that may have a dead link are
// parsed.
func (b *book) warnLinks() {
	for _, c := range b.chapters {
		b.warnIncludes(c.name)
		if b.mayBeDead(c.name) {
			b.warnTargets(c.name)
		}
	}
}

// mayBeDead returns whether a chapter may have a dead link. It does not know which text
// is code or a comment.
func (b *book) mayBeDead(chapter string) bool {
	text := b.files.Markdowns[chapter]
	dead := func(target string) bool {
		format, _ := b.dead(chapter, target)
		return format != ""
	}

	return mayLink(text, dead) || strings.Contains(text, "<") && maySource(text, dead)
}

// mayLink returns whether the text after a "](" or "]:" is a dead link, or whether that
// cannot be decided without parsing.
func mayLink(text string, dead func(target string) bool) bool {
	for i := strings.IndexByte(text, ']'); i >= 0; i = strings.IndexByte(text, ']') {
		label := text[:i]
		text = text[i+1:]
		if text == "" || text[0] != '(' && text[0] != ':' || text[0] == ':' && isFootnote(label) {
			continue
		}
		if target, ok := plainTarget(text[1:]); !ok || dead(target) {
			return true
		}
	}

	return false
}

// isFootnote returns whether a text ends with the label of a footnote, without "]".
func isFootnote(text string) bool {
	i := strings.LastIndexByte(text, '[')
	return i >= 0 && strings.HasPrefix(text[i:], "[^") && !strings.HasSuffix(text[:i], `\`)
}

// plainTarget returns the target of a link at the start of a text. It returns false if
// the target is on another line, in angle brackets, or has characters with a meaning in
// Markdown.
func plainTarget(text string) (string, bool) {
	text = strings.TrimLeft(text, " \t")
	for i, c := range []byte(text) {
		switch {
		case c == ' ', c == ')', i > 0 && (c == '\n' || c == '\r' || c == '\t'):
			return text[:i], true
		case c < ' ', strings.IndexByte(`(\&<]`, c) >= 0:
			return "", false
		}
	}

	return text, true
}

// maySource returns whether a src or href attribute is a dead link.
func maySource(text string, dead func(target string) bool) bool {
	const space = " \t\n\f\r"
	for i := strings.IndexByte(text, '='); i >= 0; i = strings.IndexByte(text, '=') {
		name := strings.TrimRight(text[:i], space)
		text = text[i+1:]
		value := strings.TrimLeft(text, space)
		if !hasSuffixFold(name, "src") && !hasSuffixFold(name, "href") || value == "" || value[0] != '"' && value[0] != '\'' {
			continue
		}
		if end := strings.IndexByte(value[1:], value[0]); end >= 0 && dead(unescape([]byte(value[1:end+1]))) {
			return true
		}
	}

	return false
}

func hasSuffixFold(text, suffix string) bool {
	return len(text) >= len(suffix) && strings.EqualFold(text[len(text)-len(suffix):], suffix)
}

// warnTargets reports links and images of a chapter that lead nowhere.
func (b *book) warnTargets(chapter string) {
	defer alone(b.files.Markdowns[chapter])()
	text := []byte(b.files.Markdowns[chapter])
	root, ok := parse(text)
	if !ok {
		return
	}
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			targets(n, text, func(offset int, target string) {
				if format, argument := b.dead(chapter, target); format != "" {
					b.warnAt(chapter, offset, format, target, argument)
				}
			})
		}

		return ast.WalkContinue, nil
	})
}

// warnAt adds a warning about the text at an offset of a file.
func (b *book) warnAt(name string, offset int, format string, args ...any) {
	b.warnings.add(func() Problem {
		line := 1 + strings.Count(b.files.Markdowns[name][:max(offset, 0)], "\n")
		return problem(name, line, format, args...)
	})
}

// targets yields the targets of a node.
func targets(n ast.Node, text []byte, yield func(offset int, target string)) {
	html := func(start, stop int) {
		for _, m := range source.FindAllSubmatchIndex(text[start:stop], -1) {
			from, to := max(m[2], m[4]), max(m[3], m[5])
			yield(start+from, unescape(text[start+from:start+to]))
		}
	}
	switch n := n.(type) {
	case *ast.Link:
		if !toFootnote(n.Reference) {
			yield(n.Pos(), unescape(n.Destination))
		}
	case *ast.Image:
		if !toFootnote(n.Reference) {
			yield(n.Pos(), unescape(n.Destination))
		}
	case *ast.RawHTML:
		if last := n.Segments.Len() - 1; last >= 0 {
			html(n.Segments.At(0).Start, n.Segments.At(last).Stop)
		}
	case *ast.HTMLBlock:
		for i := range n.Lines().Len() {
			html(n.Lines().At(i).Start, n.Lines().At(i).Stop)
		}
	}
}

// toFootnote returns whether a reference is to a footnote, which mdBook supports and
// CommonMark does not.
func toFootnote(reference *ast.ReferenceLink) bool {
	return reference != nil && strings.HasPrefix(strings.TrimSpace(string(reference.Value)), "^")
}

// dead returns why a link of a chapter leads nowhere, as a format whose operands are the
// target and the argument. The format is empty if the link is not dead.
func (b *book) dead(chapter, target string) (format, argument string) {
	if target == "" || strings.HasPrefix(target, "#") || strings.HasPrefix(target, "?") || strings.HasPrefix(target, "//") || hasScheme(target) {
		return "", ""
	}
	if i := strings.IndexAny(target, "#?"); i >= 0 {
		target = target[:i]
	}
	if decoded, err := url.PathUnescape(target); err == nil {
		target = decoded
	}
	resolved := strings.TrimPrefix(path.Join("/", path.Dir(chapter), target), "/")
	if strings.HasPrefix(target, "/") {
		resolved = strings.TrimPrefix(path.Clean(target), "/")
	}
	// mdBook links to a page with the name of the file, even if the page has another
	// name.
	output := resolved
	if isMarkdown(resolved) {
		output = strings.TrimSuffix(resolved, ".md") + ".html"
	}
	_, isPage := b.pages[output]
	_, isIndex := b.pages[strings.TrimPrefix(output+"/index.html", "/")]
	switch {
	case output == "", isPage, isIndex, b.copies[output], b.copies[output+"/index.html"], ownFiles[output]:
		return "", ""
	case b.pages[Page(resolved)] == resolved && b.has(resolved):
		return "the link to \"%s\" leads nowhere, because the page of README.md is %s: link to that", path.Base(Page(resolved))
	case b.has(resolved):
		return "the link to \"%s\" leads nowhere, because %s is not in SUMMARY.md: add it there", resolved
	default:
		return "the link to \"%s\" leads nowhere: %s is not in the book", resolved
	}
}

// includes yields the files that a text includes.
func includes(name, text string, yield func(offset int, target, resolved string)) {
	if !strings.Contains(text, "{{") {
		return
	}
	for _, m := range include.FindAllStringSubmatchIndex(text, -1) {
		if text[m[0]] == '\\' {
			continue
		}
		target, _, _ := strings.Cut(text[m[2]:m[3]], ":")
		resolved := path.Join(path.Dir(name), target)
		if strings.HasPrefix(target, "/") {
			resolved = target
		}
		yield(m[2], target, resolved)
	}
}

// warnIncludes reports the files that a chapter includes and that are not in the book.
func (b *book) warnIncludes(name string) {
	includes(name, b.files.Markdowns[name], func(offset int, target, resolved string) {
		b.included[resolved] = true
		if !b.has(resolved) {
			b.warnAt(name, offset, "the included file \"%s\" is not in the book: %s is missing", target, resolved)
		}
	})
}

// warnUnlisted reports Markdown files that no page shows.
func (b *book) warnUnlisted() {
	listed := map[string]bool{}
	for _, c := range b.chapters {
		listed[c.name] = true
	}
	for name, text := range b.files.Markdowns {
		if !listed[name] { // Files that chapters include are already in included.
			includes(name, text, func(_ int, _, resolved string) { b.included[resolved] = true })
		}
	}
	listed[summaryName], listed["404.md"] = true, true
	for _, name := range b.names {
		if isMarkdown(name) && !listed[name] && !b.included[name] && !b.lost[name] {
			b.warnings.addf("", 0, "file \"%s\" is not in SUMMARY.md, so it has no page: add it there or remove it", name)
		}
	}
}
