package fn_test

import (
	"maps"
	"slices"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
)

// TestDeclared checks which status fields are written for the XRD of another author.
func TestDeclared(t *testing.T) {
	all := []string{"observedGeneration", "readyReplicas", "replicas", "selector", "status", "url"}
	text := object{"type": "string"}
	schemaOf := func(status object) *fnv1.Schema {
		return &fnv1.Schema{OpenapiV3: toStruct(t, object{"type": "object", "properties": object{"spec": object{}, "status": status}})}
	}
	capable := []fnv1.Capability{fnv1.Capability_CAPABILITY_CAPABILITIES, fnv1.Capability_CAPABILITY_REQUIRED_SCHEMAS, fnv1.Capability_CAPABILITY_CONDITIONS}
	const theirs = "view.zoetrope.github.io/v1"

	cases := map[string]struct {
		reason     string
		apiVersion string
		input      object
		capable    []fnv1.Capability
		schema     *fnv1.Schema
		want       []string
		requires   bool
	}{
		"Ours":      {reason: "Our XRD declares all fields, so no second call is needed", apiVersion: "markdownview.fn.crossplane.io/v1alpha1", capable: capable, want: all},
		"Listed":    {reason: "The Input lists the fields", apiVersion: theirs, input: inputWith(object{"statusFields": []any{"url"}}), capable: capable, want: []string{"url"}},
		"None":      {reason: "An empty list means no fields", apiVersion: theirs, input: inputWith(object{"statusFields": []any{}}), capable: capable, want: []string{}},
		"Older":     {reason: "A Crossplane version that sends no schemas", apiVersion: theirs, capable: capable[:1], want: all},
		"First":     {reason: "The first call requires the schema", apiVersion: theirs, capable: capable, want: all, requires: true},
		"WithInput": {reason: "The Input does not list the fields", apiVersion: theirs, input: inputWith(object{"labels": object{"a": "b"}}), capable: capable, want: all, requires: true},
		"Second":    {reason: "The second call has the schema, and requires it again", apiVersion: theirs, capable: capable, schema: schemaOf(object{"properties": object{"status": text, "other": text}}), want: []string{"status"}, requires: true},
		"NoSchema":  {reason: "Crossplane found no schema", apiVersion: theirs, capable: capable, schema: &fnv1.Schema{}, want: all, requires: true},
		"OtherType": {reason: "A field of another type has another meaning", apiVersion: theirs, capable: capable, schema: schemaOf(object{"properties": object{"url": object{"type": "object"}, "replicas": object{"type": "integer"}}}), want: []string{"replicas"}, requires: true},
		"NoStatus":  {reason: "A status that declares no fields", apiVersion: theirs, capable: capable, schema: schemaOf(object{"type": "object"}), want: []string{}, requires: true},
		"Open":      {reason: "A status that preserves unknown fields", apiVersion: theirs, capable: capable, schema: schemaOf(object{"x-kubernetes-preserve-unknown-fields": true}), want: all, requires: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			view := viewOf(object{"markdowns": book("text")})
			view["apiVersion"] = tc.apiVersion
			req := newCluster(t, view, tc.input).request()
			req.Meta.Capabilities = tc.capable
			if tc.schema != nil {
				req.RequiredSchemas = map[string]*fnv1.Schema{"xr": tc.schema}
			}
			rsp := run(t, req)
			status := rsp.GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue().GetFields()
			if diff := cmp.Diff(tc.want, slices.AppendSeq([]string{}, slices.Values(slices.Sorted(maps.Keys(status))))); diff != "" {
				t.Errorf("\n%s\nstatus fields: -want, +got:\n%s", tc.reason, diff)
			}
			want := (*fnv1.Requirements)(nil)
			if tc.requires {
				want = &fnv1.Requirements{Schemas: map[string]*fnv1.SchemaSelector{"xr": {ApiVersion: theirs, Kind: "MarkdownView"}}}
			}
			if !proto.Equal(want, rsp.GetRequirements()) {
				t.Errorf("\n%s\nrequirements: want %v, got %v", tc.reason, want, rsp.GetRequirements())
			}
		})
	}
}
