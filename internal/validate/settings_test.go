package validate

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// TestSettings checks the limits of the settings. TestValidate has the other errors.
func TestSettings(t *testing.T) {
	// A language of 35 characters.
	language := "en" + strings.Repeat("-aaaaaaa", 4) + "-"
	cases := map[string]struct {
		reason string
		view.Settings
		want []string
	}{
		"Most": {
			reason: "The longest values, in characters",
			Settings: view.Settings{
				Title: strings.Repeat("ペ", 256), Description: strings.Repeat("ペ", 1024), Language: language[:34] + "b",
				Authors: slices.Repeat([]string{strings.Repeat("ペ", 256)}, 32),
			},
		},
		"Title":       {reason: "One character more", Settings: view.Settings{Title: strings.Repeat("a", 257)}, want: []string{`book.title: Invalid value: "` + strings.Repeat("a", 80) + `…": must be at most 256 characters long`}},
		"Description": {reason: "One character more", Settings: view.Settings{Description: strings.Repeat("a", 1025)}, want: []string{`book.description: Invalid value: "` + strings.Repeat("a", 80) + `…": must be at most 1024 characters long`}},
		"Authors":     {reason: "One author more", Settings: view.Settings{Authors: slices.Repeat([]string{"a"}, 33)}, want: []string{"book.authors: Too many: 33: must have at most 32 items"}},
		"Language":    {reason: "One character more", Settings: view.Settings{Language: language + "bb"}, want: []string{`book.language: Invalid value: "` + language + `bb": must be a BCP 47 language tag: write "en", "ja" or "pt-BR"`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, viewtest.Messages(report.ProblemsOf("", validateSettings(tc.Settings, field.NewPath("book"))))); diff != "" {
				t.Errorf("\n%s\nvalidate(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
