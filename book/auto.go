package book

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
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
		if ValidatePath(name) == nil {
			used[name] = true
			folders(name)
		}
	}
	for name := range files.Markdowns {
		if ValidatePath(name) != nil {
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
		if heading := title(files.Markdowns[name]); heading != "" {
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

const (
	// maxHead is how many bytes of a file are searched for its title.
	maxHead = 4096
	// maxHeading is how many bytes of a heading are read.
	maxHeading = 512
	// maxTitle is how many characters of a heading are shown in the menu.
	maxTitle = 120
)

// attributes matches the attributes that mdBook reads at the end of a heading.
var attributes = regexp.MustCompile(`\s*\{[^{}]*\}$`)

// title returns the title of the front matter or the text of the first heading, or an
// empty string.
func title(markdown string) string {
	if len(markdown) > maxHead {
		markdown = markdown[:maxHead]
		markdown = markdown[:strings.LastIndexByte(markdown, '\n')+1]
	}
	markdown = strings.TrimPrefix(markdown, "\ufeff")
	if _, title := frontMatter(markdown); title != "" {
		return shorten(title)
	}
	for r := range scan(markdown) {
		if r.kind == heading {
			if title := shorten(attributes.ReplaceAllString(strings.TrimSpace(plainText(r.target)), "")); title != "" {
				return title
			}
		}
	}

	return ""
}

// shorten returns a title on one line.
func shorten(title string) string {
	title = strings.Map(printable, strings.Join(strings.Fields(strings.ToValidUTF8(title, "")), " "))
	if runes := []rune(title); len(runes) > maxTitle {
		title = string(runes[:maxTitle]) + "…"
	}

	return strings.TrimSpace(title)
}

func printable(r rune) rune {
	if !unicode.IsPrint(r) {
		return -1
	}

	return r
}

// plainText returns the text of a heading without its markup. It is not exact: the text is
// only shown.
func plainText(heading string) string {
	raw := heading[:min(len(heading), maxHeading)]
	if !strings.ContainsAny(raw, "`*_[<\\~&") {
		return raw
	}
	var out strings.Builder
	target := -1 // Where the "]" of a link is.
	for i := 0; i < len(raw); {
		text, n := raw[i:i+1], 1
		switch c := raw[i]; {
		case i == target:
			text, n = "", 3+max(0, strings.IndexAny(raw[i+2:], ")]"))
		case c == '[' || c == '!' && strings.HasPrefix(raw[i+1:], "["):
			if end := i + strings.IndexByte(raw[i:]+"]", ']'); strings.HasPrefix(raw[min(end+1, len(raw)):], "(") {
				text, target = "", end
			}
		case c == '`', c == '<', c == '\\', c == '&':
			text, n = literalText(raw[i:])
		case c == '*', c == '_', c == '~':
			n = run(raw, i)
			if text = raw[i : i+n]; isEmphasis(raw, i, n) {
				text = ""
			}
		}
		out.WriteString(text)
		i += n
	}

	return out.String()
}

// literalText returns the text of the code span, tag, escaped character or character
// reference at the start of a text, and its length in the source.
func literalText(raw string) (string, int) {
	switch n := run(raw, 0); {
	case raw[0] == '`':
		if code, _, found := strings.Cut(raw[n:], raw[:n]); found {
			return strings.TrimSpace(code), len(code) + 2*n
		}
	case raw[0] == '<' && tagName(raw[1:]) != "":
		if end := strings.IndexByte(raw, '>'); end > 0 {
			return "", end + 1
		}
	case raw[0] == '\\' && len(raw) > 1:
		return unescape(raw[:2]), 2
	case raw[0] == '&':
		if reference := entity.FindString(raw); reference != "" {
			return unescape(reference), len(reference)
		}
	}

	return raw[:1], 1
}

// isEmphasis returns whether a run of n characters probably begins or ends emphasis.
func isEmphasis(raw string, at, n int) bool {
	before, after := at > 0 && isWord(raw[at-1]), at+n < len(raw) && isWord(raw[at+n])

	return strings.Count(raw, raw[at:at+1]) > n && (before || after) && (raw[at] != '_' || !before || !after) && (raw[at] != '~' || n == 2)
}

func isWord(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' || c >= 0x80 }
