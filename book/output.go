package book

import (
	htmlpkg "html"
	"path"
	"regexp"
	"strings"
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
	case hasScheme(page):
		return "begins like a URL"
	}

	return ""
}

// checkOutput reports files that mdBook would write over one another.
func (b *book) checkOutput() {
	b.checkPages()
	b.checkCopies()
	b.checkFolders()
}

// checkPages reports chapters that would not have a page of their own.
func (b *book) checkPages() {
	lines := map[string]int{}
	for _, c := range b.chapters {
		page := Page(c.name)
		before, used := b.pages[page]
		switch {
		case before == c.name:
			b.errors.addf(summaryName, c.line, "chapter \"%s\" is already on line %d: remove one", c.target, lines[page])
			continue
		case used:
			b.errors.addf(summaryName, c.line, "chapters \"%s\" and \"%s\" (line %d) have the same page, %s: rename one", c.name, before, lines[page], page)
			continue
		case page == c.name:
			b.errors.addf(summaryName, c.line, "chapter \"%s\" is served as it is, not as a page: rename it to end with .md", c.target)
			continue
		case page == "print.html", page == "404.html" && c.name != "404.md":
			b.errors.addf(summaryName, c.line, "chapter \"%s\" has the page %s, which mdBook writes itself: rename it", c.name, page)
			continue
		case page == "toc.html":
			b.warnings.addf(summaryName, c.line, "the page of chapter \"%s\" replaces mdBook's %s, the table of contents where there is no JavaScript: rename it", c.name, page)
		}
		b.pages[page], lines[page] = c.name, c.line
	}
}

// checkCopies reports files that replace a page or a file of mdBook.
func (b *book) checkCopies() {
	for _, name := range b.names {
		if isMarkdown(name) {
			continue
		}
		b.copies[name] = true
		chapter, replaced := b.pages[name]
		switch {
		case replaced:
			b.errors.addf("", 0, "file \"%s\" replaces the page of chapter \"%s\": rename one", name, chapter)
		case ownFolders[name]:
			b.errors.addf("", 0, "file \"%s\" has the name of a folder that mdBook writes, so mdBook fails: rename it", name)
		case name == "toc.js":
			b.errors.addf("", 0, "file \"%s\" replaces the table of contents of mdBook 0.4: rename it", name)
		case ownFiles[name] && !replaceable[name]:
			b.warnings.addf("", 0, "file \"%s\" replaces a file of mdBook: rename it", name)
		}
	}
}

// checkFolders reports folders that have the name of a file that mdBook writes.
func (b *book) checkFolders() {
	checked := map[string]bool{}
	for _, name := range b.names {
		output := name
		if isMarkdown(name) {
			if output = Page(name); b.pages[output] != name {
				continue
			}
		}
		for folder := path.Dir(output); folder != "." && !checked[folder]; folder = path.Dir(folder) {
			checked[folder] = true
			chapter, isPage := b.pages[folder]
			switch {
			case isPage:
				b.errors.addf("", 0, "folder \"%s\" has the name of the page of chapter \"%s\", so mdBook fails: rename one", folder, chapter)
			case ownFiles[folder]:
				b.errors.addf("", 0, "folder \"%s\" has the name of a file that mdBook writes, so mdBook fails: rename it", folder)
			}
		}
	}
}
