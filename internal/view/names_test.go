package view

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNames(t *testing.T) {
	a := strings.Repeat("a", 70)
	// base is the part of the names of both resources that depends on the name of the XR.
	for name, tc := range map[string]struct {
		reason, name, base, instance string
	}{
		"Plain":             {"A name that is valid for a Service is not altered", "sample", "sample", "sample"},
		"DigitFirst":        {"A digit is valid after the prefix", "1st", "1st", "1st"},
		"LongestUnaltered":  {"With the prefix viewer-, a Service has at most 63 characters", a[:56], a[:56], a[:56]},
		"TooLongForService": {"A label can have a longer name than a Service", a[:57], "-" + a[:44] + "-f13b2d7246", a[:57]},
		"LongestLabel":      {"A label value can have 63 characters", a[:63], "-" + a[:44] + "-7d3e74a05d", a[:63]},
		"CutBehindDot": {
			"A dot before the hash is removed", a[:51] + "." + strings.Repeat("b", 20),
			"-" + a[:44] + "-a8c1068876", a[:51] + "_a8c1068876",
		},
		"CutBeforeDash": {
			"A dash before the hash is removed", a[:43] + "-" + strings.Repeat("b", 20),
			"-" + a[:43] + "-f10d15a71c", a[:43] + "-bbbbbbbb_f10d15a71c",
		},
		"Dots": {"A Service cannot have dots", "team.guide", "-team-guide-23b65c5bdb", "team.guide"},
	} {
		t.Run(name, func(t *testing.T) {
			v := View{}
			v.Metadata.Name = tc.name
			got := []string{v.ConfigMapName(), v.ViewerName(), v.Instance()}
			if diff := cmp.Diff([]string{"markdowns-" + tc.base, "viewer-" + tc.base, tc.instance}, got); diff != "" {
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
		t.Errorf("The selector of a Deployment is immutable, so no existing Deployment could be updated: -want, +got:\n%s", diff)
	}
}

func TestConfigMapOf(t *testing.T) {
	v := View{}
	v.Metadata.Name = "sample"
	for key, want := range map[string]struct {
		name      string
		immutable bool
	}{
		"configmap":                   {"markdowns-sample", false},
		"configmap-0123456789abcdef":  {"markdowns-sample.0123456789abcdef", true},
		"configmap-0123456789abcdefa": {"markdowns-sample.0123456789abcdefa", false},
		"configmap-0123456789abcdeg":  {"markdowns-sample.0123456789abcdeg", false},
	} {
		if name, immutable := v.ConfigMapOf(key), IsImmutableKey(key); name != want.name || immutable != want.immutable {
			t.Errorf("%s: want %v, got %s and %t", key, want, name, immutable)
		}
	}
}
