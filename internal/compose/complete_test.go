package compose

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// TestConditionOfAnotherBook checks that a condition is kept only for the book that it
// describes: Crossplane writes conditions even if it cannot apply resources.
func TestConditionOfAnotherBook(t *testing.T) {
	const problem = `The book has problems: a.md line 1: fix the link to "b.md", which leads nowhere, or add b.md to the book`
	complete := report.Condition{Type: report.TypeBookComplete, Status: "True", Reason: "Complete", Message: "No problems found in the book"}
	incomplete := report.Condition{Type: report.TypeBookComplete, Status: "False", Reason: "Incomplete", Message: problem}
	other := report.Condition{Type: report.TypeBookComplete, Status: "False", Reason: "Incomplete", Message: "The book has problems: others"}

	for name, tc := range map[string]struct {
		reason, text string
		last         report.Condition
		// described is the condition of the book that the Deployment runs.
		described report.Condition
		want      report.Condition
	}{
		"Complete":       {reason: "The condition stays", last: complete, described: complete, want: complete},
		"Incomplete":     {reason: "The condition stays", text: "[b](b.md)", last: incomplete, described: incomplete, want: incomplete},
		"NewProblem":     {reason: "The condition is that of a book without problems", text: "[b](b.md)", last: complete, described: incomplete, want: incomplete},
		"OldProblem":     {reason: "The condition is that of a book with problems", last: incomplete, described: complete, want: complete},
		"OtherProblem":   {reason: "The condition is that of a book with other problems", text: "[b](b.md)", last: other, described: incomplete, want: incomplete},
		"AfterFailure":   {reason: "Another function failed", text: "[b](b.md)", last: report.Condition{Type: report.TypeBookComplete, Status: "Unknown", Reason: "FatalError", Message: "a"}, described: incomplete, want: incomplete},
		"EarlierRelease": {reason: "A release without the condition composed the book", text: "[b](b.md)", described: complete, want: incomplete},
		// The annotation matches a condition that is wrong for this text, so the result
		// shows that nothing is parsed.
		"NotParsed": {reason: "A book that was composed before is not parsed", text: "[b](b.md)", last: other, described: other, want: other},
	} {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Spec.Markdowns["a.md"] = tc.text
			first := composed(t, v, request.Observed{})
			o := request.Observed{Deployment: &request.ObservedDeployment{}}
			o.Deployment.Spec.Template.Metadata.Annotations.Revision = first.Revision
			o.Deployment.Metadata.Annotations.Incomplete = incompleteHash(tc.described)
			v.Last.Status.Conditions = []report.Condition{tc.last}

			d := composed(t, v, o)
			if diff := cmp.Diff(tc.want, d.Complete); diff != "" {
				t.Errorf("\n%s\nBookComplete: -want, +got:\n%s", tc.reason, diff)
			}
			if got := d.encoded.Annotations[view.AnnotationIncomplete]; got != incompleteHash(tc.want) {
				t.Errorf("\n%s\nannotation: want %q, got %q", tc.reason, incompleteHash(tc.want), got)
			}
		})
	}
}

// TestRedirects checks that a redirect that leads nowhere is in BookComplete, and that one
// that hides a page is an error.
func TestRedirects(t *testing.T) {
	v := viewtest.View()
	v.Spec.Book.Redirects = map[string]string{"/old.html": "lost.html"}
	d, problems := Compose(v, request.Observed{})
	if want := `fix the redirect of "/old.html", which leads nowhere, or add "/lost.html" to the book`; len(problems) > 0 || !strings.Contains(d.Complete.Message, want) {
		t.Errorf("BookComplete: want %q, got %v and %v", want, d, problems)
	}
	v.Spec.Book.Redirects = map[string]string{"/index.html": "https://example.com"}
	_, problems = Compose(v, request.Observed{})
	if got, want := strings.Join(viewtest.Messages(problems), "\n"), `remove the redirect of "/index.html": it hides a page that mdBook writes`; !strings.Contains(got, want) {
		t.Errorf("errors: want %q, got %q", want, got)
	}
}
