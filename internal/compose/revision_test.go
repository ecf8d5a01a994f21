package compose

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/internal/files"
	"github.com/crossplane-contrib/function-markdownview/internal/objects"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

func TestRevision(t *testing.T) {
	original, _ := Compose(viewtest.View(), request.Observed{})
	if got := original.Revision; got != viewtest.Revision {
		t.Errorf("A change of the revision restarts every pod of every book: want %q, got %q", viewtest.Revision, got)
	}

	cases := map[string]struct {
		reason string
		change func(*view.View)
		same   bool
	}{
		"Text": {reason: "A changed text is another revision", change: func(v *view.View) { v.Spec.Markdowns = map[string]string{"SUMMARY.md": "- [B](a.md)", "a.md": ""} }},
		"File": {reason: "A new file is another revision", change: func(v *view.View) {
			v.Spec.Markdowns = map[string]string{"SUMMARY.md": "- [A](a.md)", "a.md": "", "b.png": ""}
		}},
		"MovedText": {reason: "Moving text from the content to the name is another revision", change: func(v *view.View) {
			v.Spec.Markdowns = map[string]string{"SUMMARY.md": "- [A](a.md)", "a.mdb": "", "a.md": ""}
		}},
		"Image":       {reason: "Another image is another revision", change: func(v *view.View) { v.Spec.ViewerImage = "a" }},
		"Replicas":    {reason: "The number of replicas is not part of the revision", change: func(v *view.View) { v.Spec.Replicas = nil }, same: true},
		"Labels":      {reason: "Labels of the resources are not part of the revision", change: func(v *view.View) { v.Input.Labels = map[string]string{"a": "b"} }, same: true},
		"ServiceType": {reason: "The Service is not part of the revision", change: func(v *view.View) { v.Input.Service.Type = "NodePort" }, same: true},
		"PullPolicy":  {reason: "Every field of the pod template is part of the revision", change: func(v *view.View) { v.Input.ImagePullPolicy = "Always" }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			tc.change(&v)
			changed, _ := Compose(v, request.Observed{})

			if got := changed.Revision == original.Revision; got != tc.same {
				t.Errorf("\n%s\nsame revision: want %t, got %t", tc.reason, tc.same, got)
			}
		})
	}
}

func revisionOf(cm files.ConfigMap, template corev1.PodTemplateSpec) string {
	return revision(content{cm.BinaryData, cm.Data}, false, false, nil, podTemplate{template.ObjectMeta, objects.Encode(&template.Spec)})
}

// TestRevisionsDiffer checks that a difference in any field gives another revision.
func TestRevisionsDiffer(t *testing.T) {
	pod := func(change func(s *corev1.PodSpec)) corev1.PodTemplateSpec {
		s := corev1.PodSpec{
			EnableServiceLinks:            ptr.To(false),
			TerminationGracePeriodSeconds: ptr.To[int64](5),
			Containers: []corev1.Container{{
				Name:  "a",
				Args:  []string{"x", "y"},
				Ports: []corev1.ContainerPort{{ContainerPort: 1}},
				LivenessProbe: &corev1.Probe{
					ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}},
				},
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}},
			}},
		}
		change(&s)

		return corev1.PodTemplateSpec{Spec: s}
	}
	same := func(*corev1.PodSpec) {}

	cases := map[string]struct {
		configMap files.ConfigMap
		template  corev1.PodTemplateSpec
	}{
		"Plain":       {template: pod(same)},
		"File":        {configMap: files.ConfigMap{Data: map[string]string{"a": "b"}}, template: pod(same)},
		"FileMoved":   {configMap: files.ConfigMap{Data: map[string]string{"ab": ""}}, template: pod(same)},
		"EmptyFile":   {configMap: files.ConfigMap{Data: map[string]string{"a": "b", "b": ""}}, template: pod(same)},
		"Binary":      {configMap: files.ConfigMap{BinaryData: map[string]string{"a": "Yg=="}}, template: pod(same)},
		"OtherBinary": {configMap: files.ConfigMap{BinaryData: map[string]string{"a": "Yw=="}}, template: pod(same)},
		"Metadata":    {template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}, Spec: pod(same).Spec}},
		"Bool":        {template: pod(func(s *corev1.PodSpec) { s.EnableServiceLinks = ptr.To(true) })},
		"Unset":       {template: pod(func(s *corev1.PodSpec) { s.EnableServiceLinks = nil })},
		"OtherField":  {template: pod(func(s *corev1.PodSpec) { s.EnableServiceLinks, s.HostUsers = nil, ptr.To(false) })},
		"Number":      {template: pod(func(s *corev1.PodSpec) { s.TerminationGracePeriodSeconds = ptr.To[int64](6) })},
		"Zero":        {template: pod(func(s *corev1.PodSpec) { s.TerminationGracePeriodSeconds = ptr.To[int64](0) })},
		"Text":        {template: pod(func(s *corev1.PodSpec) { s.Containers[0].Name = "b" })},
		"Item":        {template: pod(func(s *corev1.PodSpec) { s.Containers[0].Args = []string{"x", "y", ""} })},
		"ItemMoved":   {template: pod(func(s *corev1.PodSpec) { s.Containers[0].Args = []string{"xy", ""} })},
		"Order":       {template: pod(func(s *corev1.PodSpec) { s.Containers[0].Args = []string{"y", "x"} })},
		"Command":     {template: pod(func(s *corev1.PodSpec) { s.Containers[0].Args, s.Containers[0].Command = nil, []string{"x", "y"} })},
		"Nested":      {template: pod(func(s *corev1.PodSpec) { s.Containers[0].Ports[0].ContainerPort = 2 })},
		"Port":        {template: pod(func(s *corev1.PodSpec) { s.Containers[0].LivenessProbe.TCPSocket.Port = intstr.FromInt32(81) })},
		"NamedPort":   {template: pod(func(s *corev1.PodSpec) { s.Containers[0].LivenessProbe.TCPSocket.Port = intstr.FromString("80") })},
		"Quantity":    {template: pod(func(s *corev1.PodSpec) { s.Containers[0].Resources.Requests["cpu"] = resource.MustParse("2") })},
		"Limit": {template: pod(func(s *corev1.PodSpec) {
			s.Containers[0].Resources = corev1.ResourceRequirements{Limits: s.Containers[0].Resources.Requests}
		})},
		"TwoContainers": {template: pod(func(s *corev1.PodSpec) { s.Containers = append(s.Containers, corev1.Container{Name: "b"}) })},
	}
	names := map[string]string{}
	for name, c := range cases {
		r := revisionOf(c.configMap, c.template)
		if other, ok := names[r]; ok {
			t.Errorf("want different revisions for %[2]s and %[3]s, got %[1]s for both", r, name, other)
		}
		names[r] = name
	}
}

// TestRevisionOfUnset checks that empty maps and lists, which are not written, are not
// part of the revision.
func TestRevisionOfUnset(t *testing.T) {
	pod := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a"}}}}
	want := revisionOf(files.ConfigMap{}, pod)

	pod.Spec.NodeSelector = map[string]string{}
	pod.Spec.Containers[0].Args = []string{}
	got := revisionOf(files.ConfigMap{Data: map[string]string{}, BinaryData: map[string]string{}}, pod)
	if want != got {
		t.Errorf("revision with empty maps and lists: want %s, as without them, got %s", want, got)
	}
}
