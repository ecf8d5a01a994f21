package view

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestEnv(t *testing.T) {
	all := Settings{
		Title: "true", Description: "$(HOME) <b>", Authors: []string{"A", "B"}, Language: "ja", TextDirection: "ltr",
		DefaultTheme: "ayu", PreferredDarkTheme: "navy", Redirects: map[string]string{"/a/old.html": "/new.html"},
		RepositoryURL: "https://a.b/c", EditURLTemplate: "https://a.b/c/{path}",
	}
	want := []corev1.EnvVar{
		{Name: "MDBOOK_BOOK__TITLE", Value: `"true"`},
		{Name: "MDBOOK_BOOK__DESCRIPTION", Value: `"$$(HOME) \u003cb\u003e"`},
		{Name: "MDBOOK_BOOK__AUTHORS", Value: `["A","B"]`},
		{Name: "MDBOOK_BOOK__LANGUAGE", Value: `"ja"`},
		{Name: "MDBOOK_BOOK__TEXT_DIRECTION", Value: `"ltr"`},
		{Name: "MDBOOK_OUTPUT__HTML__DEFAULT_THEME", Value: `"ayu"`},
		{Name: "MDBOOK_OUTPUT__HTML__PREFERRED_DARK_THEME", Value: `"navy"`},
		{Name: "MDBOOK_OUTPUT__HTML__REDIRECT", Value: `{"/a/old.html":"../new.html"}`},
		{Name: "MDBOOK_OUTPUT__HTML__GIT_REPOSITORY_URL", Value: `"https://a.b/c"`},
		{Name: "MDBOOK_OUTPUT__HTML__EDIT_URL_TEMPLATE", Value: `"https://a.b/c/{path}"`},
	}
	if diff := cmp.Diff(want, all.Env()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if got := (Settings{}).Env(); got != nil {
		t.Errorf("mdBook has defaults: got %v", got)
	}
}
