package book

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "update testdata/verdicts.yaml")

// A testCase is a case of testdata/cases.yaml.
type testCase struct {
	Name     string            `json:"name"`
	Summary  *string           `json:"summary"`
	Files    []string          `json:"files"`
	Texts    map[string]string `json:"texts"`
	Binaries []string          `json:"binaries"`
	Stricter []string          `json:"stricter"`
}

func (c testCase) files() Files {
	files := Files{Markdowns: map[string]string{}, Binaries: c.Binaries}
	for _, name := range c.Files {
		files.Markdowns[name] = "# Title\n"
	}
	for name, text := range c.Texts {
		files.Markdowns[name] = text
	}
	if c.Summary != nil {
		files.Markdowns[summaryName] = *c.Summary
	}

	return files
}

func cases(tb testing.TB) []testCase {
	tb.Helper()
	raw, err := os.ReadFile("testdata/cases.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	var all []testCase
	if err := yaml.UnmarshalStrict(raw, &all); err != nil {
		tb.Fatal(err)
	}

	return all
}

// TestCheck compares the problems of each case with testdata/verdicts.yaml. test/book
// compares the same verdicts with mdBook.
func TestCheck(t *testing.T) {
	type verdict struct {
		Errors   []string `json:"errors,omitempty"`
		Warnings []string `json:"warnings,omitempty"`
	}
	got := map[string]verdict{}
	for _, c := range cases(t) {
		errors, warnings := Check(c.files())
		if _, twice := got[c.Name]; twice {
			t.Errorf("two cases have the name %q", c.Name)
		}
		got[c.Name] = verdict{Errors: errors.Lines(), Warnings: warnings.Lines()}
	}
	const golden = "testdata/verdicts.yaml"
	if *update {
		raw, err := yaml.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]verdict
	if err := yaml.UnmarshalStrict(raw, &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
