package compose

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

func TestReplicasHandover(t *testing.T) {
	const scaleManager = `{manager: kube-controller-manager, subresource: scale, fieldsV1: {"f:spec": {"f:replicas": {}}}}`
	for name, tc := range map[string]struct {
		reason   string
		spec     *int32
		managers string
		want     *int32
	}{
		"Requested": {reason: "The XR sets the number", spec: ptr.To[int32](2), managers: viewtest.CrossplaneManager, want: ptr.To[int32](2)},
		"Kept":      {reason: "The XR no longer sets the number, and omitting it would scale to 1", managers: viewtest.CrossplaneManager, want: ptr.To[int32](3)},
		"TakenOver": {reason: "An autoscaler has set the number", managers: viewtest.OtherManager + ", " + scaleManager},
		"Shared":    {reason: "An autoscaler owns the number too, so omitting it changes nothing", managers: viewtest.CrossplaneManager + ", " + scaleManager},
		"NeverSet":  {reason: "The XR never set the number", managers: viewtest.OtherManager},
		"Unknown":   {reason: "There are no managed fields"},
	} {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Spec.Replicas = tc.spec
			o := viewtest.ObserveDeployment(t, "{metadata: {managedFields: ["+tc.managers+"]}, spec: {replicas: 3}}")

			if diff := cmp.Diff(tc.want, replicas(v, o)); diff != "" {
				t.Errorf("\n%s\nreplicas(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
