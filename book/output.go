package book

import (
	"path"
	"strings"

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
	lines := make(map[string]int, len(chapters))
	for _, c := range chapters {
		page := Page(c.Name)
		before, used := o.pages[page]
		switch {
		case before == c.Name:
			r.errors.Addf(summaryName, c.Line, "remove chapter \"%s\" here or from line %d: it is in both", c.Target, lines[page])
			continue
		case used:
			r.errors.Addf(summaryName, c.Line, "rename chapter \"%s\" or \"%s\" (line %d): both have the page %s", c.Name, before, lines[page], page)
			continue
		case page == c.Name:
			r.errors.Addf(summaryName, c.Line, "rename chapter \"%s\" to end with .md: it is served as it is, not as a page", c.Target)
			continue
		case page == "print.html", page == "404.html" && c.Name != "404.md":
			r.errors.Addf(summaryName, c.Line, "rename chapter \"%s\": mdBook writes its page, %s, itself", c.Name, page)
			continue
		case page == "toc.html":
			r.warnings.Addf(summaryName, c.Line, "rename chapter \"%s\": its page replaces mdBook's %s, the table of contents where there is no JavaScript", c.Name, page)
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
			r.errors.Addf("", 0, "rename file \"%s\" or chapter \"%s\": the file replaces the page of the chapter", name, chapter)
		case ownFolders[name]:
			r.errors.Addf("", 0, "rename file \"%s\": mdBook writes a folder of this name, and fails", name)
		case name == "toc.js":
			r.errors.Addf("", 0, "rename file \"%s\": it replaces the table of contents of mdBook 0.4", name)
		case ownFiles[name] && !replaceable[name]:
			r.warnings.Addf("", 0, "rename file \"%s\": it replaces a file of mdBook", name)
		}
	}
}

// checkFolders reports folders that have the name of a file that mdBook writes.
func (o *output) checkFolders(x *index, r *report) {
	checked := map[string]bool{}
	for _, name := range x.names {
		if strings.IndexByte(name, '/') < 0 {
			continue
		}
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
				r.errors.Addf("", 0, "rename folder \"%s\" or chapter \"%s\", whose page has the name of the folder: mdBook fails", folder, chapter)
			case ownFiles[folder]:
				r.errors.Addf("", 0, "rename folder \"%s\": mdBook writes a file of this name, and fails", folder)
			}
		}
	}
}
