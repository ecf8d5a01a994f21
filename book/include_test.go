package book

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIncludes(t *testing.T) {
	cases := map[string]struct {
		reason, text string
		want         []string
	}{
		"Include":    {"A file is included.", "a {{#include b.md}} {{ #include  c.md }}", []string{"13 b.md", "33 c.md"}},
		"Kinds":      {"Other kinds include files too.", "{{#rustdoc_include a}}{{#playground b}}{{#playpen c}}{{#template d x=y}}{{#title e}}{{#included f}}", []string{"19 a", "36 b", "50 c", "65 d"}},
		"Lines":      {"Lines and anchors are not part of the name.", "{{#include a.rs:2:3}} {{#include b.rs:anchor}}", []string{"11 a.rs", "33 b.rs"}},
		"Code":       {"mdBook includes files before it parses Markdown.", "```\n{{#include a}}\n```", []string{"15 a"}},
		"LineBreaks": {"An include can have several lines.", "{{\n#include\n\ta\n}}", []string{"13 a"}},
		"Escaped":    {"An escaped include is text, up to the last end on the line.", "\\{{#include a}} {{#include b}}\n{{#include c}}", []string{"42 c"}},
		"NotEscaped": {"A backslash in front of a space escapes nothing.", "\\{{ #include a}} \\{{#include b\n}}", []string{"13 a", "29 b"}},
		"Braces":     {"More braces do no harm.", "{{{#include a}}} {{ {{#include b}}", []string{"12 a", "31 b"}},
		"Open":       {"An include must end.", "{{#include a} {{#include b", nil},
		"Empty":      {"An include must have a name.", "{{#include }} {{#include}} {{}} {{ }}", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for offset, target := range includes(tc.text) {
				got = append(got, fmt.Sprint(offset, " ", target))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
