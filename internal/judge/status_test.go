package judge

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// TestURL checks the address of a Service with a port of its own. The golden responses have
// other addresses, and packages view and compose have tests of host and port.
func TestURL(t *testing.T) {
	const want = "http://viewer-sample.default.svc:8080"
	if got := URLOf(viewtest.View(), []corev1.ServicePort{{Port: 8080}}); got != want {
		t.Errorf("want %s, got %s", want, got)
	}
}

func TestStatus(t *testing.T) {
	fields := func(status string, replicas, ready int32, generation int64) Status {
		return Status{"status": status, "replicas": replicas, "readyReplicas": ready, "observedGeneration": generation}
	}
	const (
		last    = `{status: {status: Available, replicas: 1, readyReplicas: 0, observedGeneration: 6, conditions: [{type: Available, reason: `
		surge   = `{status: {replicas: 4, readyReplicas: 3}}`
		fewer   = `{status: {replicas: 1, updatedReplicas: 1, readyReplicas: 0, availableReplicas: 0}}`
		partial = `{status: {status: Available, conditions: [{type: Available, reason: RollingOut}]}}`
	)
	for name, tc := range map[string]struct {
		reason, last, deployment, input string
		want                            Status
	}{
		"First":  {"An XR without a status gets one", `{}`, `{}`, `{}`, fields("Healthy", 2, 2, 7)},
		"Same":   {"While Available stays the same, every field is written", last + `Available}]}}`, `{}`, `{}`, fields("Healthy", 2, 2, 7)},
		"Change": {"While Available changes, the fields keep their values", last + `RollingOut}]}}`, `{}`, `{}`, fields("Available", 1, 0, 6)},
		"Added":  {"A field that had no value is written", partial, `{}`, `{}`, fields("Available", 2, 2, 7)},
		"Others": {"A reason of another function does not become ours", last + `Custom}]}}`, `{}`, `{}`, fields("Healthy", 2, 2, 7)},
		"Surge":  {"The pods that a rollout adds do not count", `{}`, surge, `{}`, fields("Available", 2, 2, 7)},
		"Fewer":  {"Pods that are missing do not count", `{}`, fewer, `{}`, fields("NotReady", 1, 0, 7)},
		"Input":  {"A field that the XRD does not declare is not written", last + `RollingOut}]}}`, `{}`, `{statusFields: [status]}`, Status{"status": "Available"}},
		"None":   {"The Input can list no fields", `{}`, `{}`, `{statusFields: []}`, Status{}},
	} {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Metadata.Generation = 7
			v.Input, v.Last = *viewtest.Decode[v1beta1.Input](t, tc.input), *viewtest.Decode[view.LastStatus](t, tc.last)
			got := verdictOf(t, v, tc.deployment, 0).Status
			if v.Input.StatusFields == nil && (got["selector"] == nil || got["url"] == nil) {
				t.Errorf("want all fields, got %v", got)
			}
			delete(got, "selector")
			delete(got, "url")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nstatus: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	v := viewtest.View()
	v.Declared = []v1beta1.StatusField{"replicas"}
	if diff := cmp.Diff(Status{"replicas": int32(2)}, verdictOf(t, v, `{}`, 0).Status); diff != "" {
		t.Errorf("The schema declares only some fields: -want, +got:\n%s", diff)
	}
}
