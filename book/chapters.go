package book

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/crossplane-contrib/function-markdownview/book/internal/markdown"
	"github.com/crossplane-contrib/function-markdownview/book/internal/problem"
	"github.com/crossplane-contrib/function-markdownview/book/internal/summary"
)

// checkSummary returns the chapters, and the files whose links in SUMMARY.md mdBook
// ignores. It reports the errors that keep mdBook from loading the chapters.
func checkSummary(x *index, r *report) (chapters []summary.Chapter, lost map[string]bool) {
	text, ok := x.Markdowns[summaryName]
	if !ok {
		if near := x.nearest(summaryName); strings.EqualFold(near, summaryName) {
			r.errors.Addf("", 0, "rename \"%s\" to %s, which lists the chapters", near, summaryName)
			return nil, nil
		}
		r.errors.Addf("", 0, "add %s, which lists the chapters in lines such as \"- [Title](file.md)\"", summaryName)

		return nil, nil
	}
	parsed := summary.Parse(text)
	if parsed.Problem.Message != "" {
		r.errors.Add(func() Problem { return parsed.Problem })
		return nil, nil
	}
	chapters = slices.DeleteFunc(parsed.Chapters, func(c summary.Chapter) bool { return c.Target == "" || !checkTarget(x, c, r) })
	if len(chapters) == 0 && len(r.errors.First) == 0 && len(parsed.Code) > 0 {
		code := parsed.Code[0]
		parsed.Code = nil
		r.errors.Add(func() Problem { return code })
	} else if len(chapters) == 0 && len(r.errors.First) == 0 {
		r.errors.Addf(summaryName, 0, "add a line such as \"- [Title](file.md)\": without a chapter, mdBook has no first page")
	}

	return chapters, warnIgnored(parsed, chapters, r)
}

// warnIgnored reports what mdBook ignores. It returns the files whose links it ignores.
func warnIgnored(parsed summary.Summary, chapters []summary.Chapter, r *report) map[string]bool {
	lost, listed := map[string]bool{}, map[string]bool{}
	if len(parsed.Lost) > 0 {
		for _, c := range chapters {
			listed[c.Name] = true
		}
	}
	for _, c := range parsed.Lost {
		lost[c.Name] = true
		if !markdown.HasScheme(c.Target) && !listed[c.Name] {
			r.warnings.Addf(summaryName, c.Line, "make the link to \"%s\" an item of its own, \"- [Title](file.md)\", "+
				"in the same list as the items above it, or after an empty line: mdBook ignores it", c.Target)
		}
	}
	for _, ignored := range slices.Concat(parsed.Code, parsed.Ignored) {
		r.warnings.Add(func() Problem { return ignored })
	}

	return lost
}

// checkTarget returns whether mdBook can read a chapter, and reports an error if not.
func checkTarget(x *index, c summary.Chapter, r *report) bool {
	_, exists := x.Markdowns[c.Name]
	switch {
	case markdown.HasScheme(c.Target) && !exists && !x.binaries[c.Name]:
		r.errors.Addf(summaryName, c.Line, "link to \"%s\" in a chapter instead: a chapter is a file, not a URL", c.Target)
	case strings.HasPrefix(c.Target, "/"):
		r.errors.Addf(summaryName, c.Line, "write the path of chapter \"%s\" relative to SUMMARY.md: it is outside of the book", c.Target)
	case strings.Contains("/"+c.Target+"/", "/../"):
		r.errors.Addf(summaryName, c.Line, "write the path of chapter \"%s\" without \"..\"", c.Target)
	case strings.HasSuffix(c.Target, "/"), strings.HasSuffix(c.Target, "/."), c.Target == ".":
		r.errors.Addf(summaryName, c.Line, "link to a file such as \"%s\": chapter \"%s\" is not a file", path.Join(c.Name, "README.md"), c.Target)
	case exists:
		if cause := unreachable(Page(c.Name)); cause != "" {
			r.errors.Addf(summaryName, c.Line, "rename chapter \"%s\": mdBook's links to it do not work, because its name %s", c.Target, cause)
			return false
		}

		return true
	case x.binaries[c.Name]:
		r.errors.Addf(summaryName, c.Line, "save chapter \"%s\" as UTF-8 text: mdBook cannot read it", c.Target)
	case strings.ContainsAny(c.Target, "#?"):
		r.errors.Addf(summaryName, c.Line, "write chapter \"%s\" without \"#\" or \"?\": a chapter is a whole file", c.Target)
	default:
		r.errors.Add(func() Problem { return missing(x, c) })
	}

	return false
}

func missing(x *index, c summary.Chapter) Problem {
	if decoded, err := url.PathUnescape(c.Target); err == nil && decoded != c.Target && x.has(summary.Clean(decoded)) {
		return problem.New(summaryName, c.Line, "write \"<%s>\" instead of \"%s\": mdBook decodes only %%20", decoded, c.Target)
	}
	if near := x.nearest(c.Name); near != "" {
		return problem.New(summaryName, c.Line, "write \"%s\" instead of \"%s\", which is not in the book", near, c.Target)
	}

	return problem.New(summaryName, c.Line, "add chapter \"%s\", or remove its link: the file is not in the book", c.Target)
}
