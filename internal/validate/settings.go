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
	// An environment variable has at most 128 KiB. Each redirect may become longer by the
	// "../" that lead to the first folder.
	maxRedirects      = 300
	maxRedirectPage   = 255
	maxRedirectTarget = 512
	maxRedirectBytes  = 32 << 10
	maxURL            = 1024
)

// The patterns are those of the XRD.
const (
	// patternRedirectPage matches the path of a page, which a browser must not read as a
	// query, a fragment or an escape.
	patternRedirectPage = `^(/[^/?#%\x5c\p{Cc}\x{fffe}\x{ffff}]+){1,32}\.html$`
	// patternRedirectTarget matches a path or an http URL without a user. mdBook 0.5 writes
	// characters that HTML escapes into JavaScript, where they would be others.
	patternRedirectTarget = `^(https?://[a-zA-Z0-9.-]+(:[0-9]+)?([/?#][^\p{Cc}\p{Z}"'<>&=\x5c\x60\x{fffe}\x{ffff}]*)?|/|/?[^/:?#\p{Cc}\p{Z}"'<>&=\x5c\x60\x{fffe}\x{ffff}]+([/?#][^\p{Cc}\p{Z}"'<>&=\x5c\x60\x{fffe}\x{ffff}]*)?)$`
	// patternRepository matches an https URL without a user.
	patternRepository = `^https://[a-zA-Z0-9.-]+(:[0-9]+)?([/?#][-._~%!$()*+,;:@/?#&=a-zA-Z0-9]*)?$`
	// patternEdit matches an https URL without a user, and with {path} after the host.
	patternEdit = `^https://[a-zA-Z0-9.-]+(:[0-9]+)?[/?#][-._~%!$()*+,;:@/?#&=a-zA-Z0-9]*\{path\}[-._~%!$()*+,;:@/?#&=a-zA-Z0-9]*$`
)

// The messages are those of the XRD.
const (
	messageRedirectPage   = `spec.book.redirects must map paths of pages, without ?, # and %: write one such as "/guide/old.html"`
	messageRedirectTarget = `must be a page or URL: write "/guide/new.html", "new.html#part" or "https://example.com/new", without spaces, quotes, <, >, & and =`
	messageRedirects      = `spec.book.redirects holds more than 32 KiB (32768 bytes): remove the oldest`
	messageRepository     = `must be an https URL, such as "https://github.com/team/docs"`
	messageEdit           = `must be an https URL with {path}, such as "https://github.com/team/docs/edit/main/{path}"`
)

var (
	redirectPage   = regexp.MustCompile(patternRedirectPage)
	redirectTarget = regexp.MustCompile(patternRedirectTarget)
	repository     = regexp.MustCompile(patternRepository)
	editTemplate   = regexp.MustCompile(patternEdit)
	dotSegment     = regexp.MustCompile(`/\.\.?/`)
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

	errs = append(errs, validateRedirects(s.Redirects, at.Child("redirects"))...)
	errs = append(errs, validateURL(s.RepositoryURL, repository, messageRepository, at.Child("repositoryUrl"))...)

	return append(errs, validateURL(s.EditURLTemplate, editTemplate, messageEdit, at.Child("editUrlTemplate"))...)
}

func validateURL(value string, pattern *regexp.Regexp, message string, at *field.Path) field.ErrorList {
	if value == "" || len(value) <= maxURL && pattern.MatchString(value) {
		return nil
	}

	return field.ErrorList{field.Invalid(at, report.Short(value), message)}
}

func validateRedirects(redirects map[string]string, at *field.Path) field.ErrorList {
	if len(redirects) > maxRedirects {
		return field.ErrorList{field.TooMany(at, len(redirects), maxRedirects)}
	}
	var errs field.ErrorList
	size := 0
	for page, target := range redirects {
		size += len(page) + len(target)
		if len(page) > maxRedirectPage || !redirectPage.MatchString(page) || dotSegment.MatchString(page) {
			errs = append(errs, field.Invalid(at.Key(report.Short(page)), field.OmitValueType{}, messageRedirectPage))
		}
		if len(target) > maxRedirectTarget || !redirectTarget.MatchString(target) {
			errs = append(errs, field.Invalid(at.Key(report.Short(page)), report.Short(target), messageRedirectTarget))
		}
	}
	if size > maxRedirectBytes {
		errs = append(errs, field.Forbidden(at, messageRedirects))
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
