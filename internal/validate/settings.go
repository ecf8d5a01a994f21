package validate

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

const (
	maxTitle       = 256
	maxDescription = 1024
	maxAuthors     = 32
	maxLanguage    = 35
)

// languageTag is a language tag in the form of BCP 47.
var languageTag = regexp.MustCompile(`^[a-zA-Z]{2,8}(-[a-zA-Z0-9]{1,8})*$`)

// validateSettings returns the errors of the settings. mdBook exits if it does not know a
// value, and a container with very long environment variables cannot start.
func validateSettings(s view.Settings, at *field.Path) field.ErrorList {
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
		errs = append(errs, field.Invalid(at.Child("language"), report.Short(s.Language), `must be a BCP 47 language tag: write "en", "ja" or "pt-BR"`))
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
		return field.ErrorList{field.Invalid(at, report.Short(value), fmt.Sprintf("must be at most %d characters long", most))}
	case strings.ContainsFunc(value, unicode.IsControl), !view.Plain(value):
		return field.ErrorList{field.Invalid(at, report.Short(value), "must not contain control characters")}
	default:
		return nil
	}
}
