package compose

import (
	"cmp"
	"testing"

	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

func TestConflictsInCluster(t *testing.T) {
	cases := map[string]struct {
		reason     string
		namespace  string
		input      string
		configMap  string
		deployment string
		service    string
		claim      string
		want       int
		path       string
	}{
		"Nothing":    {reason: "Any namespace is valid before resources exist", input: "books"},
		"Unchanged":  {reason: "The namespace did not change", input: "books", configMap: "books", deployment: "books", service: "books"},
		"Elsewhere":  {reason: "Three resources that cannot move are one problem", input: "other", configMap: "books", deployment: "books", service: "books", want: 1},
		"ConfigMap":  {reason: "One resource that cannot move is a problem", input: "other", configMap: "books", want: 1},
		"Deployment": {reason: "A Deployment cannot move", input: "other", deployment: "books", want: 1},
		"Service":    {reason: "A Service cannot move", input: "other", service: "books", want: 1},
		"Claim":      {reason: "The error names the field that sets the namespace", claim: "other", service: "books", want: 1, path: "spec.claimRef.namespace"},
		"Namespaced": {reason: "Crossplane sets the namespace of the resources of a namespaced XR", namespace: "a", input: "other", service: "b"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Metadata.Namespace, v.Input.Namespace, v.Spec.ClaimRef.Namespace = tc.namespace, tc.input, tc.claim
			o := request.Observed{Identities: map[string]view.Identity{}}
			for key, namespace := range map[string]string{view.KeyConfigMap: tc.configMap, view.KeyDeployment: tc.deployment, view.KeyService: tc.service} {
				if namespace != "" {
					o.Identities[key] = view.Identity{Namespace: namespace}
				}
			}
			d, _ := Compose(v, request.Observed{})
			got := conflictsInCluster(v, d.Resources, o)
			if len(got) != tc.want {
				t.Fatalf("\n%s\nconflictsInCluster(...): got %v, want %d problems", tc.reason, viewtest.Messages(got), tc.want)
			}
			if path := cmp.Or(tc.path, "input.namespace"); tc.want > 0 && (got[0].Field != path || got[0].Reason != report.ReasonInvalidInput) {
				t.Errorf("\n%s\nconflictsInCluster(...): got %s for %s, want %s for %s", tc.reason, got[0].Reason, got[0].Field, report.ReasonInvalidInput, path)
			}
		})
	}
}
