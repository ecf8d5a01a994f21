package book

import (
	"fmt"
	"strings"
	"testing"
)

// TestLimits checks that every limit of SUMMARY.md is where it is: a text at the limit is
// accepted, and one above it is not. The sizes are literals, so that a test fails if a
// limit is raised.
func TestLimits(t *testing.T) {
	repeat := strings.Repeat
	cases := map[string]struct {
		reason   string
		at, over string
		want     string
	}{
		"Size": {
			"256 KiB", repeat("x", 262_144), repeat("x", 262_145),
			"line 0: is larger than 256 KiB: list the chapters only, or split the book",
		},
		"Lines": {
			"2,500 lines", repeat("\n", 2500), repeat("\n", 2501),
			"line 0: has 2501 lines and list markers behind others, more than 2500: list the chapters only, or split the book",
		},
		"Markers": {
			"a marker behind another counts as a line", repeat("1. - a\n", 1250), repeat("1. - a\n", 1250) + "\n",
			"line 0: has 2501 lines and list markers behind others, more than 2500: list the chapters only, or split the book",
		},
		"Columns": {
			"128 columns", "a\n" + repeat(" ", 128) + "b", "a\n" + repeat("\t", 32) + " b",
			"line 2: begins with more than 128 columns of spaces: indent it less",
		},
		"Open": {
			"lines times depth", repeat(" ", 30) + "a\n" + repeat("\n", 1249), repeat(" ", 30) + "a\n" + repeat("\n", 1250),
			"line 1: is nested too deeply for a file of 1251 lines: nest the list less deeply, or split the book",
		},
		"Markup": {
			"16,000 characters", repeat("[\n\n", 1000) + repeat(repeat("]", 150)+"\n\n", 100), repeat("[\n\n", 1000) + repeat(repeat("]", 150)+"\n\n", 100) + "*",
			"line 0: has 16001 of the characters []`*_<, more than 16000: list the chapters only, or split the book",
		},
		"Lookahead": {
			"markup times bytes of a paragraph", "a\n\n" + repeat("[]", 1024), "a\n\n" + repeat("[]", 1025),
			"line 3: begins a paragraph with too many links, code spans or emphasis: write each link as a list item, or add empty lines",
		},
		"LookaheadDefinitions": {
			"definitions of one paragraph, of which each costs as much as the lines behind it", repeat("[a]: b\n", 547), repeat("[a]: b\n", 548),
			"line 1: begins a paragraph with too many links, code spans or emphasis: write each link as a list item, or add empty lines",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, line, err := parse([]byte(tc.at)); err != nil {
				t.Errorf("%s: want no error at the limit, got line %d: %v", tc.reason, line, err)
			}
			_, line, err := parse([]byte(tc.over))
			if got := fmt.Sprintf("line %d: %v", line, err); got != tc.want {
				t.Errorf("%s\nwant %s\ngot  %s", tc.reason, tc.want, got)
			}
		})
	}
}

// TestLargestSummary checks a SUMMARY.md like the largest one that we know, that of
// HackTricks: 1,150 chapters in 113 KiB, 6 lists deep. A book has at most 1,000 files.
func TestLargestSummary(t *testing.T) {
	files := Files{Markdowns: map[string]string{}}
	var summary strings.Builder
	summary.WriteString("# SUMMARY.md\n\n# 👾 Welcome!\n\n")
	for i := range 1150 {
		name := fmt.Sprintf("generic-methodologies-and-resources/section_%d/a-page-with-a-long-name-%d.md", i/10, i)
		fmt.Fprintf(&summary, "%s- [Chapter with `code`, number %d](%s)\n", strings.Repeat("  ", i%6), i, name)
		files.Markdowns[name] = ""
	}
	files.Markdowns[summaryName] = summary.String()
	if summary.Len() < 113<<10 {
		t.Fatalf("the text has only %d bytes", summary.Len())
	}
	if errors, warnings := Check(files); len(errors.First)+len(warnings.First) > 0 {
		t.Errorf("want no problems, got %v, %v", errors, warnings)
	}
	if n := len(Chapters(files)); n != 1150 {
		t.Errorf("want 1150 chapters, got %d", n)
	}
}

func TestUnescape(t *testing.T) {
	for raw, want := range map[string]string{
		`a\_b\c\\`: `a_b\c\`, "a&amp;b": "a&b", `a\&amp;b`: "a&amp;b", "&#97;&#x62;": "ab", "&nosuch;": "&nosuch;", "&ampx;": "&ampx;",
		"&#0;": "\ufffd", "&": "&", "&copy": "&copy", "&semi;": ";", `\`: `\`,
	} {
		if got := unescape(raw); got != want {
			t.Errorf("unescape(%q): want %q, got %q", raw, want, got)
		}
	}
}

func TestFrontMatter(t *testing.T) {
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
			if lines, title := frontMatter(tc.text); lines != tc.lines || title != tc.title {
				t.Errorf("%s\nwant %d lines and %q, got %d and %q", tc.reason, tc.lines, tc.title, lines, title)
			}
		})
	}
}
