package request_test

import (
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// TestSent checks which ConfigMaps Crossplane has sent. It may send what another step of the
// pipeline required under the same name.
func TestSent(t *testing.T) {
	all, some, none := map[string]bool{"a": true, "b": false}, map[string]bool{"b": false}, map[string]bool{}
	for _, tc := range []struct {
		reason, apiVersion, kind, name, namespace string
		want                                      map[string]bool
	}{
		{"Of two ConfigMaps one does not exist", "v1", "ConfigMap", "a", "books", all},
		{"A Secret of the same name", "v1", "Secret", "a", "books", some},
		{"Another ConfigMap", "v1", "ConfigMap", "c", "books", some},
		{"A ConfigMap of another namespace", "v1", "ConfigMap", "a", "kube-system", some},
		{"A ConfigMap of another API", "example.com/v1", "ConfigMap", "a", "books", some},
		{"Crossplane has sent nothing yet", "", "", "", "", none},
	} {
		message := &fnv1.RunFunctionRequest{Observed: &fnv1.State{Composite: viewtest.Resource(t, `{metadata: {name: x, namespace: books},
			spec: {markdownsFrom: [{configMap: {name: b}}, {configMap: {name: a}}, {configMap: {name: b}}]}}`)}}
		message.RequiredResources = map[string]*fnv1.Resources{"configmap/c": {}, "a": {}}
		if tc.kind != "" {
			sent := viewtest.Resource(t, `{apiVersion: `+tc.apiVersion+`, kind: `+tc.kind+`, metadata: {name: `+tc.name+`, namespace: `+tc.namespace+`}}`)
			message.RequiredResources = map[string]*fnv1.Resources{"configmap/a": {Items: []*fnv1.Resource{sent}}, "configmap/b": {}}
		}
		req, err := request.Read(viewtest.Encode(t, message))
		if err != nil {
			t.Fatal(err)
		}
		required := []request.Requirement{{APIVersion: "v1", Kind: "ConfigMap", Name: "a"}, {APIVersion: "v1", Kind: "ConfigMap", Name: "b"}}
		if diff := cmp.Diff(required, request.Required(req.View)); diff != "" {
			t.Errorf("Each ConfigMap is required once: -want, +got:\n%s", diff)
		}
		got := map[string]bool{}
		for name, cm := range req.View.Sent {
			got[name] = cm != nil
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || request.Waits(req.View) != (len(tc.want) < 2) {
			t.Errorf("%s: waits %t, ConfigMaps: -want, +got:\n%s", tc.reason, request.Waits(req.View), diff)
		}
	}
}
