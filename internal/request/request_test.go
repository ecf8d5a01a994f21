package request_test

import (
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// TestRead checks what of a request arrives where.
func TestRead(t *testing.T) {
	message := viewtest.Encode(t, &fnv1.RunFunctionRequest{
		Meta:  &fnv1.RequestMeta{Tag: "tag", Capabilities: []fnv1.Capability{fnv1.Capability_CAPABILITY_REQUIRED_RESOURCES}},
		Input: viewtest.Object(t, `{viewerImage: a/b:c, typo: 1}`),
		Observed: &fnv1.State{
			Composite: viewtest.Resource(t, `{metadata: {name: x, namespace: books}, spec: {replicas: 2, markdowns: {a.md: text}, unknown: 1}}`),
			Resources: map[string]*fnv1.Resource{"service": viewtest.Resource(t, `{metadata: {name: s}, spec: {clusterIP: 10.0.0.1}}`)},
		},
		Desired: &fnv1.State{
			Composite: viewtest.Resource(t, `{kind: X, status: {theirs: 1}}`),
			Resources: map[string]*fnv1.Resource{"other": viewtest.Resource(t, `{apiVersion: v1, kind: Other, metadata: {name: o}}`)},
		},
	})
	req, err := request.Read(message)
	if err != nil {
		t.Fatal(err)
	}
	other, found := req.Pipeline.Find("other")
	_, missing := req.Pipeline.Find("service")
	got := map[string]any{
		"tag": req.Tag, "capable": req.Capable(request.CapabilityResources), "incapable": req.Capable(5),
		"image": req.View.Input.ViewerImage, "problems": viewtest.Messages(req.Problems)[0][:31],
		"name": req.View.Metadata.Name, "namespace": req.View.Namespace(), "replicas": *req.View.Spec.Replicas, "text": req.View.Spec.Markdowns["a.md"],
		"service": req.Observed.Service.Spec.ClusterIP, "identity": req.Observed.Identities["service"].Name, "deployment": req.Observed.Deployment == nil,
		"other": other.Metadata.Name, "found": found, "missing": missing,
		"status": req.Pipeline.Composite.Status[0].Key, "field": req.Pipeline.Composite.Fields[0].Key,
	}
	want := map[string]any{
		"tag": "tag", "capable": true, "incapable": false, "image": "a/b:c", "problems": "input.typo: Forbidden: unknown ",
		"name": "x", "namespace": "books", "replicas": int32(2), "text": "text", "service": "10.0.0.1", "identity": "s", "deployment": true,
		"other": "o", "found": true, "missing": false, "status": "theirs", "field": "kind",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if _, err := request.Read(message[:len(message)-1]); err == nil {
		t.Error("A request that is cut off: want an error")
	}
}
