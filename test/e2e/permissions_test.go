package e2e

import (
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
)

// Permissions checks that Crossplane has only the permissions of its chart during all
// tests, and not those of an administrator. It also checks that a user who may edit
// MarkdownViews may scale them with the role in example/production/scale.yaml.
func Permissions(k *kit) {
	k.eventually("permissions of Crossplane", func(k *kit) {
		k.may(crossplaneUser(), map[string]bool{
			// Permissions that a MarkdownView requires.
			"patch apps/deployments":  true,
			"delete apps/deployments": true,
			"patch /configmaps":       true,
			"patch /services":         true,
			"update markdownview.fn.crossplane.io/markdownviews/status": true,
			// Permissions of an administrator.
			"create /pods":          false,
			"delete /namespaces":    false,
			"get /nodes":            false,
			"patch apps/daemonsets": false,
			"create rbac.authorization.k8s.io/clusterrolebindings": false,
		})
	})

	editor := authorizationv1.SubjectAccessReviewSpec{User: "editor-of-" + k.namespace}
	k.kubectl("create", "rolebinding", "editor", "--clusterrole=crossplane-edit", "--user="+editor.User)
	k.apply(k.manifests("production/scale.yaml")...)
	k.eventually("permissions of an editor", func(k *kit) {
		k.may(editor, map[string]bool{
			"update markdownview.fn.crossplane.io/markdownviews":       true,
			"update markdownview.fn.crossplane.io/markdownviews/scale": true,
			"patch apps/deployments":                                   false,
		})
	})
}

// crossplaneUser returns the user and groups of the service account of Crossplane.
func crossplaneUser() authorizationv1.SubjectAccessReviewSpec {
	return authorizationv1.SubjectAccessReviewSpec{
		User:   "system:serviceaccount:crossplane-system:crossplane",
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:crossplane-system", "system:authenticated"},
	}
}

// may reports an error unless a user has exactly the permissions that are true.
func (k *kit) may(who authorizationv1.SubjectAccessReviewSpec, want map[string]bool) {
	k.Helper()
	got := map[string]bool{}
	for what := range want {
		verb, rest, _ := strings.Cut(what, " ")
		group, resource, _ := strings.Cut(rest, "/")
		resource, subresource, _ := strings.Cut(resource, "/")
		review := &authorizationv1.SubjectAccessReview{Spec: who}
		review.Spec.ResourceAttributes = &authorizationv1.ResourceAttributes{
			Namespace: k.namespace, Verb: verb, Group: group, Resource: resource, Subresource: subresource,
		}
		k.must(k.Create(k.Context(), review))
		got[what] = review.Status.Allowed
	}
	k.equal(who.User, want, got)
}
