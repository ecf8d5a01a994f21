package e2e

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// Policy checks that an author with the role of example/platform can only use the
// Composition of that folder, and therefore only the images that it allows.
func Policy(k *kit) {
	gvk := schema.GroupVersionKind{Group: "policy." + group(k), Version: kind.Version, Kind: kind.Kind}
	platform := k.namespace + "-platform"
	author := authorizationv1.SubjectAccessReviewSpec{User: "author-of-" + k.namespace, Groups: []string{k.namespace + "-authors", "system:authenticated"}}

	// Two others: an open Composition, and an open revision of the platform's.
	every := func() step { return ours(map[string]any{"allowedImages": []any{"*/*", "*/*/*"}}) }
	open := k.composition("open", gvk, every())
	k.kubectl("label", "composition", open, "policy=open")
	k.composition("platform", gvk, every())
	other, older := k.revisionOf(open, 1), k.revisionOf(platform, 1)
	k.applyPlatform(gvk.Group, platform, author.Groups[0])
	k.revisionOf(platform, 2)

	k.eventually("permissions of an author", func() error {
		return k.may(author, map[string]bool{
			"create " + gvk.Group + "/markdownviews":                                true,
			"update " + gvk.Group + "/markdownviews/status":                         false,
			"create apps/deployments":                                               false,
			"create /configmaps":                                                    false,
			"create apiextensions.crossplane.io/compositions":                       false,
			"update apiextensions.crossplane.io/compositeresourcedefinitions":       false,
			"update apiextensions.crossplane.io/compositionrevisions":               false,
			"get apiextensions.crossplane.io/compositionrevisions":                  false,
			"create admissionregistration.k8s.io/validatingadmissionpolicybindings": false,
		})
	})

	const own = "registry.example.com/books/mdbook:v0.5.4"
	k.eventually("an author creates a MarkdownView", func() error { return k.applyAs(author, bookOf(gvk, "own", image(own))) })
	k.eventually("the image of the company", func() error { return k.serves("own", own) })

	const others = "docker.io/somebody/mdbook:v1"
	const hash = "crossplane.io/composition-hash"
	ref := func(name string) map[string]any { return map[string]any{"name": name} }
	label := func(name, value string) map[string]any {
		return map[string]any{"matchLabels": map[string]any{name: value}}
	}
	for name, crossplane := range map[string]map[string]any{
		"default":     nil,
		"by-name":     {"compositionRef": ref(open)},
		"by-selector": {"compositionSelector": label("policy", "open")},
		"by-revision": {"compositionRef": ref(open), "compositionRevisionRef": ref(other.GetName())},
		"by-older":    {"compositionRevisionRef": ref(older.GetName())},
	} {
		u := bookOf(gvk, name, image(others), chosen(crossplane))
		k.must(k.applyAs(author, u))
		k.eventually(name+" is composed by the platform's Composition", func() error { return k.rejectedBy(gvk, name, platform) })
	}

	const want = "remove compositionUpdatePolicy and compositionRevisionSelector: the platform chooses the revision of the Composition"
	for name, crossplane := range map[string]map[string]any{
		"manual":              {"compositionUpdatePolicy": "Manual"},
		"manual-of-another":   {"compositionUpdatePolicy": "Manual", "compositionRef": ref(open), "compositionRevisionRef": ref(other.GetName())},
		"manual-older":        {"compositionUpdatePolicy": "Manual", "compositionRevisionRef": ref(older.GetName())},
		"selector-of-older":   {"compositionRevisionSelector": label(hash, older.GetLabels()[hash])},
		"automatic-and-older": {"compositionUpdatePolicy": "Automatic", "compositionRevisionSelector": label(hash, older.GetLabels()[hash])},
	} {
		for _, u := range []*unstructured.Unstructured{bookOf(gvk, name, chosen(crossplane)), bookOf(gvk, "own", image(own), chosen(crossplane))} {
			if err := k.applyAs(author, u); err == nil || !strings.Contains(err.Error(), want) {
				k.Errorf("%s: the API server has not rejected a revision that the author of %s chooses: %v", name, u.GetName(), err)
			}
		}
	}
	k.check(k.serves("own", own))

	l := &appsv1.DeploymentList{}
	k.must(k.List(k.Context(), l, client.InNamespace(k.namespace)))
	k.check(equal("Deployments of all MarkdownViews", 1, len(l.Items)))
}

