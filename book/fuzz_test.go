package book

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// FuzzCheck checks books with a random SUMMARY.md and a random chapter: Check returns a
// result of limited size, and a second call returns the same result.
func FuzzCheck(f *testing.F) {
	for _, c := range cases(f) {
		files := c.files()
		f.Add(files.Markdowns[summaryName], strings.Join(slices.Sorted(maps.Keys(files.Markdowns)), "\n"), files.Markdowns["a.md"])
	}
	f.Fuzz(func(t *testing.T, summary, names, text string) {
		files := Files{Markdowns: map[string]string{}}
		for i, name := range strings.Split(names, "\n") {
			if i%5 == 4 {
				files.Binaries = append(files.Binaries, name)
			} else {
				files.Markdowns[name] = text
			}
		}
		files.Markdowns[summaryName] = summary
		errors, warnings := Check(files)
		again, warningsAgain := Check(files)
		if errors.String() != again.String() || warnings.String() != warningsAgain.String() {
			t.Errorf("two results for one book:\n%s\n%s\n%s\n%s", errors, again, warnings, warningsAgain)
		}
		for _, problems := range []Problems{errors, warnings} {
			if len(problems.First) > maxProblems {
				t.Errorf("want at most 20 problems, got %d", len(problems.First))
			}
			for _, line := range problems.Lines() {
				if strings.ContainsAny(line, "\n\r\x00") || len(line) > 2000 {
					t.Errorf("want one readable line, got %q", line)
				}
			}
		}
		if len(errors.First) > 0 {
			return
		}
		b := newBook(files)
		b.checkSummary()
		b.checkOutput()
		for _, c := range b.chapters {
			before := b.warnings.String()
			if b.warnTargets(c.name); before != b.warnings.String() && !b.mayBeDead(c.name) {
				t.Errorf("%s was not parsed, but has a dead link: %s", c.name, b.warnings)
			}
		}
		chapters := Chapters(files)
		if len(chapters) == 0 {
			t.Error("a book without a chapter is accepted")
		}
		for _, name := range chapters {
			if _, ok := files.Markdowns[name]; !ok {
				t.Errorf("chapter %q is not in the book", name)
			}
		}
	})
}

// FuzzSummary generates SUMMARY.md for random files: it lists all files that can be
// chapters, and mdBook reads the names unchanged.
func FuzzSummary(f *testing.F) {
	for _, c := range cases(f) {
		f.Add(strings.Join(c.Files, "\n"), c.Texts["a.md"])
	}
	f.Add("a b.md\na(1).md\nx/[y].md\n第一章/はじめに.md\nx/README.md\nx/y/z.md\nREADME.md\nindex.md", "# Ti`t*le* [x](y) <b>&amp;</b> \\_ `code` {#id}")
	f.Fuzz(func(t *testing.T, names, text string) {
		files := Files{Markdowns: map[string]string{}}
		for _, name := range strings.Split(names, "\n") {
			if ValidatePath(name) == nil && name != summaryName {
				files.Markdowns[name] = text
			}
		}
		errors, _ := Check(Files{Markdowns: files.Markdowns, Binaries: []string{summaryName}})
		if strings.Contains(errors.String(), "also the folder") || strings.Contains(errors.String(), "mdBook fails") ||
			strings.Contains(errors.String(), "same key") || strings.Contains(errors.String(), "toc.js") {
			return // These errors do not depend on SUMMARY.md.
		}
		summary := Summary(files)
		if again := Summary(files); again != summary {
			t.Fatalf("two results for the same files:\n%s\n%s", summary, again)
		}
		want := listable(files)
		files.Markdowns[summaryName] = summary
		got := Chapters(files)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("want chapters %q, got %q:\n%s", want, got, summary)
		}
		errors, _ = Check(files)
		if len(want) > 0 && len(errors.First) > 0 {
			t.Fatalf("%s\n%s", errors, summary)
		}
	})
}

// FuzzKey checks that two files never have the same key.
func FuzzKey(f *testing.F) {
	f.Add("guide/intro.md", "guide_intro.md")
	f.Add("a b", "a/b")
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, name := range []string{a, b} {
			if key := Key(name); ValidatePath(name) == nil && (!isKey(key)) {
				t.Errorf("Key(%q): want a valid key, got %q", name, key)
			}
		}
		if a != b && Key(a) == Key(b) {
			t.Errorf("%q and %q both have the key %q", a, b, Key(a))
		}
	})
}
