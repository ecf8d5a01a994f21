package view

import (
	"testing"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
)

func TestNamespace(t *testing.T) {
	for _, tc := range []struct {
		reason, own, claim, input, want string
	}{
		{"The resources of a namespaced XR are in its namespace", "a", "b", "c", "a"},
		{"The resources of a legacy XR are in the namespace of its claim", "", "b", "c", "b"},
		{"The resources of a cluster-scoped XR are in the namespace of the Input", "", "", "c", "c"},
		{"There is no namespace", "", "", "", ""},
	} {
		v := View{Input: v1beta1.Input{Namespace: tc.input}}
		v.Metadata.Namespace, v.Spec.ClaimRef.Namespace = tc.own, tc.claim
		if got := v.Namespace(); got != tc.want {
			t.Errorf("%s: want %q, got %q", tc.reason, tc.want, got)
		}
	}
}

func TestImage(t *testing.T) {
	for _, tc := range []struct {
		reason, spec, input, want string
	}{
		{"The image of the XR takes precedence. It has its registry, because a node may resolve a short name differently", "a:v1", "b", "docker.io/library/a:v1"},
		{"An invalid reference is not altered: validation reports it", "A", "", "A"},
		{"The default of the Input comes next", "", "b", "b"},
		{"The default of the function comes last, and has a version", "", "", "docker.io/peaceiris/mdbook:v0.5.0"},
	} {
		v := View{Input: v1beta1.Input{ViewerImage: tc.input}}
		v.Spec.ViewerImage = tc.spec
		if got := v.Image(); got != tc.want {
			t.Errorf("%s: want %q, got %q", tc.reason, tc.want, got)
		}
	}
}
