package book

import (
	"math"
	"net/url"
	"path"
	"strings"

	"github.com/crossplane-contrib/function-markdownview/book/internal/markdown"
	"github.com/crossplane-contrib/function-markdownview/book/internal/problem"
	"github.com/crossplane-contrib/function-markdownview/book/internal/summary"
)

// maxDefinitions is how many definitions of a chapter are checked.
const maxDefinitions = 1000

// A linkChecker finds links, images and includes of chapters that lead nowhere.
type linkChecker struct {
	*index
	*output

	included map[string]bool // Files that other files include.
	work     int             // How many bytes of names and links may still be read.
	report   *report

	path, page []byte // Scratch space.
}

// warnChapters reports links, images and includes of chapters that lead nowhere, front
// matter, and files that no page shows.
func warnChapters(x *index, out *output, chapters []summary.Chapter, lost map[string]bool, r *report) {
	l := &linkChecker{index: x, output: out, included: map[string]bool{}, work: 1 << 20, report: r}
	for _, text := range x.Markdowns {
		l.work += 4 * len(text)
	}
	for _, c := range chapters {
		if n, _ := markdown.FrontMatter(strings.TrimPrefix(x.Markdowns[c.Name], "\ufeff")); n > 0 {
			r.warnings.Addf(c.Name, 1, "mdBook shows the front matter on the page: remove lines 1 to %d", n)
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

	return &Site{&linkChecker{index: x, output: checkOutput(x, chapters, r)}}
}

// Dead returns why a link or an image of a chapter leads nowhere. It returns an empty string
// if it leads somewhere.
func (s *Site) Dead(chapter, target string) string {
	s.links.work = math.MaxInt
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

// warnLinks reports the links and images of a chapter that lead nowhere.
func (l *linkChecker) warnLinks(chapter string) {
	if !markdown.AnyTarget(l.Markdowns[chapter], func(target string) bool {
		_, isDead := l.dead(chapter, target)
		return isDead
	}) {
		return
	}
	before := l.report.warnings
	if dead := l.warnTargets(chapter, nil); len(dead) > 0 {
		l.report.warnings = before
		l.warnTargets(chapter, dead)
	}
}

// warnTargets reports the links and images of a chapter that lead nowhere, in the order of
// the text. defined are the targets of dead definitions by label. It returns those that
// the chapter has.
func (l *linkChecker) warnTargets(chapter string, defined map[string]string) (dead map[string]string) {
	seen := map[string]bool{}
	for r := range markdown.Scan(l.Markdowns[chapter]) {
		target := r.Target
		switch {
		case r.Kind == markdown.Heading, r.Kind == markdown.Use && defined == nil, r.Kind == markdown.Definition && (defined != nil || len(seen) == maxDefinitions):
			continue
		case r.Kind == markdown.Use:
			target = defined[normalizeLabel(r.Label)]
		}
		d, isDead := l.dead(chapter, target)
		switch {
		case l.work < 0:
			return dead
		case r.Kind == markdown.Definition:
			label := normalizeLabel(r.Label)
			if isDead && !seen[label] {
				if dead == nil {
					dead = map[string]string{}
				}
				dead[label] = target
			}
			seen[label] = true
		case isDead:
			l.report.warnings.Add(func() Problem { return d.problem(chapter, l.line(chapter, r.Offset)) })
		}
	}

	return dead
}

func normalizeLabel(label string) string {
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
	target   string
	path     string // What the target leads to.
	page     string // The page of a chapter that has another name, such as that of README.md.
	unlisted bool   // The file is in the book, but not in SUMMARY.md.
}

// problem describes the link at a line of a chapter.
func (d deadLink) problem(chapter string, line int) Problem {
	switch {
	case d.page != "":
		return problem.New(chapter, line, "the link to \"%s\" leads nowhere, because the page of README.md is %s: link to that", d.target, d.page)
	case d.unlisted:
		return problem.New(chapter, line, "the link to \"%s\" leads nowhere, because %s is not in SUMMARY.md: add it there", d.target, d.path)
	default:
		return problem.New(chapter, line, "the link to \"%s\" leads nowhere: %s is not in the book", d.target, d.path)
	}
}

// dead returns whether a link of a chapter leads nowhere, and why.
func (l *linkChecker) dead(chapter, target string) (deadLink, bool) {
	if !l.spend(64 + len(chapter) + len(target)) {
		return deadLink{}, false
	}
	if strings.ContainsAny(target, `\&`) {
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
	if i := strings.IndexAny(target, "#?"); i >= 0 {
		target = target[:i]
	}
	if strings.IndexByte(target, '%') >= 0 {
		if decoded, err := url.PathUnescape(target); err == nil {
			target = decoded
		}
	}
	l.path = l.path[:0]
	switch folder := chapter[:strings.LastIndexByte(chapter, '/')+1]; {
	case target[0] == '/':
		l.path = append(l.path, path.Clean(target)[1:]...)
	case target[0] == '.' || strings.Contains(target, "/.") || strings.Contains(target, "//") || strings.HasSuffix(target, "/"):
		l.path = append(l.path, path.Join("/", folder, target)[1:]...)
	default:
		l.path = append(append(l.path, folder...), target...)
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
				return problem.New(name, l.line(name, offset), "the included file \"%s\" is not in the book: %s is missing", target, resolved)
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
	listed := map[string]bool{summaryName: true, "404.md": true}
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
			l.report.warnings.Addf("", 0, "file \"%s\" is not in SUMMARY.md, so it has no page: add it there or remove it", name)
		}
	}
}
