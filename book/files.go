package book

import (
	"path"
	"slices"
	"strings"

	"github.com/crossplane-contrib/function-markdownview/book/internal/summary"
)

// summaryName is the file that lists the chapters.
const summaryName = summary.Name

// Files are the files of a book, by their path relative to the folder of SUMMARY.md.
type Files struct {
	// Markdowns are the contents of the text files, by name. They need not be Markdown.
	Markdowns map[string]string
	// Binaries are the names of the other files.
	Binaries []string
	// Shared has the names of the files that are in other ConfigMaps, so their keys
	// cannot conflict with those of the rest.
	Shared map[string]bool
	// Redirects maps pages that moved, such as "/old.html", to pages or URLs.
	Redirects map[string]string
}

// An index finds the files of a book by name.
type index struct {
	Files

	names    []string // The names of all files, sorted.
	binaries map[string]bool
}

func newIndex(files Files) *index {
	x := &index{
		Files:    files,
		names:    make([]string, 0, len(files.Markdowns)+len(files.Binaries)),
		binaries: make(map[string]bool, len(files.Binaries)),
	}
	for name := range files.Markdowns {
		x.names = append(x.names, name)
	}
	for _, name := range files.Binaries {
		x.names = append(x.names, name)
		x.binaries[name] = true
	}
	slices.Sort(x.names)

	return x
}

func (x *index) has(name string) bool {
	_, ok := x.Markdowns[name]
	return ok || x.binaries[name]
}

const (
	// maxCandidates is how many names a name is compared with. More would be slow.
	maxCandidates = 1000
	// maxCompared is the length in bytes of the longest name that is compared.
	maxCompared = 64
)

// nearest returns the text file whose name is most similar to a name, or an empty
// string if none is similar.
func (x *index) nearest(name string) string {
	if _, ok := x.Markdowns[name+".md"]; ok {
		return name + ".md"
	}
	best, bestCost := "", 3
	for _, candidate := range x.names[:min(len(x.names), maxCandidates)] {
		if x.binaries[candidate] || candidate == name {
			continue
		}
		cost := bestCost
		switch {
		case strings.EqualFold(candidate, name):
			cost = 0
		case candidate != summaryName && strings.EqualFold(path.Base(candidate), path.Base(name)):
			cost = 1
		case candidate != summaryName:
			cost = distance(candidate, name, bestCost)
		}
		if cost < bestCost {
			best, bestCost = candidate, cost
		}
	}

	return best
}

// distance returns how many bytes of two names differ, or maxCompared if they are too
// different. The limit is lower for short names, which are similar by chance.
func distance(a, b string, limit int) int {
	limit = min(limit, len(b)/3)
	if len(a) > maxCompared || len(b) > maxCompared || len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return maxCompared
	}
	var row [maxCompared + 1]int
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal, least := row[0], i+1
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
			least = min(least, cost)
		}
		if least >= limit {
			return maxCompared
		}
	}

	return row[len(b)]
}
