package book

import (
	"bytes"
	"net/url"
	"path"
	"strings"
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
func warnChapters(x *index, out *output, chapters []chapter, lost map[string]bool, r *report) {
	l := &linkChecker{index: x, output: out, included: map[string]bool{}, work: 1 << 20, report: r}
	for _, text := range x.Markdowns {
		l.work += 4 * len(text)
	}
	for _, c := range chapters {
		if n, _ := frontMatter(strings.TrimPrefix(x.Markdowns[c.name], "\ufeff")); n > 0 {
			r.warnings.addf(c.name, 1, "mdBook shows the front matter on the page: remove lines 1 to %d", n)
		}
		l.warnIncludes(c.name)
		l.warnLinks(c.name)
	}
	l.warnUnlisted(chapters, lost)
}

// warnLinks reports the links and images of a chapter that lead nowhere.
func (l *linkChecker) warnLinks(chapter string) {
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
	seen, definitions := map[string]bool{}, 0
	for r := range scan(l.Markdowns[chapter]) {
		target := r.target
		switch {
		case r.kind == heading, r.kind == use && defined == nil, r.kind == definition && (defined != nil || definitions == maxDefinitions):
			continue
		case r.kind == use:
			target = defined[normalizeLabel(r.label)]
		case r.kind == definition:
			definitions++
			label := normalizeLabel(r.label)
			if seen[label] {
				continue // The first one counts.
			}
			seen[label] = true
		}
		format, argument := l.dead(chapter, target)
		switch {
		case l.work < 0:
			return dead
		case r.kind == definition && format != "":
			if dead == nil {
				dead = map[string]string{}
			}
			dead[normalizeLabel(r.label)] = target
		case format != "":
			l.warnAt(chapter, r.offset, format, unescape(target), argument)
		}
	}

	return dead
}

func normalizeLabel(label string) string {
	if !strings.ContainsAny(label, space) {
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

// dead returns why a link of a chapter leads nowhere, as a format whose operands are the
// target and the argument. The format is empty if the link is not dead.
func (l *linkChecker) dead(chapter, target string) (format, argument string) {
	if !l.spend(64 + len(chapter) + len(target)) {
		return "", ""
	}
	if strings.ContainsAny(target, `\&`) {
		if target = unescape(target); !l.spend(16*len(target) + 256) {
			return "", ""
		}
	}
	if target == "" || target[0] == '#' || target[0] == '?' || strings.HasPrefix(target, "//") || hasScheme(target) {
		return "", ""
	}
	l.resolve(chapter, target)
	if l.leads() || !l.spend(256) {
		return "", ""
	}
	resolved := string(l.path)
	switch {
	case l.pages[Page(resolved)] == resolved && l.has(resolved):
		return "the link to \"%s\" leads nowhere, because the page of README.md is %s: link to that", path.Base(Page(resolved))
	case l.has(resolved):
		return "the link to \"%s\" leads nowhere, because %s is not in SUMMARY.md: add it there", resolved
	default:
		return "the link to \"%s\" leads nowhere: %s is not in the book", resolved
	}
}

// resolve sets the path that a relative or absolute target of a chapter leads to.
func (l *linkChecker) resolve(chapter, target string) {
	if i := strings.IndexAny(target, "#?"); i >= 0 {
		target = target[:i]
	}
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

// warnAt adds a warning about the text at an offset of a file.
func (l *linkChecker) warnAt(name string, offset int, format string, args ...any) {
	l.report.warnings.add(func() Problem {
		return problem(name, 1+strings.Count(l.Markdowns[name][:offset], "\n"), format, args...)
	})
}

// warnIncludes reports the files that a chapter includes and that are not in the book.
func (l *linkChecker) warnIncludes(name string) {
	for offset, target := range includes(l.Markdowns[name]) {
		if resolved := l.include(name, target); resolved != "" && !l.has(resolved) {
			l.warnAt(name, offset, "the included file \"%s\" is not in the book: %s is missing", target, resolved)
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
func (l *linkChecker) warnUnlisted(chapters []chapter, lost map[string]bool) {
	listed := map[string]bool{summaryName: true, "404.md": true}
	for _, c := range chapters {
		listed[c.name] = true
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
			l.report.warnings.addf("", 0, "file \"%s\" is not in SUMMARY.md, so it has no page: add it there or remove it", name)
		}
	}
}
