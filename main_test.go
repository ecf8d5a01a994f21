package main

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

// TestFlagsAreDocumented checks that docs/flags.md has a row for each flag.
func TestFlagsAreDocumented(t *testing.T) {
	parser, err := kong.New(&cli{})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, f := range parser.Model.Flags {
		if f.Name != "help" {
			want = append(want, f.Name)
		}
	}
	page, err := os.ReadFile("docs/flags.md")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range regexp.MustCompile("(?m)^\\| `--([a-z-]+)`").FindAllStringSubmatch(string(page), -1) {
		got = append(got, row[1])
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/flags.md: -flags, +rows:\n%s", diff)
	}
}
