package view

import (
	"testing"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
)

func TestNamespace(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, own, claim, input, want string
	}{
		"Namespaced":    {reason: "The resources of a namespaced XR are in its namespace", own: "a", claim: "b", input: "c", want: "a"},
		"Claim":         {reason: "The resources of a legacy XR are in the namespace of its claim", claim: "b", input: "c", want: "b"},
		"ClusterScoped": {reason: "The resources of a cluster-scoped XR are in the namespace of the Input", input: "c", want: "c"},
		"Nowhere":       {reason: "There is no namespace", want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := View{Input: v1beta1.Input{Namespace: tc.input}}
			v.Metadata.Namespace = tc.own
			v.Spec.ClaimRef.Namespace = tc.claim

			if got := v.Namespace(); got != tc.want {
				t.Errorf("\n%s\nnamespace(): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

func TestImage(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, spec, input, want string
	}{
		"Spec":    {reason: "The image of the XR takes precedence. It has its registry, because a node may resolve a short name differently", spec: "a:v1", input: "b", want: "docker.io/library/a:v1"},
		"Invalid": {reason: "An invalid reference is not altered: validation reports it", spec: "A", want: "A"},
		"Input":   {reason: "The default of the Input comes next", input: "b", want: "b"},
		"Default": {reason: "The default of the function comes last, and has a version", want: "docker.io/peaceiris/mdbook:v0.5.0"},
	} {
		t.Run(name, func(t *testing.T) {
			v := View{Input: v1beta1.Input{ViewerImage: tc.input}}
			v.Spec.ViewerImage = tc.spec

			if got := v.Image(); got != tc.want {
				t.Errorf("\n%s\nimage(): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
