package admission_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	xpv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	"github.com/google/go-cmp/cmp"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const tutorial = "../../example/tutorial/definition.yaml"

// TestBounds checks that also the XRD of the tutorial rejects MarkdownViews that are too large for
// the function.
func TestBounds(t *testing.T) {
	const name = "A file name of more than 1,024 bytes"
	const long = "spec.markdowns: Invalid value: a file name must be at most 1024 characters long"
	a, specs, want := serveFile(t, tutorial), rejections(t), documented(t)
	specs[name]["markdowns"], want[name] = files(map[string]string{strings.Repeat("x/", 600): ""}), []string{long}
	specs["Fits"] = spec(t, wide)
	for _, name := range []string{
		name, "Fits", "No `SUMMARY.md`", "More than 1,000 files", "More than 1,048,576 characters of text", "0 replicas",
		"More than 5 replicas", "A `viewerImage` of more than 512 characters",
	} {
		xr := view(specs[name])
		xr["apiVersion"] = "view.zoetrope.github.io/v1"
		_, got := a.create(t, xr)
		if diff := cmp.Diff(want[name], got); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", name, diff)
		}
	}
}

// TestNothingUnbounded checks that every field of both XRDs has a limit. A rule limits the total
// size of the files.
func TestNothingUnbounded(t *testing.T) {
	for file, want := range map[string][]string{
		definition: {"spec.binaries[]", "spec.markdowns[]"}, tutorial: {"spec.markdowns[]"},
	} {
		props := extv1.JSONSchemaProps{}
		raw := read[xpv1.CompositeResourceDefinition](t, file).Spec.Versions[0].Schema.OpenAPIV3Schema.Raw
		must(t, json.Unmarshal(raw, &props))
		if diff := cmp.Diff(want, unbounded("spec", props.Properties["spec"])); diff != "" {
			t.Errorf("%s: fields without a limit: -want, +got:\n%s", file, diff)
		}
	}
}

func unbounded(path string, props extv1.JSONSchemaProps) []string {
	var found []string
	bounded := true
	switch props.Type {
	case "object":
		bounded = props.AdditionalProperties == nil || props.MaxProperties != nil
	case "array":
		bounded = props.MaxItems != nil
	case "integer":
		bounded = props.Minimum != nil && props.Maximum != nil
	case "boolean":
	default: // A string, or an integer or string.
		bounded = props.MaxLength != nil || len(props.Enum) > 0
	}
	if !bounded {
		found = append(found, path)
	}
	if props.AdditionalProperties != nil {
		found = append(found, unbounded(path+"[]", *props.AdditionalProperties.Schema)...)
	}
	if props.Items != nil {
		found = append(found, unbounded(path+"[]", *props.Items.Schema)...)
	}
	for _, name := range slices.Sorted(maps.Keys(props.Properties)) {
		found = append(found, unbounded(path+"."+name, props.Properties[name])...)
	}

	return found
}
