package book

import (
	"bytes"
	"math"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/crossplane-contrib/function-markdownview/book/filename"
	"github.com/crossplane-contrib/function-markdownview/book/internal/frontmatter"
	"github.com/crossplane-contrib/function-markdownview/book/internal/markdown"
	"github.com/crossplane-contrib/function-markdownview/book/internal/problem"
	"github.com/crossplane-contrib/function-markdownview/book/internal/summary"
)

// maxDefinitions is how many definitions of a chapter are checked, and how many of their uses.
const maxDefinitions = 1000

// maxTarget is the length in bytes of the longest target that is checked. With a fragment, it
// can be longer than a path.
const maxTarget = 4 * filename.MaxLength

// A linkChecker finds links, images and includes of chapters that lead nowhere.
type linkChecker struct {
	*index
	*output

	included map[string]bool // Files that other files include.
	work     int             // How many bytes of names and links may still be read.
	report   *report

	// Scratch space. defined has the definitions of a chapter by label; the target of those
	// that lead somewhere is empty.
	path, page []byte
	defined    map[string]deadLink
	uses       []markdown.Reference
	found      []deadLink
}

// warnChapters reports links, images and includes of chapters that lead nowhere, front
// matter, and files that no page shows.
func warnChapters(x *index, out *output, chapters []summary.Chapter, lost map[string]bool, r *report) {
	l := &linkChecker{index: x, output: out, included: map[string]bool{}, defined: map[string]deadLink{}, work: 1 << 20, report: r}
	for _, text := range x.Markdowns {
		l.work += 4 * len(text)
	}
	for _, c := range chapters {
		if n, _ := frontmatter.Read(strings.TrimPrefix(x.Markdowns[c.Name], "\ufeff")); n > 0 {
			r.warnings.Addf(c.Name, 1, "remove lines 1 to %d: mdBook shows the front matter on the page", n)
		}
		l.warnIncludes(c.Name)
		l.warnLinks(c.Name)
	}
	l.warnUnlisted(chapters, lost)
}

// A Site says where the links of a book lead. Unlike Check, it does not limit the work.
type Site struct{ links *linkChecker }

// NewSite returns the Site of a book.
func NewSite(files Files) *Site {
	x, r := newIndex(files), &report{}
	chapters, _ := checkSummary(x, r)

	return &Site{&linkChecker{index: x, output: checkOutput(x, chapters, r), work: math.MaxInt}}
}

// Dead returns why a link or an image of a chapter leads nowhere. It returns an empty string
// if it leads somewhere.
func (s *Site) Dead(chapter, target string) string {
	d, isDead := s.links.dead(chapter, target)
	if !isDead {
		return ""
	}

	return d.problem(chapter, 0).Message
}

// Chapter returns the chapter whose page a link of a chapter leads to. It returns an empty
// string if the link leads elsewhere.
func (s *Site) Chapter(chapter, target string) string {
	switch target = markdown.Unescape(target); {
	case target == "", strings.HasPrefix(target, "//"), markdown.HasScheme(target):
		return ""
	case target[0] == '#', target[0] == '?':
		return chapter
	}
	s.links.resolve(chapter, target)
	if !s.links.leads() {
		return ""
	}

	return s.links.pages[string(s.links.page)]
}

// warnLinks reports the links and images of a chapter that lead nowhere, in the order of the
// text. A use of a definition may precede it, so uses are checked last.
func (l *linkChecker) warnLinks(chapter string) {
	if !markdown.AnyTarget(l.Markdowns[chapter], func(target string) bool {
		_, isDead := l.dead(chapter, target)
		return isDead
	}) {
		return
	}
	clear(l.defined)
	l.uses, l.found = l.uses[:0], l.found[:0]
	definitions, links := 0, 0
	for r := range markdown.Scan(l.Markdowns[chapter]) {
		if l.work < 0 {
			break
		}
		switch {
		case r.Kind == markdown.Use && len(l.uses) < maxDefinitions:
			l.uses = append(l.uses, r)
		case r.Kind == markdown.Definition && definitions < maxDefinitions:
			definitions++
			if _, before := l.defined[normalizeLabel(r.Label)]; !before { // The first one counts.
				l.defined[normalizeLabel(r.Label)], _ = l.dead(chapter, r.Target)
			}
		case r.Kind == markdown.Link, r.Kind == markdown.Attribute:
			d, isDead := l.dead(chapter, r.Target)
			if !isDead {
				continue
			}
			if links++; links <= problem.Most {
				d.offset = r.Offset
				l.found = append(l.found, d)
			}
		}
	}
	for _, use := range l.uses {
		if d := l.defined[normalizeLabel(use.Label)]; d.target != "" {
			d.offset = use.Offset
			l.found = append(l.found, d)
		}
	}
	slices.SortStableFunc(l.found, func(a, b deadLink) int { return a.offset - b.offset })
	for _, d := range l.found {
		l.report.warnings.Add(func() Problem { return d.problem(chapter, l.line(chapter, d.offset)) })
	}
	l.report.warnings.More += max(0, links-problem.Most)
}

func normalizeLabel(label string) string {
	if !strings.ContainsAny(label, " \t\r\n") {
		return strings.ToLower(label)
	}

	return strings.ToLower(strings.Join(strings.Fields(label), " "))
}

// spend returns whether so much work may be done. The limit is far above the work for a
// book that people wrote.
func (l *linkChecker) spend(n int) bool {
	l.work -= n
	return l.work >= 0
}

// A deadLink is a link that leads nowhere.
type deadLink struct {
	offset   int // In the chapter.
	target   string
	path     string // What the target leads to.
	page     string // The page of a chapter that has another name, such as that of README.md.
	unlisted bool   // The file is in the book, but not in SUMMARY.md.
}

