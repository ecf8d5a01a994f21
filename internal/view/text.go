package view

import (
	"strings"
)

// MessageControl is the error of text that is not plain.
const MessageControl = "remove the control character, which the API server would reject or change"

// Plain returns whether text is the same in JSON and in YAML. Crossplane sends
// objects as JSON, and the API server reads applied objects as YAML. YAML rejects most
// of U+007F to U+009F, U+FFFE and U+FFFF, and reads U+0085 as a blank. plain searches
// for single bytes, which is fast for a book of a million bytes.
func Plain(text string) bool {
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
