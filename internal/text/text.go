// Package text shortens what others wrote.
package text

import "strings"

// Cut returns at most the first bytes of text, with an ellipsis if there are more.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}

	return strings.ToValidUTF8(text[:most], "") + "…"
}
