package validate

import (
	"fmt"
	"os"
	"slices"
	"strconv"
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
	const (
		page       = `Invalid value: write paths of pages such as "/guide/old.html", without ?, # and %`
		target     = `must be a page or URL: write "/guide/new.html", "new.html#part" or "https://example.com/new", without spaces, quotes, <, >, & and =`
		repository = `must be an https URL, such as "https://github.com/team/docs"`
		edit       = `must be an https URL with {path}, such as "https://github.com/team/docs/edit/main/{path}"`
	)
	redirect := func(page, target string) view.Settings {
		return view.Settings{Redirects: map[string]string{page: target}}
	}
	for name, tc := range map[string]struct {
		reason string
		view.Settings
		want []string
	}{
		"Most": {
			reason: "The longest values, in characters",
			Settings: view.Settings{
				Title: strings.Repeat("ペ", 256), Description: strings.Repeat("ペ", 1024), Language: language[:34] + "b",
				Authors: slices.Repeat([]string{strings.Repeat("ペ", 256)}, 32), Redirects: redirects(64, strings.Repeat("x", 503)),
				RepositoryURL: "https://a/" + strings.Repeat("b", 1014), EditURLTemplate: "https://a/{path}" + strings.Repeat("b", 1008),
			},
		},
		"Longest":     {reason: "The longest redirect", Settings: redirect("/"+strings.Repeat("a", 249)+".html", strings.Repeat("b", 512))},
		"Title":       {reason: "One character more", Settings: view.Settings{Title: strings.Repeat("a", 257)}, want: []string{`book.title: Invalid value: "` + strings.Repeat("a", 80) + `…": must be at most 256 characters long`}},
		"Description": {reason: "One character more", Settings: view.Settings{Description: strings.Repeat("a", 1025)}, want: []string{`book.description: Invalid value: "` + strings.Repeat("a", 80) + `…": must be at most 1024 characters long`}},
		"Authors":     {reason: "One author more", Settings: view.Settings{Authors: slices.Repeat([]string{"a"}, 33)}, want: []string{"book.authors: Too many: 33: must have at most 32 items"}},
		"Language":    {reason: "One character more", Settings: view.Settings{Language: language + "bb"}, want: []string{`book.language: Invalid value: "` + language + `bb": must be a BCP 47 language tag: write "en", "ja" or "pt-BR"`}},
		"Links": {
			reason: "URLs and redirects that cannot be misread",
			Settings: view.Settings{
				RepositoryURL: "https://git.example.com:8443/a?b=c&d#e", EditURLTemplate: "https://example.com?file={path}&x",
				Redirects: map[string]string{"/a b/古い.html": "../new.html#部", "/b.html": "/", "/c.html": "http://example.com", "/d/e.html": "https://example.com:1/?x#y", "/f.html": "guide/"},
			},
		},
		"Repository": {reason: "A user is not the host", Settings: view.Settings{RepositoryURL: "https://github.com@example.com"}, want: []string{`book.repositoryUrl: Invalid value: "https://github.com@example.com": ` + repository}},
		"Http":       {reason: "Not encrypted", Settings: view.Settings{RepositoryURL: "http://example.com"}, want: []string{`book.repositoryUrl: Invalid value: "http://example.com": ` + repository}},
		"PathInHost": {reason: "The name of a file is not a host", Settings: view.Settings{EditURLTemplate: "https://{path}"}, want: []string{`book.editUrlTemplate: Invalid value: "https://{path}": ` + edit}},
		"TwoPaths":   {reason: "mdBook replaces both", Settings: view.Settings{EditURLTemplate: "https://a/{path}/{path}"}, want: []string{`book.editUrlTemplate: Invalid value: "https://a/{path}/{path}": ` + edit}},
		"NoSlash":    {reason: "Two spellings would be one page", Settings: redirect("a.html", "b.html"), want: []string{`book.redirects[a.html]: ` + page}},
		"Parent":     {reason: "A page outside of the book", Settings: redirect("/../a.html", "b.html"), want: []string{`book.redirects[/../a.html]: ` + page}},
		"NoPage":     {reason: "A server would send it as another type", Settings: redirect("/a", "b.html"), want: []string{`book.redirects[/a]: ` + page}},
		"Script":     {reason: "A scheme that runs scripts", Settings: redirect("/a.html", "javascript:x"), want: []string{`book.redirects[/a.html]: Invalid value: "javascript:x": ` + target}},
		"OtherHost":  {reason: "Looks like a path", Settings: redirect("/a.html", "//example.com"), want: []string{`book.redirects[/a.html]: Invalid value: "//example.com": ` + target}},
		"Backslash":  {reason: "Browsers read it as a slash", Settings: redirect("/a.html", `/\example.com`), want: []string{`book.redirects[/a.html]: Invalid value: "/\\example.com": ` + target}},
		"Escaped":    {reason: "mdBook 0.5 would write &#x3D; into JavaScript", Settings: redirect("/a.html", "b.html?c=d"), want: []string{`book.redirects[/a.html]: Invalid value: "b.html?c=d": ` + target}},
		"NoTarget":   {reason: "The page would lead to its folder", Settings: redirect("/a.html", ""), want: []string{`book.redirects[/a.html]: Invalid value: "": ` + target}},
		"Many":       {reason: "One redirect more", Settings: view.Settings{Redirects: redirects(301, "/")}, want: []string{"book.redirects: Too many: 301: must have at most 300 items"}},
		"Large":      {reason: "A variable has at most 128 KiB", Settings: view.Settings{Redirects: redirects(80, strings.Repeat("x", 500))}, want: []string{"book.redirects: Forbidden: remove the oldest redirects: together they have more than 32 KiB (32768 bytes)"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, viewtest.Messages(report.ProblemsOf("", validateSettings(tc.Settings, field.NewPath("book"))))); diff != "" {
				t.Errorf("\n%s\nvalidate(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
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

// redirects returns n redirects to a target.
func redirects(n int, target string) map[string]string {
	all := map[string]string{}
	for i := range n {
		all[fmt.Sprintf("/%03d.html", i)] = target
	}

	return all
}
