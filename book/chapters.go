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
			r.errors.Addf("", 0, "%s is missing: rename \"%s\"", summaryName, near)
			return nil, nil
		}
		r.errors.Addf("", 0, "%s is missing: add one that lists the chapters, such as \"- [Title](file.md)\"", summaryName)

		return nil, nil
	}
	parsed := summary.Parse(text)
	if parsed.Problem.Message != "" {
		r.errors.Add(func() Problem { return parsed.Problem })
		return nil, nil
	}
	listed := map[string]bool{}
	for _, c := range parsed.Chapters {
		if c.Target != "" && checkTarget(x, &c, r) {
			chapters = append(chapters, c)
			listed[c.Name] = true
		}
	}
	if len(chapters) == 0 && len(r.errors.First) == 0 && len(parsed.Code) > 0 {
		code := parsed.Code[0]
		parsed.Code = nil
		r.errors.Add(func() Problem { return code })
	} else if len(chapters) == 0 && len(r.errors.First) == 0 {
		r.errors.Addf(summaryName, 0, "it lists no chapter, so mdBook has no first page: add a line such as \"- [Title](file.md)\"")
	}

	return chapters, warnIgnored(parsed, listed, r)
}

// warnIgnored reports what mdBook ignores. It returns the files whose links it ignores.
func warnIgnored(parsed summary.Summary, listed map[string]bool, r *report) map[string]bool {
	lost := map[string]bool{}
	for _, c := range parsed.Lost {
		lost[c.Name] = true
		if !markdown.HasScheme(c.Target) && !listed[c.Name] {
			r.warnings.Addf(summaryName, c.Line, "mdBook ignores the link to \"%s\": make it an item of its own, \"- [Title](file.md)\", "+
				"in the same list as the items above it, or after an empty line", c.Target)
		}
	}
	for _, ignored := range slices.Concat(parsed.Code, parsed.Ignored) {
		r.warnings.Add(func() Problem { return ignored })
	}

	return lost
}

// checkTarget returns whether mdBook can read a chapter, and reports an error if not.
func checkTarget(x *index, c *summary.Chapter, r *report) bool {
	_, exists := x.Markdowns[c.Name]
	switch {
	case markdown.HasScheme(c.Target) && !exists && !x.binaries[c.Name]:
		r.errors.Addf(summaryName, c.Line, "\"%s\" is a URL, but a chapter is a file in spec.markdowns: link to the URL from a chapter", c.Target)
	case strings.HasPrefix(c.Target, "/"):
		r.errors.Addf(summaryName, c.Line, "chapter \"%s\" is outside of the book: write a path relative to SUMMARY.md", c.Target)
	case strings.Contains("/"+c.Target+"/", "/../"):
		r.errors.Addf(summaryName, c.Line, "chapter \"%s\" contains \"..\": write a path without it", c.Target)
	case strings.HasSuffix(c.Target, "/"), strings.HasSuffix(c.Target, "/."), c.Target == ".":
		r.errors.Addf(summaryName, c.Line, "chapter \"%s\" is not a file: link to a file such as \"%s\"", c.Target, path.Join(c.Name, "README.md"))
	case exists:
		if cause := unreachable(Page(c.Name)); cause != "" {
			r.errors.Addf(summaryName, c.Line, "chapter \"%s\": mdBook's links to it do not work because its name %s: rename the file", c.Target, cause)
			return false
		}

		return true
	case x.binaries[c.Name]:
		r.errors.Addf(summaryName, c.Line, "chapter \"%s\" is not UTF-8 text: save it as UTF-8", c.Target)
	case strings.ContainsAny(c.Target, "#?"):
		r.errors.Addf(summaryName, c.Line, "chapter \"%s\" contains \"#\" or \"?\", but a chapter is a whole file: link to the file alone", c.Target)
	default:
		r.errors.Add(func() Problem { return missing(x, c) })
	}

	return false
}

func missing(x *index, c *summary.Chapter) Problem {
	message := "chapter \"" + problem.Display(c.Target) + "\" is not in spec.markdowns: "
	if decoded, err := url.PathUnescape(c.Target); err == nil && decoded != c.Target && x.has(summary.Clean(decoded)) {
		message += "did you mean \"<" + problem.Display(decoded) + ">\"? mdBook decodes only %20"
	} else if near := x.nearest(c.Name); near != "" {
		message += "did you mean \"" + problem.Display(near) + "\"?"
	} else {
		message += "add the file or remove the link"
	}

	return Problem{File: summaryName, Line: c.Line, Message: message}
}
