package markdown

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/crossplane-contrib/function-markdownview/book/internal/frontmatter"
)

const (
	maxHead    = 4096 // Bytes of a file that are searched for its title.
	maxHeading = 512  // Bytes of a heading that are read.
	maxTitle   = 120  // Characters of a heading that the menu shows.
)

// attributes matches the attributes that mdBook reads at the end of a heading.
var attributes = regexp.MustCompile(`\s*\{[^{}]*\}$`)

// Title returns the title of the front matter or the text of the first heading, or an
// empty string.
func Title(markdown string) string {
	if len(markdown) > maxHead {
		markdown = markdown[:maxHead]
		markdown = markdown[:strings.LastIndexByte(markdown, '\n')+1]
	}
	markdown = strings.TrimPrefix(markdown, "\ufeff")
	if _, title := frontmatter.Read(markdown); title != "" {
		return shorten(title)
	}
	for r := range Scan(markdown) {
		if r.Kind == Heading {
			if title := shorten(attributes.ReplaceAllString(strings.TrimSpace(plainText(r.Target)), "")); title != "" {
				return title
			}
		}
	}

	return ""
}

// shorten returns a title on one line.
func shorten(title string) string {
	title = strings.Map(printable, strings.Join(strings.Fields(strings.ToValidUTF8(title, "")), " "))
	if runes := []rune(title); len(runes) > maxTitle {
		title = string(runes[:maxTitle]) + "…"
	}

	return strings.TrimSpace(title)
}

func printable(r rune) rune {
	if !unicode.IsPrint(r) {
		return -1
	}

	return r
}

// plainText returns the text of a heading without its markup. It is not exact: the text is
// only shown.
func plainText(heading string) string {
	raw := heading[:min(len(heading), maxHeading)]
	if !strings.ContainsAny(raw, "`*_[<\\~&") {
		return raw
	}
	var out strings.Builder
	target := -1 // Where the "]" of a link is.
	for i := 0; i < len(raw); {
		text, n := raw[i:i+1], 1
		switch c := raw[i]; {
		case i == target:
			text, n = "", 3+max(0, strings.IndexAny(raw[i+2:], ")]"))
		case c == '[' || c == '!' && strings.HasPrefix(raw[i+1:], "["):
			if end := i + strings.IndexByte(raw[i:]+"]", ']'); strings.HasPrefix(raw[min(end+1, len(raw)):], "(") {
				text, target = "", end
			}
		case c == '`', c == '<', c == '\\', c == '&':
			text, n = literalText(raw[i:])
		case c == '*', c == '_', c == '~':
			n = run(raw, i)
			if text = raw[i : i+n]; isEmphasis(raw, i, n) {
				text = ""
			}
		}
		out.WriteString(text)
		i += n
	}

	return out.String()
}

// literalText returns the text of the code span, tag, escaped character or character
// reference at the start of text, and its length in the source.
func literalText(raw string) (string, int) {
	switch n := run(raw, 0); {
	case raw[0] == '`':
		if code, _, found := strings.Cut(raw[n:], raw[:n]); found {
			return strings.TrimSpace(code), len(code) + 2*n
		}
	case raw[0] == '<' && tagName(raw[1:]) != "":
		if end := strings.IndexByte(raw, '>'); end > 0 {
			return "", end + 1
		}
	case raw[0] == '\\' && len(raw) > 1:
		return Unescape(raw[:2]), 2
	case raw[0] == '&':
		if reference := entity.FindString(raw); reference != "" {
			return Unescape(reference), len(reference)
		}
	}

	return raw[:1], 1
}

// isEmphasis returns whether a run of n characters probably begins or ends emphasis.
func isEmphasis(raw string, at, n int) bool {
	before, after := at > 0 && isWord(raw[at-1]), at+n < len(raw) && isWord(raw[at+n])

	return strings.Count(raw, raw[at:at+1]) > n && (before || after) && (raw[at] != '_' || !before || !after) && (raw[at] != '~' || n == 2)
}

func isWord(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' || c >= 0x80 }
