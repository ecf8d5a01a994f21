// Package frontmatter reads front matter, which other programs put before the text of a
// chapter.
package frontmatter

import "strings"

// Max is how many bytes are searched for the end of front matter.
const Max = 4096

// Read returns the number of lines of the front matter at the start of text, and
// its title. It returns 0 if there is none. mdBook does not support front matter.
func Read(text string) (lines int, title string) {
	if !strings.HasPrefix(text, "---") {
		return 0, ""
	}
	keys := false
	for line := range strings.Lines(text[:min(len(text), Max)]) {
		lines++
		trimmed := strings.TrimSpace(line)
		key, value, found := strings.Cut(trimmed, ":")
		switch {
		case lines == 1 && trimmed != "---":
			return 0, ""
		case keys && (trimmed == "---" || trimmed == "..."):
			return lines, title
		case lines == 1, trimmed == "", trimmed[0] == '#', trimmed[0] == '-', line[0] == ' ', line[0] == '\t':
		case !found || strings.ContainsAny(key, " []()*`"):
			return 0, ""
		default:
			keys = true
			if key == "title" {
				title = strings.Trim(strings.TrimSpace(value), `"'`)
			}
		}
	}

	return 0, ""
}
