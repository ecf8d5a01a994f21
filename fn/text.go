package fn

import (
	"strings"
	"unicode"
)

// short returns the beginning of a text that an error quotes. The text may be a whole
// book.
func short(text string) string {
	return cut(text, 80)
}

// line returns a text for a message: on one line, and not too long to read. Others may
// have written parts of it.
func line(text string) string {
	return lineOf(text, 1000)
}

// lineOf is line with another maximum length. It returns its own results unchanged.
func lineOf(text string, most int) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}

		return ' '
	}, cut(text, most))
}

// cut returns at most the first bytes of a text, with an ellipsis if there are more.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}

	return strings.ToValidUTF8(text[:most], "") + "…"
}

// choice returns how to fix a value that matches none of the patterns.
func choice(what string, patterns []string) string {
	if len(patterns) == 0 {
		return "remove it"
	}

	return "name " + what + " that matches " + strings.Join(patterns, " or ")
}

// plain returns whether a text is the same in JSON and in YAML. Crossplane sends
// objects as JSON, and the API server reads applied objects as YAML. YAML rejects most
// of U+007F to U+009F, U+FFFE and U+FFFF, and reads U+0085 as a blank. plain searches
// for single bytes, which is fast for a book of a million bytes.
func plain(text string) bool {
	if strings.IndexByte(text, 0x7f) >= 0 {
		return false
	}
	// In UTF-8 the characters from U+0080 to U+00BF begin with the byte c2, and those
	// from U+FFC0 to U+FFFF with ef bf.
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
