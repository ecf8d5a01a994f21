package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Policy checks that an author with the role of example/platform can only use the
// Composition of that folder, and therefore only the images that it allows.
func Policy(k *kit) {
	gvk := schema.GroupVersionKind{Group: "policy." + group(k), Version: kind.Version, Kind: kind.Kind}
	platform := k.namespace + "-platform"
	author := authorizationv1.SubjectAccessReviewSpec{User: "author-of-" + k.namespace, Groups: []string{k.namespace + "-authors", "system:authenticated"}}

	// Two others: an open Composition, and an open revision of the platform's.
	every := ours(`allowedImages: ["*/*", "*/*/*"]`)
	open := k.composition("open", gvk, every)
	k.kubectl("label", "composition", open, "policy=open")
	k.composition("platform", gvk, every)
	other, older := k.revisionOf(open, 1).GetName(), k.revisionOf(platform, 1)
	k.applyPlatform(gvk.Group, platform, author.Groups[0])
	k.revisionOf(platform, 2)

	k.eventually("permissions of an author", func(k *kit) {
		k.may(author, map[string]bool{
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

	const own, others = "registry.example.com/books/mdbook:v0.5.4", "docker.io/somebody/mdbook:v1"
	serves := func(k *kit) {
		k.equal("image", own, k.viewer("own").Spec.Template.Spec.Containers[0].Image)
	}
	k.eventually("an author creates a MarkdownView", func(k *kit) {
		k.must(k.applyAs(author, bookOf(gvk, "own", image(own))))
	})
	k.eventually("the image of the company", serves)

	in := func(crossplane ...string) option { return with("crossplane: {" + strings.Join(crossplane, ", ") + "}") }
	byOpen := "compositionRef: {name: " + open + "}"
	ofOther := "compositionRevisionRef: {name: " + other + "}"
	ofOlder := "compositionRevisionRef: {name: " + older.GetName() + "}"
	for name, chosen := range map[string]option{
		"default":     unchanged,
		"by-name":     in(byOpen),
		"by-selector": in("compositionSelector: {matchLabels: {policy: open}}"),
		"by-revision": in(byOpen, ofOther),
		"by-older":    in(ofOlder),
	} {
		k.must(k.applyAs(author, bookOf(gvk, name, image(others), chosen)))
		k.eventually(name+" is composed by the platform's Composition", func(k *kit) {
			u := get(k, bookOf(gvk, ""), name)
			used, _, _ := unstructured.NestedString(u.Object, "spec", "crossplane", "compositionRef", "name")
			k.equal("Composition", platform, used)
			v, err := decode(u)
			k.must(err)
			k.check(v.shows("Degraded=True InvalidSpec"))
			k.gone(&appsv1.Deployment{}, "viewer-"+name)
		})
	}

	const want = "remove compositionUpdatePolicy and compositionRevisionSelector: the platform chooses the revision of the Composition"
	const hash, manual = "crossplane.io/composition-hash", "compositionUpdatePolicy: Manual"
	selected := fmt.Sprintf("compositionRevisionSelector: {matchLabels: {%s: %q}}", hash, older.GetLabels()[hash])
	for name, chosen := range map[string]option{
		"manual":              in(manual),
		"manual-of-another":   in(manual, byOpen, ofOther),
		"manual-older":        in(manual, ofOlder),
		"selector-of-older":   in(selected),
		"automatic-and-older": in("compositionUpdatePolicy: Automatic", selected),
	} {
		for _, of := range []string{name, "own"} {
			err := k.applyAs(author, bookOf(gvk, of, image(own), chosen))
			k.contains(fmt.Sprintf("%s of %s: %v", name, of, err), want)
		}
	}
	serves(k)
	k.equal("Deployments of all MarkdownViews", 1, len(list(k, &appsv1.DeploymentList{}).Items))
}

// applyPlatform applies example/platform as its documentation says, with another group, and
// names that no other test uses.
func (k *kit) applyPlatform(group, composition, authors string) {
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
		} else {
			k.apply(u)
		}
	}
}

// revisionOf returns a revision of a Composition, and waits until it exists.
func (k *kit) revisionOf(composition string, number int64) (revision *unstructured.Unstructured) {
	k.Helper()
	k.eventually(fmt.Sprintf("revision %d of %s", number, composition), func(k *kit) {
		l := listOf(schema.GroupVersionKind{Group: "apiextensions.crossplane.io", Version: "v1", Kind: "CompositionRevision"})
		k.must(k.List(k.Context(), l, client.MatchingLabels{"crossplane.io/composition-name": composition}))
		for _, u := range l.Items {
			if got, _, _ := unstructured.NestedInt64(u.Object, "spec", "revision"); got == number {
				revision = &u
				return
			}
		}
		k.Errorf("it has %d revisions", len(l.Items))
	})

	return revision
}

// applyAs applies an object as a user, in the namespace of the test.
func (k *kit) applyAs(who authorizationv1.SubjectAccessReviewSpec, u *unstructured.Unstructured) error {
	path := filepath.Join(k.TempDir(), "object.json")
	k.must(os.WriteFile(path, k.json(u), 0o600))
	args := []string{"apply", "--server-side", "--force-conflicts", "--namespace=" + k.namespace, "--filename=" + path, "--as=" + who.User}
	for _, g := range who.Groups {
		args = append(args, "--as-group="+g)
	}
	_, err := k.run("kubectl", args...)

	return err
}
