package frontmatter

import (
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	cases := map[string]struct {
		reason, text string
		lines        int
		title        string
	}{
		"Title":    {"The title is read.", "---\ntitle: \"A: b\"\ntags:\n  - c\n# d\n---\n\ntext", 6, "A: b"},
		"NoTitle":  {"Other keys are front matter too.", "---\r\nid: a\r\n---\r\n", 3, ""},
		"Dots":     {"Dots can end it.", "---\na: b\n...\n", 3, ""},
		"Rule":     {"Prose between two rules is none.", "---\nprose: such as this, [a](b)\nand more\n---\n", 0, ""},
		"Rules":    {"Two rules are none.", "---\n\n---\n", 0, ""},
		"Open":     {"It must end.", "---\na: b\n", 0, ""},
		"Later":    {"It must be at the start.", "\n---\na: b\n---\n", 0, ""},
		"FourDash": {"It begins with three dashes.", "----\na: b\n---\n", 0, ""},
		"Long":     {"Only the first 4 KiB are read.", "---\na: " + strings.Repeat("b", 4096) + "\n---\n", 0, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if lines, title := Read(tc.text); lines != tc.lines || title != tc.title {
				t.Errorf("%s\nwant %d lines and %q, got %d and %q", tc.reason, tc.lines, tc.title, lines, title)
			}
		})
	}
}
