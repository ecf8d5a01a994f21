package view

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/function-markdownview/book"
)

// Settings are the settings of mdBook that a user can choose. mdBook reads them from
// environment variables. Empty means the default of mdBook.
type Settings struct {
	Title              string   `json:"title"`
	Description        string   `json:"description"`
	Authors            []string `json:"authors"`
	Language           string   `json:"language"`
	TextDirection      string   `json:"textDirection"`
	DefaultTheme       string   `json:"defaultTheme"`
	PreferredDarkTheme string   `json:"preferredDarkTheme"`
	// Redirects maps pages that moved to pages or URLs.
	Redirects       map[string]string `json:"redirects"`
	RepositoryURL   string            `json:"repositoryUrl"`
	EditURLTemplate string            `json:"editUrlTemplate"`
}

// Env returns the environment variables from which mdBook reads the settings.
func (s Settings) Env() []corev1.EnvVar {
	var env []corev1.EnvVar
	add := func(name string, value any, set bool) {
		if set {
			env = append(env, corev1.EnvVar{Name: "MDBOOK_" + name, Value: envValue(value)})
		}
	}
	add("BOOK__TITLE", s.Title, s.Title != "")
	add("BOOK__DESCRIPTION", s.Description, s.Description != "")
	add("BOOK__AUTHORS", s.Authors, len(s.Authors) > 0)
	add("BOOK__LANGUAGE", s.Language, s.Language != "")
	add("BOOK__TEXT_DIRECTION", s.TextDirection, s.TextDirection != "")
	add("OUTPUT__HTML__DEFAULT_THEME", s.DefaultTheme, s.DefaultTheme != "")
	add("OUTPUT__HTML__PREFERRED_DARK_THEME", s.PreferredDarkTheme, s.PreferredDarkTheme != "")
	redirects := make(map[string]string, len(s.Redirects))
	for page, target := range s.Redirects {
		redirects[page] = book.RedirectURL(page, target)
	}
	add("OUTPUT__HTML__REDIRECT", redirects, len(redirects) > 0)
	add("OUTPUT__HTML__GIT_REPOSITORY_URL", s.RepositoryURL, s.RepositoryURL != "")
	add("OUTPUT__HTML__EDIT_URL_TEMPLATE", s.EditURLTemplate, s.EditURLTemplate != "")

	return env
}

// envValue returns the value of an environment variable. mdBook parses values as JSON:
// without quotes, a title such as "true" or "1" would not be text. Kubernetes expands
// $(NAME).
func envValue(value any) string {
	b, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("cannot encode a setting: %v", err)) // Encoding text never fails.
	}

	return strings.ReplaceAll(string(b), "$", "$$")
}
