package compose

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

func TestBudget(t *testing.T) {
	cases := map[string]struct {
		reason   string
		replicas *int32
		observed string
		input    string
		want     string
	}{
		"None":       {reason: "The Input has no podDisruptionBudget", replicas: ptr.To[int32](3), input: `{}`},
		"One":        {reason: "A budget for one pod would allow either every eviction or none", replicas: ptr.To[int32](1), input: `{podDisruptionBudget: {}}`},
		"Default":    {reason: "By default, one pod can be unavailable", replicas: ptr.To[int32](2), input: `{podDisruptionBudget: {}}`, want: "max 1"},
		"Max":        {reason: "The Input sets maxUnavailable", replicas: ptr.To[int32](2), input: `{podDisruptionBudget: {maxUnavailable: "50%"}}`, want: "max 50%"},
		"Min":        {reason: "The Input sets minAvailable", replicas: ptr.To[int32](2), input: `{podDisruptionBudget: {minAvailable: 1}}`, want: "min 1"},
		"Autoscaled": {reason: "An autoscaler has set three replicas", observed: `{spec: {replicas: 3}}`, input: `{podDisruptionBudget: {}}`, want: "max 1"},
		"ScaledDown": {reason: "An autoscaler has set one replica", observed: `{spec: {replicas: 1}}`, input: `{podDisruptionBudget: {}}`},
		"Unknown":    {reason: "A Deployment has one replica by default", input: `{podDisruptionBudget: {}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Spec.Replicas, v.Input = tc.replicas, *viewtest.Decode[v1beta1.Input](t, tc.input)
			o := request.Observed{Deployment: viewtest.Decode[request.ObservedDeployment](t, tc.observed)}
			d, problems := Compose(v, o)
			if len(problems) > 0 {
				t.Fatal(viewtest.Messages(problems))
			}
			got := ""
			if b, ok := d.Resources[len(d.Resources)-1].Object.(*policyv1.PodDisruptionBudget); ok {
				spec := b.Spec
				if spec.MaxUnavailable != nil {
					got += "max " + spec.MaxUnavailable.String()
				}
				if spec.MinAvailable != nil {
					got += "min " + spec.MinAvailable.String()
				}
				if diff := gocmp.Diff(v.Selector(), spec.Selector.MatchLabels); diff != "" {
					t.Errorf("selector of the budget: -want, +got:\n%s", diff)
				}
			}
			if got != tc.want {
				t.Errorf("\n%s\nbudget(): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
