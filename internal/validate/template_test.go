package validate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/internal/files"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

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
