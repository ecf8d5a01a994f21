package book

import (
	htmlpkg "html"
	"path"
	"regexp"
	"strings"

	"github.com/crossplane-contrib/function-markdownview/book/internal/markdown"
)

// The files and folders that mdBook 0.4 and 0.5 add to the output. Both fail if a file
// of the book has the name of such a folder, or a folder of the book has the name of
// such a file. A file of the book replaces a file of mdBook. (mdBook 0.5 adds a hash to
// most of the names.)
var (
	ownFolders = set("FontAwesome", "FontAwesome/css", "FontAwesome/fonts", "css", "fonts")
	ownFiles   = set(
		".nojekyll", "404.html", "ayu-highlight.css", "book.js", "clipboard.min.js", "css/chrome.css",
		"css/general.css", "css/print.css", "css/variables.css", "elasticlunr.min.js", "favicon.png", "favicon.svg",
		"FontAwesome/css/font-awesome.css", "FontAwesome/fonts/FontAwesome.ttf", "FontAwesome/fonts/fontawesome-webfont.eot",
		"FontAwesome/fonts/fontawesome-webfont.svg", "FontAwesome/fonts/fontawesome-webfont.ttf",
		"FontAwesome/fonts/fontawesome-webfont.woff", "FontAwesome/fonts/fontawesome-webfont.woff2", "fonts/fonts.css",
		"highlight.css", "highlight.js", "index.html", "mark.min.js", "print.html", "searcher.js", "searchindex.js",
		"searchindex.json", "toc.html", "toc.js", "tomorrow-night.css",
	)
	// replaceable are the files that users may replace on purpose.
	replaceable = set(".nojekyll", "404.html", "favicon.png", "favicon.svg")
)

func set(names ...string) map[string]bool {
	s := make(map[string]bool, len(names))
	for _, name := range names {
		s[name] = true
	}

	return s
}

// extension returns the extension of a name as Rust does: ".md" has none.
func extension(name string) string {
	if base := path.Base(name); strings.LastIndexByte(base, '.') == 0 {
		return ""
	}

	return path.Ext(name)
}

// isMarkdown returns whether a file is Markdown, which mdBook does not copy into the
// output.
func isMarkdown(name string) bool { return extension(name) == ".md" }

// Page returns the path of the page that mdBook writes for a chapter.
func Page(name string) string {
	stem := strings.TrimSuffix(name, extension(name))
	if folder, base := path.Split(stem); strings.EqualFold(base, "readme") {
		stem = folder + "index"
	}

	return stem + ".html"
}

var percent = regexp.MustCompile(`%[0-9a-fA-F]{2}`)

// unreachable returns why the links of the table of contents do not lead to a page, or an
// empty string. mdBook writes names unescaped into the table of contents, which is HTML in
// JavaScript.
func unreachable(page string) string {
	if i := strings.IndexAny(page, `#?"'`); i >= 0 {
		return "contains " + page[i:i+1]
	}
	switch {
	case path.Base(page) == "..html":
		return "has only a dot in front of the extension"
	case strings.Contains(page, "%") && percent.MatchString(page):
		return "contains % before two digits"
	case htmlpkg.UnescapeString(page) != page:
		return "contains a character reference such as &amp;"
	case strings.HasPrefix(page, " "):
		return "begins with a space"
	case markdown.HasScheme(page):
		return "begins like a URL"
	}

	return ""
}
