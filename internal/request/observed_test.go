package request_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// TestObservedDeployment checks what the status of a Deployment says about its pods.
func TestObservedDeployment(t *testing.T) {
	type state struct {
		CaughtUp, RolledOut, Serves, Serving bool
		Replicas                             int32
		ConfigMap                            string
	}
	cases := map[string]struct {
		reason, deployment string
		want               state
	}{
		"New":      {reason: "A Deployment has one replica by default", deployment: `{metadata: {generation: 1}}`, want: state{Replicas: 1, ConfigMap: "configmap"}},
		"Rollout":  {reason: "A pod of the earlier spec exists", deployment: `{metadata: {generation: 2}, spec: {replicas: 2}, status: {observedGeneration: 2, replicas: 3, updatedReplicas: 2, availableReplicas: 2}}`, want: state{CaughtUp: true, Serving: true, Replicas: 2, ConfigMap: "configmap"}},
		"Complete": {reason: "All pods are of the spec", deployment: `{metadata: {generation: 2}, spec: {replicas: 2, template: {metadata: {annotations: {markdownview.fn.crossplane.io/configmap: configmap-0123456789abcdef}}}}, status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 1}}`, want: state{CaughtUp: true, RolledOut: true, Serves: true, Serving: true, Replicas: 2, ConfigMap: "configmap-0123456789abcdef"}},
		"Stale":    {reason: "The status is that of an earlier spec", deployment: `{metadata: {generation: 3}, status: {observedGeneration: 2, replicas: 1, updatedReplicas: 1, availableReplicas: 1}}`, want: state{Serving: true, Replicas: 1, ConfigMap: "configmap"}},
		"Zero":     {reason: "No pod is requested", deployment: `{metadata: {generation: 1}, spec: {replicas: 0}, status: {observedGeneration: 1}}`, want: state{CaughtUp: true, RolledOut: true, Serves: true, ConfigMap: "configmap"}},
		"Negative": {reason: "A webhook wrote a number of replicas that is none", deployment: `{metadata: {generation: 1}, spec: {replicas: -1}}`, want: state{ConfigMap: "configmap"}},
		"OddKey":   {reason: "Somebody changed the annotation", deployment: `{metadata: {generation: 1}, spec: {template: {metadata: {annotations: {markdownview.fn.crossplane.io/configmap: other}}}}}`, want: state{Replicas: 1, ConfigMap: "configmap"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := viewtest.Decode[request.ObservedDeployment](t, tc.deployment)
			got := state{o.CaughtUp(), o.RolledOut(), o.Serves(), o.Serving(), o.Replicas(), o.ConfigMap()}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