// problem describes the link at a line of a chapter.
func (d deadLink) problem(chapter string, line int) Problem {
	switch {
	case d.page != "":
		return problem.New(chapter, line, "link to %s instead of \"%s\": mdBook gives the page of a README.md this name", d.page, d.target)
	case d.unlisted:
		return problem.New(chapter, line, "add %s to SUMMARY.md: it has no page, so the link to \"%s\" leads nowhere", d.path, d.target)
	default:
		return problem.New(chapter, line, "fix the link to \"%s\", which leads nowhere, or add %s to the book", d.target, d.path)
	}
}

// dead returns whether a link of a chapter leads nowhere, and why.
func (l *linkChecker) dead(chapter, target string) (deadLink, bool) {
	if len(target) > maxTarget || !l.spend(64+len(chapter)+len(target)) {
		return deadLink{}, false
	}
	if strings.IndexByte(target, '\\') >= 0 || strings.IndexByte(target, '&') >= 0 {
		if target = markdown.Unescape(target); !l.spend(16*len(target) + 256) {
			return deadLink{}, false
		}
	}
	if target == "" || target[0] == '#' || target[0] == '?' || strings.HasPrefix(target, "//") || markdown.HasScheme(target) {
		return deadLink{}, false
	}
	l.resolve(chapter, target)
	if l.leads() || !l.spend(256) {
		return deadLink{}, false
	}
	d := deadLink{target: target, path: string(l.path)}
	d.unlisted = l.has(d.path)
	if page := Page(d.path); d.unlisted && l.pages[page] == d.path {
		d.page = path.Base(page)
	}

	return d, true
}

// resolve sets the path that a relative or absolute target of a chapter leads to.
func (l *linkChecker) resolve(chapter, target string) {
	target, _, _ = strings.Cut(target, "#")
	target, _, _ = strings.Cut(target, "?")
	if strings.IndexByte(target, '%') >= 0 && l.spend(64) {
		if decoded, err := url.PathUnescape(target); err == nil {
			target = decoded
		}
	}
	folder := chapter[:strings.LastIndexByte(chapter, '/')+1]
	if l.path = l.path[:0]; target[0] != '.' && strings.IndexByte(target, '/') < 0 {
		l.path = append(append(l.path, folder...), target...)
		return
	}
	for first, rest, _ := strings.Cut(target, "/"); first == "." || first == ".."; first, rest, _ = strings.Cut(target, "/") {
		if target = strings.TrimLeft(rest, "/"); first == ".." {
			folder = folder[:strings.LastIndexByte(strings.TrimSuffix(folder, "/"), '/')+1]
		}
	}
	switch {
	case strings.HasPrefix(target, "/"), strings.Contains(target, "/."), strings.Contains(target, "//"):
		if strings.HasPrefix(target, "/") {
			folder = ""
		}
		if l.spend(64) {
			l.path = append(l.path, path.Join("/", folder, target)[1:]...)
		}
	default:
		l.path = append(append(l.path, folder...), target...)
		l.path = bytes.TrimSuffix(l.path, []byte("/"))
	}
}

// leads returns whether mdBook serves the path. It links to a page with the name of the
// file, even if the page has another name.
func (l *linkChecker) leads() bool {
	n := len(l.path)
	if n == 0 {
		return true
	}
	l.page = append(l.page[:0], l.path...)
	if n > 3 && l.path[n-4] != '/' && string(l.path[n-3:]) == ".md" {
		l.page = append(l.page[:n-3], ".html"...)
	}
	if _, ok := l.pages[string(l.page)]; ok || l.copies[string(l.page)] || ownFiles[string(l.page)] {
		return true
	}
	l.page = append(l.page, "/index.html"...)
	_, ok := l.pages[string(l.page)]

	return ok || l.copies[string(l.page)]
}

// line returns the line of an offset of a file.
func (l *linkChecker) line(name string, offset int) int {
	return 1 + strings.Count(l.Markdowns[name][:offset], "\n")
}

// warnIncludes reports the files that a chapter includes and that are not in the book.
func (l *linkChecker) warnIncludes(name string) {
	for offset, target := range includes(l.Markdowns[name]) {
		if resolved := l.include(name, target); resolved != "" && !l.has(resolved) {
			l.report.warnings.Add(func() Problem {
				return problem.New(name, l.line(name, offset), "fix the include of \"%s\", or add %s to the book: the file does not exist", target, resolved)
			})
		}
	}
}

// include notes that a file includes another, and returns the path of that. The path is
// empty if there are too many includes.
func (l *linkChecker) include(name, target string) string {
	if !l.spend(256 + len(name)) {
		return ""
	}
	resolved := target
	if !strings.HasPrefix(target, "/") {
		resolved = path.Join(path.Dir(name), target)
	}
	if l.has(resolved) {
		l.included[resolved] = true
	}

	return resolved
}

// warnUnlisted reports Markdown files that no page shows.
func (l *linkChecker) warnUnlisted(chapters []summary.Chapter, lost map[string]bool) {
	listed := make(map[string]bool, len(chapters)+2)
	listed[summaryName], listed["404.md"] = true, true
	for _, c := range chapters {
		listed[c.Name] = true
	}
	for name, text := range l.Markdowns {
		if !listed[name] { // Files that chapters include are already in included.
			for _, target := range includes(text) {
				l.include(name, target)
			}
		}
	}
	for _, name := range l.names {
		if isMarkdown(name) && !listed[name] && !l.included[name] && !lost[name] {
			l.report.warnings.Addf("", 0, "add file \"%s\" to SUMMARY.md, or remove it: it has no page", name)
		}
	}
}
