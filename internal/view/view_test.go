package view

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
)

func TestNames(t *testing.T) {
	type want struct {
		ConfigMap, Viewer, Instance string
	}

	cases := map[string]struct {
		reason string
		name   string
		want   want
	}{
		"Plain": {
			reason: "A name that is valid for a Service is not altered",
			name:   "sample",
			want:   want{"markdowns-sample", "viewer-sample", "sample"},
		},
		"DigitFirst": {
			reason: "A digit is valid after the prefix",
			name:   "1st",
			want:   want{"markdowns-1st", "viewer-1st", "1st"},
		},
		"LongestUnaltered": {
			reason: "With the prefix viewer-, a name of 56 characters has 63, the maximum for a Service",
			name:   strings.Repeat("a", 56),
			want:   want{"markdowns-" + strings.Repeat("a", 56), "viewer-" + strings.Repeat("a", 56), strings.Repeat("a", 56)},
		},
		"TooLongForService": {
			reason: "A longer name is shortened and gets a hash, but a label can still have the whole name",
			name:   strings.Repeat("a", 57),
			want: want{
				"markdowns--" + strings.Repeat("a", 44) + "-f13b2d7246",
				"viewer--" + strings.Repeat("a", 44) + "-f13b2d7246",
				strings.Repeat("a", 57),
			},
		},
		"LongestLabel": {
			reason: "A label value can have 63 characters",
			name:   strings.Repeat("a", 63),
			want: want{
				"markdowns--" + strings.Repeat("a", 44) + "-7d3e74a05d",
				"viewer--" + strings.Repeat("a", 44) + "-7d3e74a05d",
				strings.Repeat("a", 63),
			},
		},
		"CutBehindDot": {
			reason: "A dot before the hash is removed",
			name:   strings.Repeat("a", 51) + "." + strings.Repeat("b", 20),
			want: want{
				"markdowns--" + strings.Repeat("a", 44) + "-a8c1068876",
				"viewer--" + strings.Repeat("a", 44) + "-a8c1068876",
				strings.Repeat("a", 51) + "_a8c1068876",
			},
		},
		"Dots": {
			reason: "A Service cannot have dots, so the names of all three resources are altered",
			name:   "team.guide",
			want:   want{"markdowns--team-guide-23b65c5bdb", "viewer--team-guide-23b65c5bdb", "team.guide"},
		},
		"CutBeforeDash": {
			reason: "A dash before the hash is removed",
			name:   strings.Repeat("a", 43) + "-" + strings.Repeat("b", 20),
			want: want{
				"markdowns--" + strings.Repeat("a", 43) + "-f10d15a71c",
				"viewer--" + strings.Repeat("a", 43) + "-f10d15a71c",
				strings.Repeat("a", 43) + "-" + strings.Repeat("b", 8) + "_f10d15a71c",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := View{}
			v.Metadata.Name = tc.name

			got := want{v.ConfigMapName(), v.ViewerName(), v.Instance()}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nnames of %q: -want, +got:\n%s", tc.reason, tc.name, diff)
			}
		})
	}
}

func TestSelectorIsPermanent(t *testing.T) {
	v := View{}
	v.Metadata.Name = "sample"

	want := map[string]string{
		"app.kubernetes.io/name":       "mdbook",
		"app.kubernetes.io/instance":   "sample",
		"app.kubernetes.io/created-by": "function-markdownview",
	}
	if diff := cmp.Diff(want, v.Selector()); diff != "" {
		t.Errorf("The selector of a Deployment is immutable, so a change would make every existing Deployment impossible to update: -want, +got:\n%s", diff)
	}
}

func TestNamespace(t *testing.T) {
	cases := map[string]struct {
		reason            string
		own, claim, input string
		want              string
	}{
		"Namespaced":    {reason: "The resources of a namespaced XR are in its namespace", own: "a", claim: "b", input: "c", want: "a"},
		"Claim":         {reason: "The resources of a legacy XR are in the namespace of its claim", claim: "b", input: "c", want: "b"},
		"ClusterScoped": {reason: "The resources of a cluster-scoped XR are in the namespace of the Input", input: "c", want: "c"},
		"Nowhere":       {reason: "There is no namespace", want: ""},
	}
	for name, tc := range cases {
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
	cases := map[string]struct {
		reason string
		spec   string
		input  string
		want   string
	}{
		"Spec":    {reason: "The image of the XR takes precedence. It has its registry, because a node may resolve a short name differently", spec: "a:v1", input: "b", want: "docker.io/library/a:v1"},
		"Invalid": {reason: "An invalid reference is not altered: validation reports it", spec: "A", want: "A"},
		"Input":   {reason: "The default of the Input comes next", input: "b", want: "b"},
		"Default": {reason: "The default of the function comes last, and has a version", want: "docker.io/peaceiris/mdbook:v0.5.0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := View{Input: v1beta1.Input{ViewerImage: tc.input}}
			v.Spec.ViewerImage = tc.spec

			if got := v.Image(); got != tc.want {
				t.Errorf("\n%s\nimage(): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
