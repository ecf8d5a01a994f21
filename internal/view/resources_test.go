package view_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

func TestResources(t *testing.T) {
	const large, input = `{requests: {memory: 1Gi}}`, `{requests: {memory: 70Mi, cpu: 20m}, limits: {cpu: 1}}`
	for name, tc := range map[string]struct {
		reason, spec, input, want string
	}{
		"Defaults": {"Nobody sets anything", `{}`, "", `{requests: {cpu: 10m, memory: 64Mi}, limits: {memory: 256Mi}}`},
		"KeyByKey": {
			"For each key the XR takes precedence over the Input, and the Input over the defaults",
			`{requests: {memory: 80Mi}}`, input, `{requests: {cpu: 20m, memory: 80Mi}, limits: {cpu: 1, memory: 256Mi}}`,
		},
		"DefaultRaised": {"A default limit below the request is raised", large, "", `{requests: {cpu: 10m, memory: 1Gi}, limits: {memory: 1Gi}}`},
		"InputRaised":   {"One of the Input, too", large, `{limits: {memory: 512Mi}}`, `{requests: {cpu: 10m, memory: 1Gi}, limits: {memory: 1Gi}}`},
		"Lowered": {
			"A default request above the limit is lowered",
			`{limits: {memory: 32Mi}}`, "", `{requests: {cpu: 10m, memory: 32Mi}, limits: {memory: 32Mi}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := view.View{Input: v1beta1.Input{Resources: viewtest.Decode[v1beta1.Resources](t, tc.input)}}
			v.Spec.Resources = *viewtest.Decode[v1beta1.Resources](t, tc.spec)
			requests, limits := v.Resources()
			got := &v1beta1.Resources{Requests: requests, Limits: limits}
			if diff := cmp.Diff(viewtest.Decode[v1beta1.Resources](t, tc.want), got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
