package compose

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

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
		// want is the field of the error, if there is one.
		want string
	}{
		"Nothing":    {reason: "Any namespace is valid before resources exist", input: "books"},
		"Unchanged":  {reason: "The namespace did not change", input: "books", inBooks: all},
		"Elsewhere":  {reason: "Three resources that cannot move are one problem", input: "other", inBooks: all, want: "input.namespace"},
		"ConfigMap":  {reason: "One resource that cannot move is a problem", input: "other", inBooks: all[:1], want: "input.namespace"},
		"Service":    {reason: "A Service cannot move", input: "other", inBooks: all[2:], want: "input.namespace"},
		"Claim":      {reason: "The error names the field that sets the namespace", claim: "other", inBooks: all, want: "spec.claimRef.namespace"},
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
			var want report.Problems
			if tc.want != "" {
				want = report.Problems{{Reason: report.ReasonInvalidInput, Error: field.Forbidden(field.NewPath(tc.want),
					`set namespace "books" again, or delete the XR first: the composed resources are there and cannot be moved`)}}
			}
			if diff := cmp.Diff(want, conflictsInCluster(v, d.Resources, o)); diff != "" {
				t.Errorf("\n%s\nconflictsInCluster(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
