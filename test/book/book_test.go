// Package main compares package book with mdBook. MDBOOKS lists the root directories of
// the versions of mdBook.
package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/crossplane-contrib/function-markdownview/book"
	"github.com/crossplane-contrib/function-markdownview/test/sample"
)

func mdbooks(t *testing.T) map[string]mdbook {
	t.Helper()
	all := map[string]mdbook{}
	for _, root := range filepath.SplitList(os.Getenv("MDBOOKS")) {
		all[filepath.Base(root)] = mdbook(root)
	}
	if len(all) == 0 {
		t.Fatal("MDBOOKS is empty: run \"make test-book\"")
	}

	return all
}

// same fails if mdBook and Check disagree about a book, or about its chapters.
func (m mdbook) same(t *testing.T, files book.Files) {
	t.Helper()
	problems, _ := book.Check(files)
	pages, err := m.serves(t, files)
	t.Logf("served: %t, %d chapters", err == nil, len(pages))
	switch {
	case len(problems.First) > 0 && err == nil:
		t.Errorf("mdBook serves a book that Check rejects: %v\n%s", problems, files.Markdowns["SUMMARY.md"])
	case len(problems.First) == 0 && err != nil:
		t.Errorf("Check accepts a book that mdBook does not serve: %v\n%s", err, files.Markdowns["SUMMARY.md"])
	case err == nil:
		var want []string
		for _, name := range book.Chapters(files) {
			want = append(want, book.Page(name))
		}
		if !slices.Equal(want, pages) {
			t.Errorf("chapters: Check has the pages %q, mdBook %q\n%s", want, pages, files.Markdowns["SUMMARY.md"])
		}
	}
}

// TestCases runs the cases of package book, which has the expected verdicts.
func TestCases(t *testing.T) {
	t.Parallel()
	cases := sample.ReadFile[[]sample.Case](t, "../../book/testdata/cases.yaml")
	for version, m := range mdbooks(t) {
		for _, c := range cases {
			t.Run(version+"/"+c.Name, func(t *testing.T) {
				t.Parallel()
				files := book.Files{Markdowns: c.Markdowns(), Binaries: c.Binaries, Redirects: c.Redirects}
				for name, content := range files.Markdowns {
					if name != "SUMMARY.md" {
						files.Markdowns[name] = mark(name) + "\n" + content
					}
				}
				if slices.Contains(c.Stricter, version) {
					if problems, _ := book.Check(files); len(problems.First) == 0 {
						t.Error("Check accepts the book, so it is not stricter")
					}
					if _, err := m.serves(t, files); err != nil {
						t.Errorf("mdBook rejects the book too, so Check is not stricter: %v", err)
					}

					return
				}
				m.same(t, files)
			})
		}
	}
}
