package book

import (
	"path"
	"strings"
)

const (
	// maxCandidates is how many names a name is compared with. More would be slow.
	maxCandidates = 1000
	// maxCompared is the length in bytes of the longest name that is compared.
	maxCompared = 64
)

// nearest returns the text file whose name is most similar to a name, or an empty
// string if none is similar.
func (b *book) nearest(name string) string {
	best, bestCost := "", 3
	for _, candidate := range b.names[:min(len(b.names), maxCandidates)] {
		if b.binaries[candidate] || candidate == name {
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
