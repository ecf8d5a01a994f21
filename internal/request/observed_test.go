package request_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// TestObservedDeployment checks what the status of a Deployment says about its pods.
func TestObservedDeployment(t *testing.T) {
	const (
		key      = "configmap-0123456789abcdef"
		complete = `{metadata: {generation: 2}, spec: {replicas: 2, template: {metadata: {annotations: {markdownview.fn.crossplane.io/configmap: ` + key + `}}}},
			status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 1}}`
		zero  = `{spec: {replicas: 0}, status: {replicas: 0, updatedReplicas: 0, availableReplicas: 0}}`
		other = `{spec: {template: {metadata: {annotations: {markdownview.fn.crossplane.io/configmap: other}}}}}`
	)
	type state struct {
		CaughtUp, RolledOut, Serves, Serving bool
		Replicas                             int32
		ConfigMap                            string
	}
	for name, tc := range map[string]struct {
		reason, change string
		want           state
	}{
		"Complete": {"All pods are of the spec", `{}`, state{true, true, true, true, 2, key}},
		"Rollout":  {"A pod of the earlier spec exists", `{status: {replicas: 3}}`, state{true, false, false, true, 2, key}},
		"Stale":    {"The status is that of an earlier spec", `{metadata: {generation: 3}}`, state{false, false, false, true, 2, key}},
		"Zero":     {"No pod is requested", zero, state{true, true, true, false, 0, key}},
		"None":     {"No pod serves", `{status: {availableReplicas: 0}}`, state{true, true, false, false, 2, key}},
		"Negative": {"A webhook wrote a number that is none", `{spec: {replicas: -1}}`, state{true, false, true, true, 0, key}},
		"OddKey":   {"Somebody changed the annotation", other, state{true, true, true, true, 2, "configmap"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := viewtest.Decode[request.ObservedDeployment](t, complete, tc.change)
			got := state{o.CaughtUp(), o.RolledOut(), o.Serves(), o.Serving(), o.Replicas(), o.ConfigMap()}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if got := (&request.ObservedDeployment{}).Replicas(); got != 1 {
		t.Errorf("A Deployment has one replica by default, got %d", got)
	}
}

func TestBookImage(t *testing.T) {
	pinned := "a/b@sha256:" + strings.Repeat("1e", 32)
	for volume, want := range map[string]string{
		`{name: markdowns, image: {reference: "` + pinned + `"}}`: pinned,
		`{name: markdowns, image: {reference: "a/b:v1"}}`:         "",
		`{name: other, image: {reference: "` + pinned + `"}}`:     "",
		`{name: markdowns}`: "",
	} {
		o := viewtest.Decode[request.ObservedDeployment](t, `{spec: {template: {spec: {volumes: [`+volume+`]}}}}`)
		if got := o.BookImage(); got != want {
			t.Errorf("%s: want %q, got %q", volume, want, got)
		}
	}
}
