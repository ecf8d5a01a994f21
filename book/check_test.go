package book

import (
	"errors"
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-markdownview/book/internal/problem"
	"github.com/crossplane-contrib/function-markdownview/test/sample"
)

var update = flag.Bool("update", false, "update testdata/verdicts.yaml")

// filesOf returns the book of a case.
func filesOf(c sample.Case) Files {
	return Files{Markdowns: c.Markdowns(), Binaries: c.Binaries, Redirects: c.Redirects}
}

// TestCheck compares the problems of each case with testdata/verdicts.yaml. test/book
// compares the same verdicts with mdBook.
func TestCheck(t *testing.T) {
	type verdict struct {
		Errors   []string `json:"errors,omitempty"`
		Warnings []string `json:"warnings,omitempty"`
	}
	got := map[string]verdict{}
	for _, c := range sample.ReadFile[[]sample.Case](t, "testdata/cases.yaml") {
		errors, warnings := Check(filesOf(c))
		if _, twice := got[c.Name]; twice {
			t.Errorf("two cases have the name %q", c.Name)
		}
		got[c.Name] = verdict{Errors: errors.Lines(), Warnings: warnings.Lines()}
	}
	const golden = "testdata/verdicts.yaml"
	if *update {
		raw, err := yaml.Marshal(got)
		if err := errors.Join(err, os.WriteFile(golden, raw, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want := sample.ReadFile[map[string]verdict](t, golden)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// FuzzCheck checks books with a random SUMMARY.md and a random chapter: Check returns a
// result of limited size, and a second call returns the same result.
func FuzzCheck(f *testing.F) {
	for _, c := range sample.ReadFile[[]sample.Case](f, "testdata/cases.yaml") {
		files := filesOf(c)
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
			if len(problems.First) > problem.Most {
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
