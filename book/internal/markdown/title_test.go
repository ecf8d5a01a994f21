package markdown

import (
	"strings"
	"testing"
)

func TestTitle(t *testing.T) {
	cases := map[string]struct {
		reason, text, want string
	}{
		"Heading":     {"The first heading is the title.", "text\n\n## A b ##\n# C", "A b"},
		"Underlined":  {"A heading can be underlined.", "A\nb\n===\n", "A b"},
		"Markup":      {"Markup is removed.", "# *A* **b** `c*d*` [e](f g.md) ![h](i) _j_ ~~k~~ <b>l</b>", "A b c*d* e h j k l"},
		"Text":        {"Characters that are no markup are kept.", "# 2 * 3 snake_case a[0] 1 < 2 `", "2 * 3 snake_case a[0] 1 < 2 `"},
		"Escaped":     {"Escaped characters and references are resolved.", `# \*A\* &amp; &#66;`, "*A* & B"},
		"Attributes":  {"mdBook reads attributes.", "# A {#id .class}", "A"},
		"Empty":       {"An empty heading is none.", "#\n\n# <b>\n\n# A", "A"},
		"InCode":      {"A comment in code is no heading.", "```sh\n# no\n```\n\n    # no\n\n<!--\n# no\n-->\n# A", "A"},
		"InItem":      {"The heading of an item is not the title.", "- # no\n\n# A", "A"},
		"FrontMatter": {"Front matter has a title.", "---\ntitle: 'Alpha'\n---\n# A", "Alpha"},
		"NoTitle":     {"Front matter can lack a title.", "---\nid: a\n---\n# A", "A"},
		"Mark":        {"A byte order mark is no text.", "\ufeff# A", "A"},
		"Control":     {"Characters that cannot be shown are removed.", "# A\u200eb\x01", "Ab"},
		"None":        {"A text may have no heading.", "text\n#no\n", ""},
		"Late":        {"Only the first 4 KiB are read.", strings.Repeat("x\n", 2048) + "# A", ""},
		"Long":        {"A title has at most 120 characters.", "# " + strings.Repeat("字", 160), strings.Repeat("字", 120) + "…"},
		"VeryLong":    {"Only the first 512 bytes are read.", "# " + strings.Repeat("<b>", 200) + "x", "<b"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Title(tc.text); got != tc.want {
				t.Errorf("%s\nwant %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
