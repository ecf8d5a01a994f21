package validate

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// TestSettings checks the limits of the settings. TestAll has the other errors.
func TestSettings(t *testing.T) {
	// A language of 35 characters.
	language := "en" + strings.Repeat("-aaaaaaa", 4) + "-"
	const (
		page       = `Invalid value: write paths of pages such as "/guide/old.html", without ?, # and %`
		target     = `must be a page or URL: write "/guide/new.html", "new.html#part" or "https://example.com/new", without spaces, quotes, <, >, & and =`
		repository = `must be an https URL, such as "https://github.com/team/docs"`
		edit       = `must be an https URL with {path}, such as "https://github.com/team/docs/edit/main/{path}"`
	)
	redirect := func(page, target string) string { return fmt.Sprintf("book: {redirects: {%q: %q}}", page, target) }
	checkFields(t, map[string]fieldCase{
		"Most": {
			reason: "The longest values, in characters",
			spec: `book: {title: ` + strings.Repeat("ペ", 256) + `, description: ` + strings.Repeat("ペ", 1024) +
				`, language: ` + language[:34] + `b, authors: [` + strings.Repeat(strings.Repeat("ペ", 256)+",", 32) + `],
				repositoryUrl: "https://a/` + strings.Repeat("b", 1014) + `", editUrlTemplate: "https://a/{path}` +
				strings.Repeat("b", 1008) + `", redirects: {` + entries(64, "/%03d.html: "+strings.Repeat("x", 503)) + `}}`,
		},
		"Longest":     {reason: "The longest redirect", spec: redirect("/"+strings.Repeat("a", 249)+".html", strings.Repeat("b", 512))},
		"Title":       {reason: "One character more", spec: `book: {title: ` + strings.Repeat("a", 257) + `}`, want: `spec.book.title: Invalid value: "` + strings.Repeat("a", 80) + `…": must be at most 256 characters long`},
		"Description": {reason: "One character more", spec: `book: {description: ` + strings.Repeat("a", 1025) + `}`, want: `spec.book.description: Invalid value: "` + strings.Repeat("a", 80) + `…": must be at most 1024 characters long`},
		"Authors":     {reason: "One author more", spec: `book: {authors: [` + strings.Repeat("a,", 33) + `]}`, want: "spec.book.authors: Too many: 33: must have at most 32 items"},
		"Language":    {reason: "One character more", spec: `book: {language: ` + language + "bb" + `}`, want: `spec.book.language: Invalid value: "` + language + `bb": must be a BCP 47 language tag: write "en", "ja" or "pt-BR"`},
		"Links": {
			reason: "URLs and redirects that cannot be misread",
			spec: `book: {repositoryUrl: "https://git.example.com:8443/a?b=c&d#e",
				editUrlTemplate: "https://example.com?file={path}&x", redirects: {/a b/古い.html: "../new.html#部", /b.html: /, /c.html: "http://example.com",
				/d/e.html: "https://example.com:1/?x#y", /f.html: guide/}}`,
		},
		"Repository": {reason: "A user is not the host", spec: `book: {repositoryUrl: "https://github.com@example.com"}`, want: `spec.book.repositoryUrl: Invalid value: "https://github.com@example.com": ` + repository},
		"Http":       {reason: "Not encrypted", spec: `book: {repositoryUrl: "http://example.com"}`, want: `spec.book.repositoryUrl: Invalid value: "http://example.com": ` + repository},
		"PathInHost": {reason: "The name of a file is not a host", spec: `book: {editUrlTemplate: "https://{path}"}`, want: `spec.book.editUrlTemplate: Invalid value: "https://{path}": ` + edit},
		"TwoPaths":   {reason: "mdBook replaces both", spec: `book: {editUrlTemplate: "https://a/{path}/{path}"}`, want: `spec.book.editUrlTemplate: Invalid value: "https://a/{path}/{path}": ` + edit},
		"NoSlash":    {reason: "Two spellings would be one page", spec: redirect("z.html", "b.html"), want: `spec.book.redirects[z.html]: ` + page},
		"Parent":     {reason: "A page outside of the book", spec: redirect("/../z.html", "b.html"), want: `spec.book.redirects[/../z.html]: ` + page},
		"NoPage":     {reason: "A server would send it as another type", spec: redirect("/a", "b.html"), want: `spec.book.redirects[/a]: ` + page},
		"Script":     {reason: "A scheme that runs scripts", spec: redirect("/z.html", "javascript:x"), want: `spec.book.redirects[/z.html]: Invalid value: "javascript:x": ` + target},
		"OtherHost":  {reason: "Looks like a path", spec: redirect("/z.html", "//example.com"), want: `spec.book.redirects[/z.html]: Invalid value: "//example.com": ` + target},
		"Backslash":  {reason: "Browsers read it as a slash", spec: redirect("/z.html", `/\example.com`), want: `spec.book.redirects[/z.html]: Invalid value: "/\\example.com": ` + target},
		"Escaped":    {reason: "mdBook 0.5 would write &#x3D; into JavaScript", spec: redirect("/z.html", "b.html?c=d"), want: `spec.book.redirects[/z.html]: Invalid value: "b.html?c=d": ` + target},
		"NoTarget":   {reason: "The page would lead to its folder", spec: redirect("/z.html", ""), want: `spec.book.redirects[/z.html]: Invalid value: "": ` + target},
		"Many":       {reason: "One redirect more", spec: `book: {redirects: {` + entries(301, "/%03d.html: /") + `}}`, want: "spec.book.redirects: Too many: 301: must have at most 300 items"},
		"Large":      {reason: "A variable has at most 128 KiB", spec: `book: {redirects: {` + entries(80, "/%03d.html: "+strings.Repeat("x", 500)) + `}}`, want: "spec.book.redirects: Forbidden: remove the oldest redirects: together they have more than 32 KiB (32768 bytes)"},
	})
}

// TestRedirectVariable checks that the longest redirects fit in an environment variable,
// which has at most 128 KiB, with its name.
func TestRedirectVariable(t *testing.T) {
	redirects := map[string]string{}
	for i := range maxRedirects {
		redirects[fmt.Sprintf("/%s%03d.html", strings.Repeat("$/", 28), i)] = strings.Repeat("$", 40)
	}
	s := view.Settings{Redirects: redirects}
	if errs := validateSettings(s, field.NewPath("book")); len(redirects) != maxRedirects || len(errs) > 0 {
		t.Fatalf("want %d valid redirects, got %d: %v", maxRedirects, len(redirects), errs)
	}
	if env := s.Env()[0]; len(env.Name)+len(env.Value) > 120<<10 {
		t.Errorf("the variable has %d bytes", len(env.Value))
	}
}

// TestXRD checks that the XRD has the same messages and patterns.
func TestXRD(t *testing.T) {
	xrd, err := os.ReadFile("../../package/configuration/definition.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range []string{
		messageSource, messageImage, messageImagePath, messageImageSummary,
		messageRedirectPage, messageRedirectTarget, messageRedirects, messageRepository, messageEdit,
	} {
		if !strings.Contains(string(xrd), "message: '"+message+"'") {
			t.Errorf("the XRD has no rule with the message %q", message)
		}
	}
	for _, pattern := range []string{patternRedirectPage, patternRedirectTarget, patternRepository, patternEdit} {
		if !strings.Contains(string(xrd), "matches("+strconv.Quote(pattern)+")") {
			t.Errorf("the XRD has no rule with the pattern %q", pattern)
		}
	}
}

// entries returns n entries of a list or map in YAML, by a format with their number.
func entries(n int, format string) string {
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, format+", ", i)
	}

	return all.String()
}
