package fn

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestConditionOfAnotherBook checks that a condition is kept only for the book that it
// describes: Crossplane writes conditions even if it cannot apply resources.
func TestConditionOfAnotherBook(t *testing.T) {
	const problem = `The book has problems: a.md line 1: the link to "b.md" leads nowhere: b.md is not in the book`
	complete := condition{TypeBookComplete, "True", "Complete", "No problems found in the book"}
	incomplete := condition{TypeBookComplete, "False", "Incomplete", problem}
	other := condition{TypeBookComplete, "False", "Incomplete", "The book has problems: others"}

	cases := map[string]struct {
		reason string
		text   string
		last   condition
		// described is the condition of the book that the Deployment runs.
		described condition
		want      condition
	}{
		"Complete":       {reason: "The condition stays", last: complete, described: complete, want: complete},
		"Incomplete":     {reason: "The condition stays", text: "[b](b.md)", last: incomplete, described: incomplete, want: incomplete},
		"NewProblem":     {reason: "The condition is that of a book without problems", text: "[b](b.md)", last: complete, described: incomplete, want: incomplete},
		"OldProblem":     {reason: "The condition is that of a book with problems", last: incomplete, described: complete, want: complete},
		"OtherProblem":   {reason: "The condition is that of a book with other problems", text: "[b](b.md)", last: other, described: incomplete, want: incomplete},
		"AfterFailure":   {reason: "Another function failed", text: "[b](b.md)", last: condition{TypeBookComplete, "Unknown", "FatalError", "a"}, described: incomplete, want: incomplete},
		"EarlierRelease": {reason: "A release without the condition composed the book", text: "[b](b.md)", described: complete, want: incomplete},
		// The annotation matches a condition that is wrong for this text, so the result
		// shows that nothing is parsed.
		"NotParsed": {reason: "A book that was composed before is not parsed", text: "[b](b.md)", last: other, described: other, want: other},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := settledView()
			v.Spec.Markdowns["a.md"] = tc.text
			first, problems := compose(v, observed{})
			if len(problems) > 0 {
				t.Fatal(messages(problems))
			}
			o := observed{deployment: &observedDeployment{}}
			o.deployment.Spec.Template.Metadata.Annotations.Revision = first.revision
			o.deployment.Metadata.Annotations.Incomplete = tc.described.incomplete()
			v.last.Status.Conditions = []condition{tc.last}

			d, problems := compose(v, o)
			if len(problems) > 0 {
				t.Fatal(messages(problems))
			}
			if diff := cmp.Diff(tc.want, d.complete); diff != "" {
				t.Errorf("\n%s\nBookComplete: -want, +got:\n%s", tc.reason, diff)
			}
			if got := d.encoded.Annotations[annotationIncomplete]; got != tc.want.incomplete() {
				t.Errorf("\n%s\nannotation: want %q, got %q", tc.reason, tc.want.incomplete(), got)
			}
		})
	}
}

// TestLongMessage checks that a shortened message is not shortened again.
func TestLongMessage(t *testing.T) {
	for n := range 4 {
		message := strings.Repeat("x", n) + strings.Repeat("一", maxIncomplete)
		once := lineOf(message, maxIncomplete)
		if twice := lineOf(once, maxIncomplete); len(once) > maxIncomplete+len("…") || twice != once {
			t.Errorf("a message of %d bytes: got %d bytes, and %d bytes when shortened again", len(message), len(once), len(twice))
		}
	}
}

// TestGeneratedSummary checks that SUMMARY.md is generated again if somebody changed it
// in the cluster.
func TestGeneratedSummary(t *testing.T) {
	v := settledView()
	v.Spec.Markdowns = map[string]string{"a.md": "# A"}
	v.Spec.Summary = summaryAuto
	const want = "# Summary\n\n- [A](a.md)\n"

	for _, text := range []string{"", want, "# Summary\n\n- [Mine](a.md)\n"} {
		first, _ := compose(v, observed{})
		o := observed{deployment: &observedDeployment{}, configMaps: map[string]*observedConfigMap{keyConfigMap: {Data: map[string]string{summary: text}}}}
		o.deployment.Spec.Template.Metadata.Annotations.Revision = first.revision
		d, problems := compose(v, o)
		if len(problems) > 0 {
			t.Fatal(messages(problems))
		}
		if got := d.configMap.Data[summary]; got != want {
			t.Errorf("SUMMARY.md when %q is observed: want %q, got %q", text, want, got)
		}
	}
}

// TestSummaryRemoved checks that a SUMMARY.md that a user wrote and removed is replaced
// by a generated one.
func TestSummaryRemoved(t *testing.T) {
	v := settledView()
	v.Spec.Markdowns = map[string]string{"a.md": "# A", "b.md": "# B", summary: "- [B](b.md)\n"}
	v.Spec.Summary = summaryAuto
	before, _ := compose(v, observed{})
	o := observed{deployment: &observedDeployment{}, configMaps: map[string]*observedConfigMap{keyConfigMap: {Data: before.configMap.Data}}}
	o.deployment.Spec.Template.Metadata.Annotations.Revision = before.revision

	delete(v.Spec.Markdowns, summary)
	d, problems := compose(v, o)
	if len(problems) > 0 {
		t.Fatal(messages(problems))
	}
	const want = "# Summary\n\n- [A](a.md)\n- [B](b.md)\n"
	if got := d.configMap.Data[summary]; got != want {
		t.Errorf("SUMMARY.md: want %q, got %q", want, got)
	}
}

func TestCanonical(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "",
		"AAEC":                 "AAEC",
		"AAEC\nAwQF\r\nBgc=\n": "AAECAwQFBgc=",
		"Zh==":                 "Zg==",
		"AAECZh==\n":           "AAECZg==",
	} {
		if got := canonical(text); got != want {
			t.Errorf("canonical(%q): want %q, as the API server writes it, got %q", text, want, got)
		}
	}
}

// TestExtraItems checks that the volume keeps the files that a template adds when a
// file of the book needs an item.
func TestExtraItems(t *testing.T) {
	v := settledView()
	v.input.Templates.ConfigMap = template(t, `{data: {theme.css: body}, binaryData: {x.png: aGk=}}`)
	flat, _ := compose(v, observed{})
	if items := flat.deployment.Spec.Template.Spec.Volumes[0].ConfigMap.Items; len(items) > 0 {
		t.Errorf("A book without folders needs no items: got %v", items)
	}

	v.Spec.Markdowns["folder/b.txt"] = "text"
	nested, problems := compose(v, observed{})
	if len(problems) > 0 {
		t.Fatal(messages(problems))
	}
	got := map[string]string{}
	for _, item := range nested.deployment.Spec.Template.Spec.Volumes[0].ConfigMap.Items {
		got[item.Path] = item.Key
	}
	want := map[string]string{
		"SUMMARY.md": "SUMMARY.md", "a.md": "a.md", "theme.css": "theme.css", "x.png": "x.png",
		"folder/b.txt": "folder_b.txt-a5a3621efffe1dbd56ac",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("items: -want, +got:\n%s", diff)
	}
}
