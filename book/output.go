package book

import (
	"path"

	"github.com/crossplane-contrib/function-markdownview/book/internal/summary"
)

// An output is what mdBook writes: a page for each chapter, and copies of other files.
type output struct {
	pages  map[string]string // The chapters by page.
	copies map[string]bool
}

// checkOutput returns the output, and reports files that mdBook would write over one
// another.
func checkOutput(x *index, chapters []summary.Chapter, r *report) *output {
	o := &output{pages: make(map[string]string, len(chapters)), copies: make(map[string]bool, len(x.binaries))}
	o.checkPages(chapters, r)
	o.checkCopies(x, r)
	o.checkFolders(x, r)
	o.checkRedirects(x, r)

	return o
}

// checkPages reports chapters that would not have a page of their own.
func (o *output) checkPages(chapters []summary.Chapter, r *report) {
	lines := map[string]int{}
	for _, c := range chapters {
		page := Page(c.Name)
		before, used := o.pages[page]
		switch {
		case before == c.Name:
			r.errors.Addf(summaryName, c.Line, "chapter \"%s\" is already on line %d: remove one", c.Target, lines[page])
			continue
		case used:
			r.errors.Addf(summaryName, c.Line, "chapters \"%s\" and \"%s\" (line %d) have the same page, %s: rename one", c.Name, before, lines[page], page)
			continue
		case page == c.Name:
			r.errors.Addf(summaryName, c.Line, "chapter \"%s\" is served as it is, not as a page: rename it to end with .md", c.Target)
			continue
		case page == "print.html", page == "404.html" && c.Name != "404.md":
			r.errors.Addf(summaryName, c.Line, "chapter \"%s\" has the page %s, which mdBook writes itself: rename it", c.Name, page)
			continue
		case page == "toc.html":
			r.warnings.Addf(summaryName, c.Line, "the page of chapter \"%s\" replaces mdBook's %s, the table of contents where there is no JavaScript: rename it", c.Name, page)
		}
		o.pages[page], lines[page] = c.Name, c.Line
	}
}

// checkCopies reports files that replace a page or a file of mdBook.
func (o *output) checkCopies(x *index, r *report) {
	for _, name := range x.names {
		if isMarkdown(name) {
			continue
		}
		o.copies[name] = true
		chapter, replaced := o.pages[name]
		switch {
		case replaced:
			r.errors.Addf("", 0, "file \"%s\" replaces the page of chapter \"%s\": rename one", name, chapter)
		case ownFolders[name]:
			r.errors.Addf("", 0, "file \"%s\" has the name of a folder that mdBook writes, so mdBook fails: rename it", name)
		case name == "toc.js":
			r.errors.Addf("", 0, "file \"%s\" replaces the table of contents of mdBook 0.4: rename it", name)
		case ownFiles[name] && !replaceable[name]:
			r.warnings.Addf("", 0, "file \"%s\" replaces a file of mdBook: rename it", name)
		}
	}
}

// checkFolders reports folders that have the name of a file that mdBook writes.
func (o *output) checkFolders(x *index, r *report) {
	checked := map[string]bool{}
	for _, name := range x.names {
		output := name
		if isMarkdown(name) {
			if output = Page(name); o.pages[output] != name {
				continue
			}
		}
		for folder := path.Dir(output); folder != "." && !checked[folder]; folder = path.Dir(folder) {
			checked[folder] = true
			chapter, isPage := o.pages[folder]
			switch {
			case isPage:
				r.errors.Addf("", 0, "folder \"%s\" has the name of the page of chapter \"%s\", so mdBook fails: rename one", folder, chapter)
			case ownFiles[folder]:
				r.errors.Addf("", 0, "folder \"%s\" has the name of a file that mdBook writes, so mdBook fails: rename it", folder)
			}
		}
	}
}
