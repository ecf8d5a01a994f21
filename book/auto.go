package book

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/crossplane-contrib/function-markdownview/book/filename"
	"github.com/crossplane-contrib/function-markdownview/book/internal/markdown"
)

// Summary returns a SUMMARY.md that lists every Markdown file of the book by its path:
// the README.md or index.md of a folder first, as the parent chapter of the others. The
// title is the first heading of a file, or its name. Files that mdBook could not serve
// together with the others are omitted: Check warns about them.
func Summary(files Files) string {
	root := &folder{}
	for _, name := range listable(files) {
		root.add(name, name)
	}
	var out strings.Builder
	out.WriteString("# Summary\n\n")
	if root.index != "" {
		writeItem(&out, files, 0, root.index, "")
	}
	root.write(&out, files, 0)

	return out.String()
}

// listable returns the files that can be chapters together, sorted by path.
func listable(files Files) []string {
	var names []string
	used := map[string]bool{} // Pages, files and folders of the output.
	folders := func(name string) {
		for folder := path.Dir(name); folder != "." && !used[folder]; folder = path.Dir(folder) {
			used[folder] = true
		}
	}
	for _, name := range files.Binaries {
		if filename.Validate(name) == nil {
			used[name] = true
			folders(name)
		}
	}
	for name := range files.Markdowns {
		if filename.Validate(name) != nil {
			continue
		}
		folders(name)
		if !isMarkdown(name) {
			used[name] = true
		} else if name != summaryName {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, byPath)

	return slices.DeleteFunc(names, func(name string) bool {
		page := Page(name)
		out := used[page] || page == "404.html" || page == "print.html" || unreachable(page) != "" || inOwnFile(name)
		used[page] = used[page] || !out

		return out
	})
}

// inOwnFile returns whether a folder in the path has the name of a file of mdBook.
func inOwnFile(name string) bool {
	for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
		if ownFiles[folder] {
			return true
		}
	}

	return false
}

// byPath compares paths folder by folder, so that a/b comes before a-b.
func byPath(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}

func isIndex(name string) bool { return path.Base(Page(name)) == "index.html" }

// A folder is a folder of chapters.
type folder struct {
	name     string
	index    string
	children []*folder // A file is a folder with only an index.
}

// add adds a file at its path relative to the folder. Files must be added in the order of
// byPath.
func (f *folder) add(name, relative string) {
	first, rest, nested := strings.Cut(relative, "/")
	switch {
	case !nested && isIndex(name):
		f.index = name
		return
	case !nested:
		f.children = append(f.children, &folder{name: first, index: name})
		return
	}
	for _, child := range f.children[max(0, len(f.children)-1):] {
		if child.name == first {
			child.add(name, rest)
			return
		}
	}
	child := &folder{name: first}
	f.children = append(f.children, child)
	child.add(name, rest)
}

func (f *folder) write(out *strings.Builder, files Files, depth int) {
	for _, child := range f.children {
		writeItem(out, files, depth, child.index, child.name)
		child.write(out, files, depth+1)
	}
}

// writeItem writes a chapter, or a draft chapter for a folder without one.
func writeItem(out *strings.Builder, files Files, depth int, name, fallback string) {
	if name != "" {
		if fallback == "" {
			fallback = name
		}
		fallback = strings.TrimSuffix(fallback, ".md")
		if heading := markdown.Title(files.Markdowns[name]); heading != "" {
			fallback = heading
		}
	}
	fmt.Fprintf(out, "%s- [%s](%s)\n", strings.Repeat("  ", depth), escape(fallback, "\\`*_[]<>&"), destination(name))
}

var plain = regexp.MustCompile(`^[-._/\pL\pN]*$`)

// destination returns a path as a link destination that Markdown reads unchanged.
func destination(name string) string {
	if plain.MatchString(name) {
		return name
	}

	return "<" + escape(name, "\\`*_[]<>&!\"'()") + ">"
}

func escape(text, special string) string {
	var out strings.Builder
	for _, r := range text {
		if strings.ContainsRune(special, r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}

	return out.String()
}
