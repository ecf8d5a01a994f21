package report

import (
	"strings"
	"unicode"
)

// Short returns the beginning of a text that an error quotes. The text may be a whole
// book.
func Short(text string) string {
	return Cut(text, 80)
}

// Line returns a text for a message: on one line, and not too long to read. Others may
// have written parts of it.
func Line(text string) string {
	return LineOf(text, 1000)
}

// LineOf is line with another maximum length. It returns its own results unchanged.
func LineOf(text string, most int) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}

		return ' '
	}, Cut(text, most))
}

// Cut returns at most the first bytes of a text, with an ellipsis if there are more.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}

	return strings.ToValidUTF8(text[:most], "") + "…"
}

// Choice returns how to fix a value that matches none of the patterns.
func Choice(what string, patterns []string) string {
	if len(patterns) == 0 {
		return "remove it: the Composition allows none"
	}

	return "name " + what + " that matches " + strings.Join(patterns, " or ")
}
