package validate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/files"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// TestTemplates checks templates before they are merged. package template has more cases.
func TestTemplates(t *testing.T) {
	in := *viewtest.Decode[v1beta1.Input](t, `{route: {}, podDisruptionBudget: {}}`)
	in.Templates = v1beta1.Templates{
		HTTPRoute:           viewtest.Template(t, `{spec: {rules: [{timeout: 10s, filters: [{type: 1}]}]}}`),
		Ingress:             viewtest.Template(t, `{}`),
		PodDisruptionBudget: viewtest.Template(t, `{spec: {$patch: merge}}`),
	}
	want := []string{
		"at.httpRoute.spec.rules[0].filters[0].type: Invalid value: must be a string",
		"at.httpRoute.spec.rules[0].timeout: Forbidden: unknown field: use one of backendRefs, filters, matches, name, timeouts",
		`at.podDisruptionBudget.spec.$patch: Unsupported value: supported values: "replace", "delete"`,
		"at.ingress: Forbidden: set input.ingress, or remove the template: it has no effect",
	}
	if diff := cmp.Diff(want, viewtest.Messages(report.ProblemsOf("", validateTemplates(in, field.NewPath("at"))))); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestExtraSize checks how large the files are that a template adds.
func TestExtraSize(t *testing.T) {
	const half = 1 << 19
	v := viewtest.View()
	v.Spec.Markdowns = map[string]string{"SUMMARY.md": strings.Repeat("a", half)}
	at := field.NewPath("configMap")
	extra := &corev1.ConfigMap{Data: map[string]string{"a.txt": strings.Repeat("a", half-1)}, BinaryData: map[string][]byte{"b.png": {1}}}
	if errs := extraErrors(files.Of(v, extra), at); len(errs) > 0 {
		t.Errorf("All files together have 1 MiB: want no error, got %v", errs)
	}
	extra.BinaryData["b.png"] = []byte{1, 2}
	want := []string{"configMap: Forbidden: shorten or remove files: together with those of the MarkdownView they have more than 1 MiB"}
	if diff := cmp.Diff(want, viewtest.Messages(report.ProblemsOf("", extraErrors(files.Of(v, extra), at)))); diff != "" {
		t.Errorf("All files together have more than 1 MiB: -want, +got:\n%s", diff)
	}
	v.Spec.Markdowns["b.md"] = strings.Repeat("a", half+1)
	if errs := extraErrors(files.Of(v, &corev1.ConfigMap{}), at); len(errs) > 0 {
		t.Errorf("The template adds no file: want no error, got %v", errs)
	}
}
