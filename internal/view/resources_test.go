package view_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

func TestResources(t *testing.T) {
	cases := map[string]struct {
		reason       string
		spec         v1beta1.Resources
		input        *v1beta1.Resources
		wantRequests corev1.ResourceList
		wantLimits   corev1.ResourceList
	}{
		"Defaults": {
			reason:       "The defaults apply if the XR and the Input set nothing",
			wantRequests: viewtest.List("cpu", "10m", "memory", "64Mi"),
			wantLimits:   viewtest.List("memory", "256Mi"),
		},
		"KeyByKey": {
			reason:       "For each key the XR takes precedence over the Input, and the Input over the defaults",
			spec:         v1beta1.Resources{Requests: viewtest.List("memory", "80Mi")},
			input:        &v1beta1.Resources{Requests: viewtest.List("memory", "70Mi", "cpu", "20m"), Limits: viewtest.List("cpu", "1")},
			wantRequests: viewtest.List("cpu", "20m", "memory", "80Mi"),
			wantLimits:   viewtest.List("cpu", "1", "memory", "256Mi"),
		},
		"LimitIsRaised": {
			reason:       "A default limit below the request is raised to the request",
			spec:         v1beta1.Resources{Requests: viewtest.List("memory", "1Gi")},
			wantRequests: viewtest.List("cpu", "10m", "memory", "1Gi"),
			wantLimits:   viewtest.List("memory", "1Gi"),
		},
		"InputLimitIsRaised": {
			reason:       "A limit of the Input below the request of the XR is raised too",
			spec:         v1beta1.Resources{Requests: viewtest.List("memory", "1Gi")},
			input:        &v1beta1.Resources{Limits: viewtest.List("memory", "512Mi")},
			wantRequests: viewtest.List("cpu", "10m", "memory", "1Gi"),
			wantLimits:   viewtest.List("memory", "1Gi"),
		},
		"RequestIsLowered": {
			reason:       "A default request above the limit is lowered to the limit",
			spec:         v1beta1.Resources{Limits: viewtest.List("memory", "32Mi")},
			wantRequests: viewtest.List("cpu", "10m", "memory", "32Mi"),
			wantLimits:   viewtest.List("memory", "32Mi"),
		},
		"Equal": {
			reason:       "A limit that equals the request stays",
			spec:         v1beta1.Resources{Requests: viewtest.List("memory", "256Mi")},
			wantRequests: viewtest.List("cpu", "10m", "memory", "256Mi"),
			wantLimits:   viewtest.List("memory", "256Mi"),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := view.View{Input: v1beta1.Input{Resources: tc.input}}
			v.Spec.Resources = tc.spec

			requests, limits := v.Resources()
			if diff := cmp.Diff(tc.wantRequests, requests); diff != "" {
				t.Errorf("\n%s\nrequests: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.wantLimits, limits); diff != "" {
				t.Errorf("\n%s\nlimits: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
