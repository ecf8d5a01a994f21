package admission_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// definitions are the XRDs in this repository.
var definitions = map[string]string{"Ours": definition, "Tutorial": "../../example/tutorial/definition.yaml"}

// TestBounds checks for both XRDs that the API server rejects MarkdownViews that are
// too large for the function.
func TestBounds(t *testing.T) {
	cases := map[string]struct {
		reason string
		spec   map[string]any
		want   string
	}{
		"Fits":     {reason: "The largest book is admitted", spec: map[string]any{"markdowns": wide()}},
		"Files":    {reason: "The function reads each file name", spec: map[string]any{"markdowns": many(999)}, want: "spec.markdowns: Too many"},
		"FileName": {reason: "The function copies parts of a file name into messages", spec: map[string]any{"markdowns": files(map[string]string{strings.Repeat("x/", 600): ""})}, want: "a file name"},
		"Text":     {reason: "A ConfigMap holds 1 MiB", spec: map[string]any{"markdowns": files(map[string]string{"long.md": strings.Repeat("x", 1<<20)})}, want: "1 MiB"},
		"Replicas": {reason: "Each pod needs memory", spec: with(map[string]any{"replicas": 6}), want: "spec.replicas"},
		"Image":    {reason: "Image references are not longer", spec: with(map[string]any{"viewerImage": strings.Repeat("x", 513)}), want: "spec.viewerImage: Too long"},
	}
	for api, file := range definitions {
		xrd := readFile(t, file)
		a := mustServe(t, xrd)
		for name, tc := range cases {
			t.Run(api+"/"+name, func(t *testing.T) {
				xr := view(tc.spec)
				xr["apiVersion"] = xrd.GetCompositeGroupVersionKind().GroupVersion().String()
				_, got := a.create(t, xr)
				if all := strings.Join(got, "\n"); (tc.want == "") != (len(got) == 0) || !strings.Contains(all, tc.want) {
					t.Errorf("%s\ncreate: want %q, got:\n%s", tc.reason, tc.want, all)
				}
			})
		}
	}
}

// TestNothingUnbounded checks that every field of both XRDs has a limit.
func TestNothingUnbounded(t *testing.T) {
	for api, file := range definitions {
		t.Run(api, func(t *testing.T) {
			props := extv1.JSONSchemaProps{}
			if err := json.Unmarshal(readFile(t, file).Spec.Versions[0].Schema.OpenAPIV3Schema.Raw, &props); err != nil {
				t.Fatal(err)
			}
			// A rule limits the total size of the files.
			files := []string{"spec.markdowns[]", "spec.binaries[]"}
			got := slices.DeleteFunc(unbounded("spec", props.Properties["spec"]), func(path string) bool { return slices.Contains(files, path) })
			if len(got) > 0 {
				t.Errorf("fields without a limit: %v", got)
			}
		})
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
