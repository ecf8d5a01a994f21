package compose

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

func TestNeedsBudget(t *testing.T) {
	for name, tc := range map[string]struct {
		reason   string
		replicas *int32
		observed string
		want     bool
	}{
		"One":        {reason: "A budget for one pod would allow either every eviction or none", replicas: ptr.To[int32](1), observed: `{spec: {replicas: 3}}`},
		"Two":        {reason: "One of two pods can be evicted", replicas: ptr.To[int32](2), want: true},
		"Autoscaled": {reason: "An autoscaler has set two replicas", observed: `{spec: {replicas: 2}}`, want: true},
		"ScaledDown": {reason: "An autoscaler has set one replica", observed: `{spec: {replicas: 1}}`},
		"Unknown":    {reason: "A Deployment has one replica by default"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &Desired{Deployment: &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: tc.replicas}}}
			o := request.Observed{Deployment: viewtest.Decode[request.ObservedDeployment](t, tc.observed)}
			if got := needsBudget(o, d); got != tc.want {
				t.Errorf("\n%s\nneedsBudget(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
