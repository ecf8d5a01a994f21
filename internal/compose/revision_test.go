package compose

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/function-markdownview/internal/objects"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

func TestRevision(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		change func(*view.View)
		same   bool
	}{
		"Unchanged": {reason: "A change of the revision restarts every pod of every book", change: func(*view.View) {}, same: true},
		"Text":      {reason: "A changed text is another revision", change: func(v *view.View) { v.Spec.Markdowns["a.md"] = "text" }},
		"File":      {reason: "A new file is another revision", change: func(v *view.View) { v.Spec.Binaries = map[string]string{"b.png": ""} }},
		"MovedText": {reason: "Moving text from the content to the name is another revision", change: func(v *view.View) {
			v.Spec.Markdowns = map[string]string{"SUMMARY.md": "- [A](a.md)", "a.mdb": "", "a.md": ""}
		}},
		"Image":       {reason: "Another image is another revision", change: func(v *view.View) { v.Spec.ViewerImage = "a" }},
		"Replicas":    {reason: "The number of replicas is not part of the revision", change: func(v *view.View) { v.Spec.Replicas = nil }, same: true},
		"Labels":      {reason: "Labels of the resources are not part of the revision", change: func(v *view.View) { v.Input.Labels = map[string]string{"a": "b"} }, same: true},
		"ServiceType": {reason: "The Service is not part of the revision", change: func(v *view.View) { v.Input.Service.Type = "NodePort" }, same: true},
	} {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			tc.change(&v)
			d := composed(t, v, request.Observed{})
			if same := d.Revision == viewtest.Revision; same != tc.same {
				t.Errorf("\n%s\nsame revision: want %t, got %t", tc.reason, tc.same, same)
			}
		})
	}
}

// TestRevisionsDiffer checks that a difference in any argument gives another revision, and that
// empty maps and lists give none. Package objects checks what is encoded of them.
func TestRevisionsDiffer(t *testing.T) {
	template := func(labels map[string]string, pod corev1.PodSpec) podTemplate {
		return podTemplate{metav1.ObjectMeta{Labels: labels}, objects.Encode(&pod)}
	}
	shared := func(all ...view.ConfigMap) (files []view.SharedFiles) {
		for _, cm := range all {
			files = append(files, view.SharedFiles{ConfigMap: &cm})
		}

		return files
	}
	text, empty := map[string]string{"a": "Yg=="}, template(nil, corev1.PodSpec{})
	revisions := map[string]string{
		"Nothing":   revision(content{}, false, false, nil, empty),
		"Data":      revision(content{Data: text}, false, false, nil, empty),
		"Binary":    revision(content{BinaryData: text}, false, false, nil, empty),
		"Generated": revision(content{}, true, false, nil, empty),
		"Pending":   revision(content{}, false, true, nil, empty),
		"Shared":    revision(content{}, false, false, shared(view.ConfigMap{Data: text}), empty),
		"SharedBin": revision(content{}, false, false, shared(view.ConfigMap{BinaryData: text}), empty),
		"TwoShared": revision(content{}, false, false, shared(view.ConfigMap{}, view.ConfigMap{Data: text}), empty),
		"Metadata":  revision(content{}, false, false, nil, template(text, corev1.PodSpec{})),
		"Pod":       revision(content{}, false, false, nil, template(nil, corev1.PodSpec{NodeName: "a"})),
	}
	names := map[string]string{}
	for name, r := range revisions {
		if other, ok := names[r]; ok {
			t.Errorf("want different revisions for %s and %s, got %s for both", name, other, r)
		}
		names[r] = name
	}
	none := map[string]string{}
	got := revision(content{none, none}, false, false, []view.SharedFiles{}, template(nil, corev1.PodSpec{NodeSelector: none, Containers: []corev1.Container{}}))
	if want := revisions["Nothing"]; got != want {
		t.Errorf("revision with empty maps and lists: want %s, as without them, got %s", want, got)
	}
}
