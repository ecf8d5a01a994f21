package validate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// TestSources checks the rules for spec.markdownsFrom.
func TestSources(t *testing.T) {
	const (
		image      = `{image: {reference: a.b/c}}`
		repository = `{ociRepository: {name: a}}`
	)
	from := func(spec string) string { return `{metadata: {name: a, namespace: b}, spec: {` + spec + `}}` }
	checkFields(t, map[string]fieldCase{
		"Most":  {reason: "Eight sources are valid", xr: from(`markdowns: {}, markdownsFrom: [` + strings.Repeat(`{configMap: {name: a}},`, 8) + `]`)},
		"Many":  {reason: "More sources would make the request too large", xr: from(`markdownsFrom: [` + strings.Repeat(`{configMap: {name: a}},`, 9) + `]`), want: "spec.markdownsFrom: Too many: 9: must have at most 8 items"},
		"Image": {reason: "An image that the Input allows", xr: from(`markdownsFrom: [` + image + `]`), input: `{allowedBookImages: ["*/c"]}`},
		"NotAllowed": {
			reason: "An image that the Input does not allow for books",
			xr:     from(`markdownsFrom: [` + image + `]`), input: `{allowedBookImages: [a.b/d], allowedImages: ["*/c"]}`,
			want: "spec.markdownsFrom[0].image.reference: Forbidden: name an image that matches a.b/d",
		},
		"Beside": {
			reason: "A file in the spec and an image",
			xr:     from(`markdowns: {a.md: a}, markdownsFrom: [` + image + `]`), input: `{allowedBookImages: ["*/c"]}`,
			want: "spec.markdownsFrom: Forbidden: remove markdowns, binaries…",
		},
		"Kinds": {
			reason: "Each entry has one source",
			xr:     from(`markdownsFrom: [{}, {configMap: {name: a}, image: {reference: a.b/c}}, {image: {reference: a.b/c}, ociRepository: {name: a}}]`),
			want: strings.Join([]string{
				"spec.markdownsFrom: Forbidden: remove markdowns, binaries and the other entries, or the image…",
				"spec.markdownsFrom[0]: Required value: set exactly one of configMap, image and ociRepository",
				"spec.markdownsFrom[1]: Required value: set exactly one of…", "spec.markdownsFrom[2]: Required value: set exactly one of…",
			}, "\n"),
		},
		"Values": {
			reason: "Values of all kinds are checked, and no image is allowed by default",
			xr:     from(`markdownsFrom: [{configMap: {name: A}, path: ../x}, {image: {reference: A, pullPolicy: a}, path: a}, {image: {reference: a.b/c}}, {ociRepository: {name: A}}, {ociRepository: {}}]`),
			want: strings.Join([]string{
				"spec.markdownsFrom: Forbidden: remove markdowns…",
				`spec.markdownsFrom[0].configMap.name: Invalid value: "A": a lowercase RFC 1123 subdomain…`,
				`spec.markdownsFrom[0].path: Invalid value: "../x": must not begin with ".."`,
				`spec.markdownsFrom[1].image.pullPolicy: Unsupported value: "a": supported values: "Always", "IfNotPresent", "Never"`,
				`spec.markdownsFrom[1].image.reference: Invalid value: "A": write an image reference…`,
				"spec.markdownsFrom[1].path: Forbidden: remove path: an image has the whole book",
				"spec.markdownsFrom[2].image.reference: Forbidden: use markdowns or ConfigMaps: the Input's allowedBookImages allows no image",
				`spec.markdownsFrom[3].ociRepository.name: Invalid value: "A": must be the name of a resource`,
				"spec.markdownsFrom[4].ociRepository.name: Required value",
			}, "\n"),
		},
		"Alone": {
			reason: "An image has the whole book",
			xr:     from(`summary: Auto, binaries: {a.png: ""}, markdownsFrom: [` + repository + `]`),
			want: strings.Join([]string{
				"spec.markdownsFrom: Forbidden: remove markdowns, binaries and the other entries, or the image: an image has the whole book",
				"spec.summary: Forbidden: remove summary, and add SUMMARY.md to the image: the function cannot read an image",
			}, "\n"),
		},
	})
	v := viewtest.View()
	v.Spec.Spec = *viewtest.Decode[view.Spec](t, `{markdownsFrom: [{configMap: {name: a}}]}`)
	want := []string{"spec.markdownsFrom: Forbidden: upgrade Crossplane to v2.2 or later: " +
		"this version does not send resources to functions"}
	if diff := cmp.Diff(want, viewtest.Messages(Request(request.Request{View: v}))); diff != "" {
		t.Errorf("A Crossplane without capabilities: -want, +got:\n%s", diff)
	}
}
