package summary

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
	const (
		shorten    = "line 0: list the chapters only, or split the book: the file "
		lines      = shorten + "has 2501 lines and list markers behind others, more than 2500"
		paragraph  = "write each link as a list item, or add empty lines: this paragraph has too many links, code spans or emphasis"
		characters = shorten + "has 16001 of the characters []`*_<, more than 16000"
		nested     = "line 1: nest the list less deeply, or split the book: it is too deep for a file of 1251 lines"
	)
	deep, marked := repeat(" ", 30)+"a\n", repeat("[\n\n", 1000)+repeat(repeat("]", 150)+"\n\n", 100)
	for _, tc := range []struct{ reason, at, over, want string }{
		{"256 KiB", repeat("x", 262_144), repeat("x", 262_145), shorten + "is larger than 256 KiB"},
		{"2,500 lines", repeat("\n", 2500), repeat("\n", 2501), lines},
		{"a marker behind another counts as a line", repeat("1. - a\n", 1250), repeat("1. - a\n", 1250) + "\n", lines},
		{"128 columns", "a\n" + repeat(" ", 128) + "b", "a\n" + repeat("\t", 32) + " b", "line 2: indent this line less: it begins with more than 128 columns of spaces"},
		{"lines times depth", deep + repeat("\n", 1249), deep + repeat("\n", 1250), nested},
		{"16,000 characters of markup", marked, marked + "*", characters},
		{"markup times bytes of a paragraph", "a\n\n" + repeat("[]", 1024), "a\n\n" + repeat("[]", 1025), "line 3: " + paragraph},
		{"definitions, of which each costs as much as the lines behind it", repeat("[a]: b\n", 547), repeat("[a]: b\n", 548), "line 1: " + paragraph},
	} {
		if line, err := check([]byte(tc.at)); err != nil {
			t.Errorf("%s: want no error at the limit, got line %d: %v", tc.reason, line, err)
		}
		line, err := check([]byte(tc.over))
		if got := fmt.Sprintf("line %d: %v", line, err); got != tc.want {
			t.Errorf("%s\nwant %s\ngot  %s", tc.reason, tc.want, got)
		}
	}
}
