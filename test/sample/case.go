package sample

import (
	"errors"
	"os"
	"testing"

	"sigs.k8s.io/yaml"
)

// A Case is a book of book/testdata/cases.yaml. Stricter lists versions of mdBook that serve
// the book, although package book rejects it.
type Case struct {
	Name      string            `json:"name"`
	Summary   *string           `json:"summary"`
	Files     []string          `json:"files"`
	Texts     map[string]string `json:"texts"`
	Binaries  []string          `json:"binaries"`
	Stricter  []string          `json:"stricter"`
	Redirects map[string]string `json:"redirects"`
}

// ReadFile returns what a YAML file has.
func ReadFile[T any](tb testing.TB, path string) (content T) {
	tb.Helper()
	raw, err := os.ReadFile(path)
	if err := errors.Join(err, yaml.UnmarshalStrict(raw, &content)); err != nil {
		tb.Fatal(err)
	}

	return content
}

// Markdowns returns the Markdown files of a case, with SUMMARY.md.
func (c Case) Markdowns() map[string]string {
	markdowns := map[string]string{}
	for _, name := range c.Files {
		markdowns[name] = "# Title\n"
	}
	for name, text := range c.Texts {
		markdowns[name] = text
	}
	if c.Summary != nil {
		markdowns["SUMMARY.md"] = *c.Summary
	}

	return markdowns
}
