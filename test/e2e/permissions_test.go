package e2e

import (
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Permissions checks that Crossplane has only the permissions of its chart during all
// tests, and not those of an administrator. It also checks that a user who may edit
// MarkdownViews may scale them with the role in example/production/scale.yaml.
func Permissions(k *kit) {
	k.eventually("permissions of Crossplane", func() error {
		return k.may(crossplaneUser(), map[string]bool{
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
	binding := k.unstructured(&rbacv1.RoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "RoleBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: "editor"},
		RoleRef:    rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "crossplane-edit"},
		Subjects:   []rbacv1.Subject{{APIGroup: "rbac.authorization.k8s.io", Kind: "User", Name: editor.User}},
	})
	k.apply(binding)
	role := k.parse(k.read("../../example/production/scale.yaml"))[0]
	k.apply(role)
	k.afterwards(role)
	k.eventually("permissions of an editor", func() error {
		return k.may(editor, map[string]bool{
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

// may returns an error unless a user has exactly the permissions that are true.
func (k *kit) may(who authorizationv1.SubjectAccessReviewSpec, want map[string]bool) error {
	got := map[string]bool{}
	for what := range want {
		verb, rest, _ := strings.Cut(what, " ")
		group, resource, _ := strings.Cut(rest, "/")
		resource, subresource, _ := strings.Cut(resource, "/")
		review := &authorizationv1.SubjectAccessReview{Spec: who}
		review.Spec.ResourceAttributes = &authorizationv1.ResourceAttributes{
			Namespace: k.namespace, Verb: verb, Group: group, Resource: resource, Subresource: subresource,
		}
		if err := k.Create(k.Context(), review); err != nil {
			return err
		}
		got[what] = review.Status.Allowed
	}

	return equal(who.User, want, got)
}
