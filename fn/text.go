package fn

import (
	"strings"
	"unicode"
)

// short returns the beginning of a text that is quoted in an error, which may be
// a whole book.
func short(text string) string {
	return cut(text, 80)
}

// line returns a text, of which others may have written parts, as it is shown in
// a message: on one line, and not too long to be read.
func line(text string) string {
	return lineOf(text, 1000)
}

// lineOf is line for a text of another length. For a line it returns that line.
func lineOf(text string, most int) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}

		return ' '
	}, cut(text, most))
}

// cut returns at most the first bytes of a text.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}

	return strings.ToValidUTF8(text[:most], "") + "…"
}

// choice returns how to fix a value that must match one of some patterns.
func choice(what string, patterns []string) string {
	if len(patterns) == 0 {
		return "remove it"
	}

	return "name " + what + " that matches " + strings.Join(patterns, " or ")
}

// plain returns whether a text is the same in JSON and in YAML. Crossplane sends
// objects as JSON, and the API server reads what is applied as YAML, which differs
// in some characters: YAML rejects most of U+007F to U+009F, U+FFFE and U+FFFF,
// and makes a blank of U+0085. It looks for single bytes, which is fast: a book
// has up to a million.
func plain(text string) bool {
	if strings.IndexByte(text, 0x7f) >= 0 {
		return false
	}
	// In UTF-8 the characters from U+0080 to U+00BF begin with this byte, and those
	// from U+FFC0 to U+FFFF with these two.
	for _, rest, ok := strings.Cut(text, "\xc2"); ok; _, rest, ok = strings.Cut(rest, "\xc2") {
		if rest != "" && rest[0] < 0xa0 {
			return false
		}
	}
	for _, rest, ok := strings.Cut(text, "\xef\xbf"); ok; _, rest, ok = strings.Cut(rest, "\xef\xbf") {
		if rest != "" && rest[0] >= 0xbe {
			return false
		}
	}

	return true
}