// applyPlatform applies example/platform as its documentation says, with another group, and
// names that no other test uses.
func (k *kit) applyPlatform(group, composition, authors string) {
	k.Helper()
	manifests := k.kubectl("kustomize", "--load-restrictor=LoadRestrictionsNone", "../../example/platform")
	for _, u := range k.parse(strings.NewReplacer(
		"markdownview.fn.crossplane.io/v1beta1", "markdownview.fn.crossplane.io/v1beta1",
		"markdownview.fn.crossplane.io", group,
		"markdownview-platform", composition,
		"markdownview-author", k.namespace,
		"docs-authors", authors,
		"namespace: docs", "namespace: "+k.namespace,
	).Replace(manifests)) {
		if u.GetKind() == "CompositeResourceDefinition" {
			k.define(u)
			continue
		}
		k.apply(u)
		k.afterwards(u)
	}
}

// revisionOf returns a revision of a Composition, and waits until it exists.
func (k *kit) revisionOf(composition string, number int64) *unstructured.Unstructured {
	k.Helper()
	var revision *unstructured.Unstructured
	k.eventually(fmt.Sprintf("revision %d of %s", number, composition), func() error {
		l := listOf(schema.GroupVersionKind{Group: "apiextensions.crossplane.io", Version: "v1", Kind: "CompositionRevision"})
		if err := k.List(k.Context(), l, client.MatchingLabels{"crossplane.io/composition-name": composition}); err != nil {
			return err
		}
		for _, u := range l.Items {
			if got, _, _ := unstructured.NestedInt64(u.Object, "spec", "revision"); got == number {
				revision = &u
				return nil
			}
		}

		return fmt.Errorf("it has %d revisions", len(l.Items))
	})

	return revision
}

// applyAs applies an object as a user, in the namespace of the test.
func (k *kit) applyAs(who authorizationv1.SubjectAccessReviewSpec, u *unstructured.Unstructured) error {
	text, err := yaml.Marshal(u)
	if err != nil {
		return err
	}
	path := filepath.Join(k.TempDir(), "object.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return err
	}
	args := []string{"apply", "--server-side", "--force-conflicts", "--namespace=" + k.namespace, "--filename=" + path, "--as=" + who.User}
	for _, g := range who.Groups {
		args = append(args, "--as-group="+g)
	}
	_, err = k.run("kubectl", args...)

	return err
}

// serves returns an error unless the Deployment of a MarkdownView has an image.
func (k *kit) serves(name, image string) error {
	d := &appsv1.Deployment{}
	if err := k.get(d, "viewer-"+name); err != nil {
		return err
	}

	return equal("image", image, d.Spec.Template.Spec.Containers[0].Image)
}

// rejectedBy returns an error unless a Composition is used for a MarkdownView, and does not
// allow its image.
func (k *kit) rejectedBy(gvk schema.GroupVersionKind, name, composition string) error {
	u := bookOf(gvk, "")
	if err := k.get(u, name); err != nil {
		return err
	}
	v, err := decode(u)
	if err != nil {
		return err
	}
	got, _, _ := unstructured.NestedString(u.Object, "spec", "crossplane", "compositionRef", "name")

	return errors.Join(
		equal("Composition", composition, got),
		v.is("Degraded", metav1.ConditionTrue, "InvalidSpec"),
		k.gone(&appsv1.Deployment{}, "viewer-"+name))
}

// chosen sets the fields of spec.crossplane.
func chosen(crossplane map[string]any) func(map[string]any) {
	return func(s map[string]any) {
		if crossplane != nil {
			s["crossplane"] = maps.Clone(crossplane)
		}
	}
}
