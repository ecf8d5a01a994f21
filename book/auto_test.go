package book

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/book/filename"
	"github.com/crossplane-contrib/function-markdownview/test/sample"
)

// TestSummary checks the chapters of folders, and which files are omitted: mdBook could not
// serve them, or would serve another file in their place.
func TestSummary(t *testing.T) {
	files := Files{
		Markdowns: map[string]string{
			"SUMMARY.md": "", "README.md": "", "guide/readme.md": "# Guide", "guide/b.md": "", "guide/[a] b.md": "# *A* [x]", "other/deep/c.md": "# C",
			"readme": "", "index.md": "", "print.md": "", "404.md": "", "book.js/d.md": "", "e#.md": "", "/f.md": "",
			"g.md": "", "g.html": "", "h.md": "", "i.md": "", "i.html/i.txt": "", "j.md": "",
		},
		Binaries: []string{"h.html", "j.html/j.png", "/k"},
	}
	const want = `# Summary

- [README](README.md)
- [Guide](guide/readme.md)
  - [A \[x\]](<guide/\[a\] b.md>)
  - [b](guide/b.md)
- [other]()
  - [deep]()
    - [C](other/deep/c.md)
`
	if diff := cmp.Diff(want, Summary(files)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// FuzzSummary generates SUMMARY.md for random files: it lists all files that can be
// chapters, and mdBook reads the names unchanged.
func FuzzSummary(f *testing.F) {
	for _, c := range sample.ReadFile[[]sample.Case](f, "testdata/cases.yaml") {
		f.Add(strings.Join(c.Files, "\n"), c.Texts["a.md"])
	}
	f.Add("a b.md\na(1).md\nx/[y].md\n第一章/はじめに.md\nx/README.md\nx/y/z.md\nREADME.md\nindex.md", "# Ti`t*le* [x](y) <b>&amp;</b> \\_ `code` {#id}")
	f.Fuzz(func(t *testing.T, names, text string) {
		files := Files{Markdowns: map[string]string{}}
		for _, name := range strings.Split(names, "\n") {
			if filename.Validate(name) == nil && name != summaryName {
				files.Markdowns[name] = text
			}
		}
		errors, _ := Check(Files{Markdowns: files.Markdowns, Binaries: []string{summaryName}})
		if strings.Contains(errors.String(), "the folder of") || strings.Contains(errors.String(), "mdBook writes a f") ||
			strings.Contains(errors.String(), "both have the key") || strings.Contains(errors.String(), "toc.js") {
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
