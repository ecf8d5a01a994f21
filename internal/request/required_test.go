package request_test

import (
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// TestSent checks which ConfigMaps Crossplane has sent.
func TestSent(t *testing.T) {
	const cm = `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: books}, data: {f: text}}`
	cases := map[string]struct {
		reason string
		sent   map[string]*fnv1.Resources
		waits  bool
		want   map[string]bool
	}{
		"None":    {reason: "Crossplane has sent nothing yet", waits: true, want: map[string]bool{}},
		"All":     {reason: "Both ConfigMaps are sent, of which one does not exist", sent: map[string]*fnv1.Resources{"configmap/a": {Items: []*fnv1.Resource{viewtest.Resource(t, cm)}}, "configmap/b": {}}, want: map[string]bool{"a": true, "b": false}},
		"Other":   {reason: "Another step required something else under the same name", sent: map[string]*fnv1.Resources{"configmap/a": {Items: []*fnv1.Resource{viewtest.Resource(t, `{kind: Secret}`)}}, "configmap/b": {}}, waits: true, want: map[string]bool{"b": false}},
		"Unknown": {reason: "Another step required another ConfigMap", sent: map[string]*fnv1.Resources{"configmap/c": {}, "a": {}}, waits: true, want: map[string]bool{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req, err := request.Read(viewtest.Encode(t, &fnv1.RunFunctionRequest{
				Observed: &fnv1.State{Composite: viewtest.Resource(t, `{metadata: {name: x, namespace: books}, spec: {markdownsFrom: [{configMap: {name: b}}, {configMap: {name: a}}, {configMap: {name: b}}]}}`)},

				RequiredResources: tc.sent,
			}))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]request.Requirement{{APIVersion: "v1", Kind: "ConfigMap", Name: "a"}, {APIVersion: "v1", Kind: "ConfigMap", Name: "b"}}, request.Required(req.View)); diff != "" {
				t.Errorf("Each ConfigMap is required once: -want, +got:\n%s", diff)
			}
			got := map[string]bool{}
			for name, cm := range req.View.Sent {
				got[name] = cm != nil
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || request.Waits(req.View) != tc.waits {
				t.Errorf("%s: want to wait: %t\n-want, +got:\n%s", tc.reason, tc.waits, diff)
			}
		})
	}
}
