package fn

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// settings are the settings of mdBook that a user can choose. mdBook reads them from
// environment variables. Empty means the default of mdBook.
type settings struct {
	Title              string   `json:"title"`
	Description        string   `json:"description"`
	Authors            []string `json:"authors"`
	Language           string   `json:"language"`
	TextDirection      string   `json:"textDirection"`
	DefaultTheme       string   `json:"defaultTheme"`
	PreferredDarkTheme string   `json:"preferredDarkTheme"`
}

const (
	maxTitle       = 256
	maxDescription = 1024
	maxAuthors     = 32
	maxLanguage    = 35
)

// languageTag is a language tag in the form of BCP 47.
var languageTag = regexp.MustCompile(`^[a-zA-Z]{2,8}(-[a-zA-Z0-9]{1,8})*$`)

// validate returns the errors of the settings. mdBook exits if it does not know a
// value, and a container with very long environment variables cannot start.
func (s settings) validate(at *field.Path) field.ErrorList {
	errs := validateSetting(s.Title, maxTitle, at.Child("title"))
	errs = append(errs, validateSetting(s.Description, maxDescription, at.Child("description"))...)
	if len(s.Authors) > maxAuthors {
		errs = append(errs, field.TooMany(at.Child("authors"), len(s.Authors), maxAuthors))
	} else {
		for i, author := range s.Authors {
			errs = append(errs, validateSetting(author, maxTitle, at.Child("authors").Index(i))...)
		}
	}
	if s.Language != "" && (len(s.Language) > maxLanguage || !languageTag.MatchString(s.Language)) {
		errs = append(errs, field.Invalid(at.Child("language"), short(s.Language), `must be a BCP 47 language tag: write "en", "ja" or "pt-BR"`))
	}
	errs = append(errs, validateEnum(s.TextDirection, at.Child("textDirection"), "ltr", "rtl")...)
	for name, theme := range map[string]string{"defaultTheme": s.DefaultTheme, "preferredDarkTheme": s.PreferredDarkTheme} {
		errs = append(errs, validateEnum(theme, at.Child(name), "light", "rust", "coal", "navy", "ayu")...)
	}

	return errs
}

func validateSetting(value string, most int, at *field.Path) field.ErrorList {
	switch {
	case utf8.RuneCountInString(value) > most:
		return field.ErrorList{field.Invalid(at, short(value), fmt.Sprintf("must be at most %d characters long", most))}
	case strings.ContainsFunc(value, unicode.IsControl), !plain(value):
		return field.ErrorList{field.Invalid(at, short(value), "must not contain control characters")}
	default:
		return nil
	}
}

// env returns the environment variables from which mdBook reads the settings.
func (s settings) env() []corev1.EnvVar {
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
