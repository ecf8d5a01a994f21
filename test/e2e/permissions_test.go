package e2e

import (
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
)

// Permissions shows that all the other tests hold with what the chart of
// Crossplane grants: it is no administrator.
func Permissions(k *kit) {
	for what, want := range map[string]bool{
		// All that a MarkdownView needs.
		"patch apps/deployments":  true,
		"delete apps/deployments": true,
		"patch /configmaps":       true,
		"patch /services":         true,
		"update markdownview.fn.crossplane.io/markdownviews/status": true,
		// What only an administrator may.
		"create /pods":          false,
		"delete /namespaces":    false,
		"get /nodes":            false,
		"patch apps/daemonsets": false,
		"create rbac.authorization.k8s.io/clusterrolebindings": false,
	} {
		verb, rest, _ := strings.Cut(what, " ")
		group, resource, _ := strings.Cut(rest, "/")
		resource, subresource, _ := strings.Cut(resource, "/")
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:   "system:serviceaccount:crossplane-system:crossplane",
			Groups: []string{"system:serviceaccounts", "system:serviceaccounts:crossplane-system", "system:authenticated"},
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: k.namespace, Verb: verb, Group: group, Resource: resource, Subresource: subresource,
			},
		}}
		k.must(k.Create(k.Context(), review))
		if got := review.Status.Allowed; got != want {
			k.Errorf("Crossplane may %s: %t, want %t", what, got, want)
		}
	}
}
