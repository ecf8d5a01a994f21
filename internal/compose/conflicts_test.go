package compose

import (
	"cmp"
	"testing"

	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// TestConflictsInCluster checks in which namespaces existing resources cannot be. Package fn
// has the other conflicts.
func TestConflictsInCluster(t *testing.T) {
	all := []string{view.KeyConfigMap, view.KeyDeployment, view.KeyService}
	for name, tc := range map[string]struct {
		reason, namespace, claim, input string
		// inBooks has the keys of the resources that are in the namespace books.
		inBooks []string
		want    int
		path    string
	}{
		"Nothing":    {reason: "Any namespace is valid before resources exist", input: "books"},
		"Unchanged":  {reason: "The namespace did not change", input: "books", inBooks: all},
		"Elsewhere":  {reason: "Three resources that cannot move are one problem", input: "other", inBooks: all, want: 1},
		"ConfigMap":  {reason: "One resource that cannot move is a problem", input: "other", inBooks: all[:1], want: 1},
		"Service":    {reason: "A Service cannot move", input: "other", inBooks: all[2:], want: 1},
		"Claim":      {reason: "The error names the field that sets the namespace", claim: "other", inBooks: all, want: 1, path: "spec.claimRef.namespace"},
		"Namespaced": {reason: "Crossplane sets the namespace of the resources of a namespaced XR", namespace: "a", input: "other", inBooks: all},
	} {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Metadata.Namespace, v.Input.Namespace, v.Spec.ClaimRef.Namespace = tc.namespace, tc.input, tc.claim
			o := request.Observed{Identities: map[string]view.Identity{}}
			for _, key := range tc.inBooks {
				o.Identities[key] = view.Identity{Namespace: "books"}
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
