package files

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// sharing returns the files of a view that names three ConfigMaps.
func sharing(t *testing.T, markdowns map[string]string) *Files {
	t.Helper()
	v := viewtest.View()
	v.Spec.Spec = *viewtest.Decode[view.Spec](t, `{markdownsFrom: [
		{configMap: {name: guide}, path: guide}, {configMap: {name: empty}}, {configMap: {name: root}}, {configMap: {name: absent}}]}`)
	v.Spec.Markdowns = markdowns
	v.Sent = map[string]*view.ConfigMap{
		"guide": {Data: map[string]string{"a.md": ""}, BinaryData: map[string]string{"A.png": "iVBORw0KGgo="}},
		"empty": {}, "root": {Data: map[string]string{"r.md": ""}}, "absent": nil,
	}

	return Of(v, &corev1.ConfigMap{BinaryData: map[string][]byte{"guide/A.png": nil}})
}

func TestVolume(t *testing.T) {
	project := func(name string, items ...corev1.KeyToPath) corev1.VolumeProjection {
		return corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Items: items}}
	}
	// A source without items would mount keys that are added later.
	want := corev1.Volume{Name: "markdowns", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
		project("ours"),
		project("guide", corev1.KeyToPath{Key: "A.png", Path: "guide/A.png"}, corev1.KeyToPath{Key: "a.md", Path: "guide/a.md"}),
		project("root", corev1.KeyToPath{Key: "r.md", Path: "r.md"}),
	}}}}
	if diff := cmp.Diff(want, sharing(t, map[string]string{"SUMMARY.md": ""}).Volume("ours")); diff != "" {
		t.Errorf("Our own files, and each ConfigMap at its path, by reference: -want, +got:\n%s", diff)
	}
	v := viewtest.View()
	want.VolumeSource = corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "ours"}}}
	if diff := cmp.Diff(want, Of(v, &corev1.ConfigMap{}).Volume("ours")); diff != "" {
		t.Errorf("One ConfigMap: -want, +got:\n%s", diff)
	}
	v.Spec.MarkdownsFrom = []view.Source{{Image: &view.ImageSource{Reference: "a/b:c", PullPolicy: "Always"}}}
	want.VolumeSource = corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "docker.io/a/b:c", PullPolicy: "Always"}}
	if diff := cmp.Diff(want, Of(v, &corev1.ConfigMap{}).Volume("ours")); diff != "" {
		t.Errorf("An image: -want, +got:\n%s", diff)
	}
}

func TestValidateShared(t *testing.T) {
	const want = `[spec.markdownsFrom[0]: Invalid value: file "guide/A.png" is in a template of the Composition too: remove one of them ` +
		`spec.markdownsFrom[0]: Invalid value: file "guide/a.md" is in spec.markdowns too: remove one of them]`
	f := sharing(t, map[string]string{"guide/a.md": ""})
	if got := fmt.Sprint(f.validateShared()); got != want {
		t.Errorf("A file is in two places:\nwant %s\ngot  %s", want, got)
	}
}
