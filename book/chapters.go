package book

import (
	"net/url"
	"path"
	"slices"
	"strings"
)

// checkSummary returns the chapters, and the files whose links in SUMMARY.md mdBook
// ignores. It reports the errors that keep mdBook from loading the chapters.
func checkSummary(x *index, r *report) (chapters []chapter, lost map[string]bool) {
	summary, ok := x.Markdowns[summaryName]
	if !ok {
		if near := x.nearest(summaryName); strings.EqualFold(near, summaryName) {
			r.errors.addf("", 0, "%s is missing: rename \"%s\"", summaryName, near)
			return nil, nil
		}
		r.errors.addf("", 0, "%s is missing: add one that lists the chapters, such as \"- [Title](file.md)\"", summaryName)

		return nil, nil
	}
	parsed := parseSummary(summary)
	if parsed.problem.Message != "" {
		r.errors.add(func() Problem { return parsed.problem })
		return nil, nil
	}
	listed := map[string]bool{}
	for _, c := range parsed.chapters {
		if c.target != "" && checkTarget(x, &c, r) {
			chapters = append(chapters, c)
			listed[c.name] = true
		}
	}
	if len(chapters) == 0 && len(r.errors.First) == 0 && len(parsed.code) > 0 {
		code := parsed.code[0]
		parsed.code = nil
		r.errors.add(func() Problem { return code })
	} else if len(chapters) == 0 && len(r.errors.First) == 0 {
		r.errors.addf(summaryName, 0, "it lists no chapter, so mdBook has no first page: add a line such as \"- [Title](file.md)\"")
	}

	return chapters, warnIgnored(parsed, listed, r)
}

// warnIgnored reports what mdBook ignores. It returns the files whose links it ignores.
func warnIgnored(parsed parsedSummary, listed map[string]bool, r *report) map[string]bool {
	lost := map[string]bool{}
	for _, c := range parsed.lost {
		lost[clean(c.target)] = true
		if !hasScheme(c.target) && !listed[clean(c.target)] {
			r.warnings.addf(summaryName, c.line, "mdBook ignores the link to \"%s\": make it an item of its own, \"- [Title](file.md)\", "+
				"in the same list as the items above it, or after an empty line", c.target)
		}
	}
	for _, ignored := range slices.Concat(parsed.code, parsed.ignored) {
		r.warnings.add(func() Problem { return ignored })
	}

	return lost
}

// checkTarget returns whether mdBook can read a chapter, and reports an error if not.
func checkTarget(x *index, c *chapter, r *report) bool {
	c.name = clean(c.target)
	_, exists := x.Markdowns[c.name]
	switch {
	case hasScheme(c.target) && !exists && !x.binaries[c.name]:
		r.errors.addf(summaryName, c.line, "\"%s\" is a URL, but a chapter is a file in spec.markdowns: link to the URL from a chapter", c.target)
	case strings.HasPrefix(c.target, "/"):
		r.errors.addf(summaryName, c.line, "chapter \"%s\" is outside of the book: write a path relative to SUMMARY.md", c.target)
	case strings.Contains("/"+c.target+"/", "/../"):
		r.errors.addf(summaryName, c.line, "chapter \"%s\" contains \"..\": write a path without it", c.target)
	case strings.HasSuffix(c.target, "/"), strings.HasSuffix(c.target, "/."), c.target == ".":
		r.errors.addf(summaryName, c.line, "chapter \"%s\" is not a file: link to a file such as \"%s\"", c.target, path.Join(c.name, "README.md"))
	case exists:
		if cause := unreachable(Page(c.name)); cause != "" {
			r.errors.addf(summaryName, c.line, "chapter \"%s\": mdBook's links to it do not work because its name %s: rename the file", c.target, cause)
			return false
		}

		return true
	case x.binaries[c.name]:
		r.errors.addf(summaryName, c.line, "chapter \"%s\" is not UTF-8 text: save it as UTF-8", c.target)
	case strings.ContainsAny(c.target, "#?"):
		r.errors.addf(summaryName, c.line, "chapter \"%s\" contains \"#\" or \"?\", but a chapter is a whole file: link to the file alone", c.target)
	default:
		r.errors.add(func() Problem { return missing(x, c) })
	}

	return false
}

func missing(x *index, c *chapter) Problem {
	message := "chapter \"" + display(c.target) + "\" is not in spec.markdowns: "
	if decoded, err := url.PathUnescape(c.target); err == nil && decoded != c.target && x.has(clean(decoded)) {
		message += "did you mean \"<" + display(decoded) + ">\"? mdBook decodes only %20"
	} else if near := x.nearest(c.name); near != "" {
		message += "did you mean \"" + display(near) + "\"?"
	} else {
		message += "add the file or remove the link"
	}

	return Problem{File: summaryName, Line: c.line, Message: message}
}

// clean removes "." and empty segments, as a file system does.
func clean(target string) string {
	if !strings.Contains(target, "./") && !strings.Contains(target, "//") && !strings.HasPrefix(target, ".") {
		return target
	}
	var kept []string
	for segment := range strings.SplitSeq(target, "/") {
		if segment != "" && segment != "." {
			kept = append(kept, segment)
		}
	}

	return strings.Join(kept, "/")
}
