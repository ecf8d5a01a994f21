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
	source  = regexp.MustCompile(`(?i)\s(?:src|href)\s*=\s*(?:"([^"]*)"|'([^']*)')`)
)

// warnLinks reports links, images and includes of chapters that lead nowhere.
func (b *book) warnLinks() {
	for _, c := range b.chapters {
		text := []byte(b.files.Markdowns[c.name])
		var lines lineIndex
		warn := func(offset int, format, target, argument string) {
			b.warnings.add(func() Problem {
				if lines == nil {
					lines = newLineIndex(text)
				}
				var p Problems
				p.addf(c.name, lines.line(max(offset, 0)), format, target, argument)

				return p.First[0]
			})
		}
		b.warnIncludes(c.name, warn)
		if !canLink(b.files.Markdowns[c.name]) {
			continue
		}
		root, ok := parse(text)
		if !ok {
			continue
		}
		_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if entering {
				targets(n, text, func(offset int, target string) {
					if format, argument := b.dead(c.name, target); format != "" {
						warn(offset, format, target, argument)
					}
				})
			}

			return ast.WalkContinue, nil
		})
	}
}

// canLink returns whether a text may have links, of Markdown or of HTML. Parsing one
// is most of the time that a book takes.
func canLink(text string) bool {
	return strings.Contains(text, "[") || strings.Contains(text, "<") && strings.Contains(text, "=")
}

// targets yields where a node links to.
func targets(n ast.Node, text []byte, yield func(offset int, target string)) {
	html := func(start, stop int) {
		for _, m := range source.FindAllSubmatchIndex(text[start:stop], -1) {
			from, to := max(m[2], m[4]), max(m[3], m[5])
			yield(start+from, unescape(text[start+from:start+to]))
		}
	}
	switch n := n.(type) {
	case *ast.Link:
		// A footnote, which mdBook has and CommonMark has not.
		if n.Reference == nil || !strings.HasPrefix(string(n.Reference.Value), "^") {
			yield(n.Pos(), unescape(n.Destination))
		}
	case *ast.Image:
		yield(n.Pos(), unescape(n.Destination))
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

// dead returns why a link of a chapter leads nowhere, as a format for the target and
// the argument, or "".
func (b *book) dead(chapter, target string) (format, argument string) {
	if target == "" || strings.HasPrefix(target, "#") || strings.HasPrefix(target, "?") || strings.HasPrefix(target, "//") || scheme.MatchString(target) {
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
	// mdBook links to a page with the name of the file, also where the page has another.
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

func (b *book) warnIncludes(name string, warn func(offset int, format, target, argument string)) {
	includes(name, b.files.Markdowns[name], func(offset int, target, resolved string) {
		if !b.has(resolved) {
			warn(offset, "the included file \"%s\" is not in the book: %s is missing", target, resolved)
		}
	})
}

// warnUnlisted reports Markdown that no page shows.
func (b *book) warnUnlisted() {
	shown := set(summaryName, "404.md")
	for _, c := range b.chapters {
		shown[c.name] = true
	}
	for name, text := range b.files.Markdowns {
		includes(name, text, func(_ int, _, resolved string) { shown[resolved] = true })
	}
	for _, name := range b.names {
		if isMarkdown(name) && !shown[name] && !b.lost[name] {
			b.warnings.addf("", 0, "file \"%s\" is not in SUMMARY.md, so that it has no page: add it there or remove it", name)
		}
	}
}
