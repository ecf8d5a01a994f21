// Package book predicts what mdBook does with a set of files: which of them are
// chapters, which books mdBook cannot build or serves only in part, and which problems
// it ignores. It was written for mdBook 0.4.48 and 0.5.4, and test/book compares it with
// both.
//
// SUMMARY.md is parsed, within limits that bound the cost. Chapters are only scanned: see
// scan. What needs a full parser of Markdown is not checked, such as whether a link leads
// to a heading that exists.
//
// The same files give the same result. Nothing is cached. CPU time and memory are linear
// in the size of the files, even if somebody wrote them to be expensive.
package book

// Check returns the problems of a book. Errors keep mdBook from building the book or
// from serving a chapter. Warnings are about parts of a book that mdBook ignores or
// does not serve as their author probably intended.
func Check(files Files) (errors, warnings Problems) {
	r := &report{}
	x := newIndex(files)
	checkNames(x, r)
	chapters, lost := checkSummary(x, r)
	out := checkOutput(x, chapters, r)
	if len(r.errors.First) == 0 {
		warnChapters(x, out, chapters, lost, r)
	}

	return r.errors, r.warnings
}

// Chapters returns the files that are chapters, in order.
func Chapters(files Files) []string {
	chapters, _ := checkSummary(newIndex(files), &report{})
	names := make([]string, 0, len(chapters))
	for _, c := range chapters {
		names = append(names, c.Name)
	}

	return names
}
