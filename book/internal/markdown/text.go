package markdown

import (
	htmlpkg "html"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/util"
)

var entity = regexp.MustCompile(`^&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]*);`)

// Unescape resolves backslashes and character references, which a parser leaves to its
// renderer.
func Unescape(raw string) string {
	if !strings.ContainsAny(raw, `\&`) {
		return raw
	}
	var out strings.Builder
	for i := 0; i < len(raw); i++ {
		switch {
		case raw[i] == '\\' && i+1 < len(raw) && util.IsPunct(raw[i+1]):
			i++
			out.WriteByte(raw[i])
		case raw[i] == '&':
			reference := entity.FindString(raw[i:min(len(raw), i+40)])
			resolved := htmlpkg.UnescapeString(reference)
			if reference == "" || len(resolved) > 1 && strings.HasSuffix(resolved, ";") {
				reference, resolved = "&", "&" // Such as &ampx;, of which HTML reads &amp.
			}
			out.WriteString(resolved)
			i += len(reference) - 1
		default:
			out.WriteByte(raw[i])
		}
	}

	return out.String()
}

// Marker returns the width of the list marker at the start of text, or 0.
func Marker(text string) int {
	digits := 0
	for digits < len(text) && digits < 10 && '0' <= text[digits] && text[digits] <= '9' {
		digits++
	}
	if digits == len(text) || digits == 10 {
		return 0
	}
	switch c := text[digits]; {
	case digits == 0 && c != '-' && c != '+' && c != '*', digits > 0 && c != '.' && c != ')':
		return 0
	case digits+1 == len(text), strings.IndexByte(" \t\r\n", text[digits+1]) >= 0:
		return digits + 1
	default:
		return 0
	}
}

// HasScheme returns whether a target is a URL with a scheme, such as https:.
func HasScheme(target string) bool {
	for i, c := range []byte(target) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case c == ':' && i > 0:
			return true
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '.' || c == '-'):
		default:
			return false
		}
	}

	return false
}

// run returns how often the character at an offset is repeated.
func run(text string, at int) int {
	n := 1
	for at+n < len(text) && text[at+n] == text[at] {
		n++
	}

	return n
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
