package request_test

import (
	"slices"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// TestDeclared checks which status fields the XRD of another author declares. No list
// means all of them.
func TestDeclared(t *testing.T) {
	const ours, theirs = "markdownview.fn.crossplane.io/v1alpha1", "view.zoetrope.github.io/v1"
	capable := []fnv1.Capability{fnv1.Capability_CAPABILITY_CAPABILITIES, fnv1.Capability_CAPABILITY_REQUIRED_SCHEMAS}
	schemaOf := func(status string) *fnv1.Schema {
		return &fnv1.Schema{OpenapiV3: viewtest.Object(t, `{type: object, properties: {spec: {}, status: `+status+`}}`)}
	}
	some := schemaOf(`{properties: {status: {type: string}, other: {type: string}}}`)
	typed := schemaOf(`{properties: {url: {type: object}, replicas: {type: integer}, observedGeneration: {type: integer}}}`)
	open := schemaOf(`{x-kubernetes-preserve-unknown-fields: true}`)

	for name, tc := range map[string]struct {
		reason, apiVersion, input string
		capable                   []fnv1.Capability
		schema                    *fnv1.Schema
		want                      []v1beta1.StatusField
		requires                  bool
	}{
		"Ours":      {"Our XRD declares all fields, so no second call is needed", ours, `{}`, capable, some, nil, false},
		"Listed":    {"The Input lists the fields", theirs, `{statusFields: []}`, capable, some, nil, false},
		"Older":     {"A Crossplane version that sends no schemas", theirs, `{}`, capable[:1], nil, nil, false},
		"First":     {"The first call requires the schema", theirs, `{labels: {a: b}}`, capable, nil, nil, true},
		"Second":    {"The second call has the schema, and requires it again", theirs, `{}`, capable, some, []v1beta1.StatusField{"status"}, true},
		"NoSchema":  {"Crossplane found no schema", theirs, `{}`, capable, &fnv1.Schema{}, nil, true},
		"OtherType": {"A field of another type has another meaning", theirs, `{}`, capable, typed, []v1beta1.StatusField{"observedGeneration", "replicas"}, true},
		"NoStatus":  {"A status that declares no fields", theirs, `{}`, capable, schemaOf(`{type: object}`), []v1beta1.StatusField{}, true},
		"Open":      {"A status that preserves unknown fields", theirs, `{}`, capable, open, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			message := &fnv1.RunFunctionRequest{
				Meta:     &fnv1.RequestMeta{Capabilities: tc.capable},
				Observed: &fnv1.State{Composite: viewtest.Resource(t, `{apiVersion: `+tc.apiVersion+`}`)},
				Input:    viewtest.Object(t, tc.input),
			}
			if tc.schema != nil {
				message.RequiredSchemas = map[string]*fnv1.Schema{"other": schemaOf(`{}`), "xr": tc.schema}
			}
			req, err := request.Read(viewtest.Encode(t, message))
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(req.View.Declared)
			if diff := cmp.Diff(tc.want, req.View.Declared); diff != "" || req.RequiresSchema != tc.requires {
				t.Errorf("\n%s\nwant to require the schema: %t, declared fields: -want, +got:\n%s", tc.reason, tc.requires, diff)
			}
		})
	}
}
