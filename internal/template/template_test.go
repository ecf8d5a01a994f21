package template

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/internal/gateway"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
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
	for name, tc := range map[string]struct {
		reason, template string
		want             func(s *corev1.Service)
	}{
		"Added":   {reason: "Maps are merged", template: `{metadata: {annotations: {f: g}}}`, want: func(s *corev1.Service) { s.Annotations["f"] = "g" }},
		"Ports":   {reason: "Lists are merged by the keys of their types", template: `{spec: {ports: [{port: 80, nodePort: 30000}]}}`, want: func(s *corev1.Service) { s.Spec.Ports[0].NodePort = 30000 }},
		"Patch":   {reason: "A template can have directives", template: `{spec: {ports: [{port: 80, $patch: delete}]}}`, want: func(s *corev1.Service) { s.Spec.Ports = []corev1.ServicePort{} }},
		"Removed": {reason: "Null removes a field", template: `{metadata: {annotations: null}}`, want: func(s *corev1.Service) { s.Annotations = nil }},
		"Same":    {reason: "A template can repeat a field that it must not change", template: `{metadata: {name: a}}`, want: func(*corev1.Service) {}},
	} {
		t.Run(name, func(t *testing.T) {
			want := service()
			tc.want(want)
			got, errs := Merge(service(), viewtest.Template(t, tc.template), field.NewPath("at"))
			if diff := cmp.Diff(want, got); diff != "" || len(errs) > 0 {
				t.Errorf("%s\nerrors %v, -want, +got:\n%s", tc.reason, errs, diff)
			}
		})
	}
}

// guardedIn returns the paths of the fields that a template must not change but changes.
func guardedIn[T any](t *testing.T, composed *T, template string) []string {
	t.Helper()
	merged, errs := Merge(composed, viewtest.Template(t, template), nil)
	if merged != composed {
		t.Errorf("Merge() with %s: want the same resource, got %v", template, merged)
	}
	var paths []string
	for _, err := range errs {
		if want := "remove it: a template cannot change this field"; err.Detail != want {
			t.Errorf("%s: want %q, got %q", err.Field, want, err.Detail)
		}
		paths = append(paths, err.Field)
	}
	slices.Sort(paths)

	return paths
}

// TestGuarded checks which fields a template cannot change, all at once.
func TestGuarded(t *testing.T) {
	const deployment = `{apiVersion: v2, kind: A, status: {replicas: 1}, metadata: {name: a, generateName: a, namespace: a, uid: a, resourceVersion: "1", generation: 1,
		creationTimestamp: "2026-01-02T03:04:05Z", deletionTimestamp: "2026-01-02T03:04:05Z", deletionGracePeriodSeconds: 1, managedFields: [{manager: a}],
		ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: b}], labels: {app.kubernetes.io/name: null},
		annotations: {markdownview.fn.crossplane.io/serving: a, markdownview.fn.crossplane.io/incomplete: a}},
		spec: {selector: null, template: {metadata: {labels: {app.kubernetes.io/name: b, app.kubernetes.io/instance: b, app.kubernetes.io/created-by: b},
		annotations: {markdownview.fn.crossplane.io/configmap: a, markdownview.fn.crossplane.io/nginx.conf: a}}}}}`
	ours := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Labels: view.View{}.Selector()}, Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{}}}
	kind := func(kind string) metav1.TypeMeta { return metav1.TypeMeta{Kind: kind} }
	for name, tc := range map[string]struct{ want, got []string }{
		"Deployment": {got: guardedIn(t, ours, deployment), want: []string{
			"apiVersion", "kind", "metadata.annotations.markdownview.fn.crossplane.io/incomplete", "metadata.annotations.markdownview.fn.crossplane.io/serving",
			"metadata.creationTimestamp", "metadata.deletionGracePeriodSeconds", "metadata.deletionTimestamp", "metadata.generateName", "metadata.generation",
			"metadata.labels.app.kubernetes.io/name", "metadata.managedFields", "metadata.name", "metadata.namespace", "metadata.ownerReferences",
			"metadata.resourceVersion", "metadata.uid", "spec.selector", "spec.template.metadata.annotations.markdownview.fn.crossplane.io/configmap",
			"spec.template.metadata.annotations.markdownview.fn.crossplane.io/nginx.conf", "spec.template.metadata.labels.app.kubernetes.io/created-by",
			"spec.template.metadata.labels.app.kubernetes.io/instance", "spec.template.metadata.labels.app.kubernetes.io/name", "status",
		}},
		"NoSpec":    {got: guardedIn(t, ours, `{spec: null}`), want: []string{"spec.selector"}},
		"ConfigMap": {got: guardedIn(t, &corev1.ConfigMap{}, `{immutable: true}`), want: []string{"immutable"}},
		"Ingress":   {got: guardedIn(t, &networkingv1.Ingress{TypeMeta: kind("Ingress")}, `{spec: {rules: [{host: a}], tls: [{secretName: a}]}}`), want: []string{"spec.rules", "spec.tls"}},
		"HTTPRoute": {got: guardedIn(t, &gateway.HTTPRoute{TypeMeta: kind("HTTPRoute")}, `{spec: {hostnames: [a], parentRefs: [{name: a}]}}`), want: []string{"spec.hostnames", "spec.parentRefs"}},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", name, diff)
		}
	}
}

// TestContradiction checks that a directive that the library rejects is an error.
func TestContradiction(t *testing.T) {
	template := viewtest.Template(t, `{spec: {strategy: {$retainKeys: [type], rollingUpdate: {maxSurge: 1}}}}`)
	if errs := CheckMerge(&appsv1.Deployment{}, template, field.NewPath("at")); len(errs) != 1 || errs[0].Field != "at" {
		t.Errorf("want one error of the template, got %v", errs)
	}
}

// TestCheckMerge checks that the fields that a template must not change are named also if
// the template has other errors.
func TestCheckMerge(t *testing.T) {
	got := CheckMerge(service(), viewtest.Template(t, `{metadata: {name: b}, spec: {typ: NodePort, selector: {d: e}}}`), field.NewPath("at"))
	if len(got) != 1 || got[0].Field != "at.metadata.name" {
		t.Errorf("want one error of metadata.name, got %v", got)
	}
}
