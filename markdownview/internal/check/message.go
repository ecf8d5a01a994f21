package check

import (
	"regexp"
	"slices"
	"strings"

	"github.com/crossplane-contrib/function-markdownview/book"
	reports "github.com/crossplane-contrib/function-markdownview/internal/report"
)

// pieces splits a message of the function into its problems. Those of the book are known,
// because the text of a book can have any character.
func pieces(message, prefix string, known []book.Problem) (all []string) {
	texts := make([]string, 0, len(known))
	for _, p := range known {
		texts = append(texts, reports.Line(prefix+p.String()))
	}
	slices.SortFunc(texts, func(a, b string) int { return len(b) - len(a) })
	for _, text := range texts {
		before, after, found := strings.Cut(message, text)
		if found {
			all = append(all, text)
			message = before + "\n" + after // No other text has a line feed.
		}
	}
	for piece := range strings.SplitSeq(message, "; ") {
		switch {
		case piece == "\n", piece == "":
		case len(all) == 0, piece == "and more", startsField.MatchString(piece), startsMore.MatchString(piece):
			all = append(all, piece)
		default:
			all[len(all)-1] += "; " + piece
		}
	}

	return all
}

var (
	startsField = regexp.MustCompile(`^(?:spec|input|metadata|apiVersion|kind)\b[^ ]*:`)
	startsMore  = regexp.MustCompile(`^and [0-9]+ more`)
)
