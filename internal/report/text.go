package report

import (
	"strings"
	"unicode"

	"github.com/crossplane-contrib/function-markdownview/internal/text"
)

// Short returns the beginning of what an error quotes, which may be a whole
// book.
func Short(quoted string) string {
	return text.Cut(quoted, 80)
}

// Line returns text for a message: on one line, and not too long to read. Others may
// have written parts of it.
func Line(message string) string {
	return LineOf(message, 1000)
}

// LineOf is line with another maximum length. It returns its own results unchanged.
func LineOf(message string, most int) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}

		return ' '
	}, text.Cut(message, most))
}

// Choice returns how to fix a value that matches none of the patterns.
func Choice(what string, patterns []string) string {
	if len(patterns) == 0 {
		return "remove it: the Composition allows none"
	}

	return "name " + what + " that matches " + strings.Join(patterns, " or ")
}
