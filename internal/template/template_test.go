package template

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

func service() *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: map[string]string{"b": "c"}},
		Spec:       corev1.ServiceSpec{Selector: map[string]string{"d": "e"}, Ports: []corev1.ServicePort{{Name: "http", Port: 80}}},
	}
}

// TestMerge checks what a template changes. package compose has more cases, with the
// composed resources.
func TestMerge(t *testing.T) {
	cases := map[string]struct {
		reason, template string
		want             func(s *corev1.Service)
		errors           []string
	}{
		"Added":   {reason: "Maps are merged", template: `{metadata: {annotations: {f: g}}}`, want: func(s *corev1.Service) { s.Annotations["f"] = "g" }},
		"Ports":   {reason: "Lists are merged by the keys of their types", template: `{spec: {ports: [{port: 80, nodePort: 30000}]}}`, want: func(s *corev1.Service) { s.Spec.Ports[0].NodePort = 30000 }},
		"Removed": {reason: "Null removes a field", template: `{metadata: {annotations: null}}`, want: func(s *corev1.Service) { s.Annotations = nil }},
		"Same":    {reason: "A template can repeat a field that it must not change", template: `{metadata: {name: a}}`, want: func(*corev1.Service) {}},
		"Guarded": {
			reason: "All fields that a template must not change are named", template: `{metadata: {name: b}, spec: {selector: null}}`, want: func(*corev1.Service) {},
			errors: []string{"at.metadata.name: Forbidden: remove it: a template cannot change this field", "at.spec.selector: Forbidden: remove it: a template cannot change this field"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, errs := Merge(service(), viewtest.Template(t, tc.template), field.NewPath("at"))
			want := service()
			tc.want(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.errors, viewtest.Messages(report.ProblemsOf("", errs))); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCheckMerge checks that the fields that a template must not change are named also if
// the template has other errors.
func TestCheckMerge(t *testing.T) {
	got := CheckMerge(service(), viewtest.Template(t, `{metadata: {name: b}, spec: {typ: NodePort, selector: {d: e}}}`), field.NewPath("at"))
	want := []string{"at.metadata.name: Forbidden: remove it: a template cannot change this field"}
	if diff := cmp.Diff(want, viewtest.Messages(report.ProblemsOf("", got))); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
