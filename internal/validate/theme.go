package validate

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// maxTheme leaves half of the 256 KiB that the annotations of a pod can have to others.
const maxTheme = 128 << 10

// themeFiles are the text files that mdBook 0.4 and 0.5 read from a theme. The CRD of the
// Input has them, too.
// https://github.com/rust-lang/mdBook/blob/19859b006a9be95aeb3c1a5f423eb35626631660/crates/mdbook-html/src/theme/mod.rs
var themeFiles = []string{
	"ayu-highlight.css", "book.js", "clipboard.min.js", "css/chrome.css", "css/general.css", "css/print.css", "css/variables.css",
	"favicon.svg", "fonts/fonts.css", "head.hbs", "header.hbs", "highlight.css", "highlight.js", "index.hbs", "redirect.hbs",
	"toc.html.hbs", "toc.js.hbs", "tomorrow-night.css",
}

func validateTheme(theme map[string]string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	size := 0
	for name, text := range theme {
		size += len(text)
		if !slices.Contains(themeFiles, name) {
			errs = append(errs, field.NotSupported(at, report.Short(name), themeFiles))
		}
		if !view.Plain(text) {
			errs = append(errs, field.Invalid(at.Key(report.Short(name)), field.OmitValueType{}, view.MessageControl))
		}
	}
	if size > maxTheme {
		errs = append(errs, field.Forbidden(at, "shorten the files, or serve them elsewhere and link to them in head.hbs: they have more than 128 KiB (131072 bytes)"))
	}

	return errs
}
