package fn

import (
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
)

func TestStatus(t *testing.T) {
	const settled = `{status: Healthy, replicas: 2, readyReplicas: 2, observedGeneration: 7}`
	cases := map[string]struct {
		reason     string
		last       string
		deployment string
		input      string
		want       string
	}{
		"First":  {reason: "An XR without a status gets one", last: `{}`, want: settled},
		"Same":   {reason: "While Available stays the same, every field is written", last: `{status: Available, replicas: 1, readyReplicas: 0, observedGeneration: 6, conditions: [{type: Available, status: "True", reason: Available}]}`, want: settled},
		"Change": {reason: "While Available changes, the fields keep their values", last: `{status: Available, replicas: 1, readyReplicas: 0, observedGeneration: 6, conditions: [{type: Available, status: "True", reason: RollingOut}]}`, want: `{status: Available, replicas: 1, readyReplicas: 0, observedGeneration: 6}`},
		"Added":  {reason: "A field that had no value is written", last: `{status: Available, conditions: [{type: Available, status: "True", reason: RollingOut}]}`, want: `{status: Available, replicas: 2, readyReplicas: 2, observedGeneration: 7}`},
		"Input":  {reason: "A field that the XRD does not declare is not written", last: `{status: Available, replicas: 1, conditions: [{type: Available, status: "True", reason: RollingOut}]}`, input: `{statusFields: [status]}`, want: `{status: Available}`},
		"Others": {reason: "A reason of another function does not become ours, so the fields do not wait for it", last: `{status: Available, observedGeneration: 6, conditions: [{type: Available, status: "True", reason: Custom}]}`, want: settled},
		"Surge":  {reason: "The pods that a rollout adds do not count", last: `{}`, deployment: `{status: {observedGeneration: 1, replicas: 4, updatedReplicas: 2, readyReplicas: 3, availableReplicas: 3}}`, want: `{status: Available, replicas: 2, readyReplicas: 2, observedGeneration: 7}`},
		"Fewer":  {reason: "Pods that are missing do not count", last: `{}`, deployment: `{status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 0}}`, want: `{status: NotReady, replicas: 1, readyReplicas: 0, observedGeneration: 7}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := settledRequest(t)
			req.Observed.Composite = &fnv1.Resource{Resource: object(t, sampleXR+`, status: `+tc.last+`}`)}
			if tc.deployment != "" {
				proto.Merge(req.GetObserved().GetResources()["deployment"].GetResource(), object(t, tc.deployment))
			}
			if tc.input != "" {
				req.Input = object(t, tc.input)
			}

			got := run(t, req).GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue()
			delete(got.GetFields(), "selector")
			delete(got.GetFields(), "url")
			if diff := cmp.Diff(object(t, tc.want), got, protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\nstatus: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
