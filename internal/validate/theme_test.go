package validate

import (
	"strings"
	"testing"
)

func TestValidateTheme(t *testing.T) {
	full := strings.Repeat("x", 100<<10)
	checkFields(t, map[string]fieldCase{
		"Most": {reason: "Files of 128 KiB", input: `{theme: {book.js: ` + full + `, css/print.css: ` + full[:28<<10] + `}}`},
		"Large": {
			reason: "A pod has at most 256 KiB of annotations",
			input:  `{theme: {book.js: ` + full + `, head.hbs: ` + full[:28<<10+1] + `}}`,
			want: "input.theme: Forbidden: shorten the files, or serve them elsewhere and link to them in head.hbs: " +
				"they have more than 128 KiB (131072 bytes)",
		},
		"Unknown": {
			reason: "mdBook would ignore the file", input: `{theme: {css/custom.css: ""}}`,
			want: `input.theme: Unsupported value: "css/custom.css": supported values: "ayu-highlight.css", "book.js", …`,
		},
		"Control": {
			reason: "The API server would change the text", input: `{theme: {head.hbs: "\x85"}}`,
			want: "input.theme[head.hbs]: Invalid value: remove the control character, which the API server would reject or change",
		},
	})
}
