package e2e

import (
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TutorialsKind checks that MarkdownViews of the tutorial's own API are composed, although
// its XRD has fewer fields than that of the configuration package.
func TutorialsKind(k *kit) {
	gvk := schema.GroupVersionKind{Group: "view.zoetrope.github.io", Version: "v1", Kind: "MarkdownView"}
	for _, u := range k.parse(k.read("../../example/tutorial/definition.yaml")) {
		k.define(u)
	}
	for _, u := range k.parse(k.read("../../example/tutorial/composition.yaml")) {
		k.apply(u)
		k.afterwards(u)
	}
	u := k.parse(k.read("../../example/tutorial/xr.yaml"))[0]
	u.SetNamespace("")
	k.applyNew(u)
	k.untilOf(gvk, u.GetName(), k.patience, "healthy", func(v *markdownView) error {
		return errors.Join(equal("status", healthy, v.Status.Status), v.is("Ready", metav1.ConditionTrue, ""),
			v.is("Synced", metav1.ConditionTrue, ""), v.is("Degraded", metav1.ConditionFalse, "AsExpected"))
	})
	k.children(u.GetName())

	// The names of composed resources do not contain the API group of the XR, so an XR
	// of another kind with the same name cannot compose them.
	k.apply(book(u.GetName()))
	k.until(u.GetName(), "the resources are controlled by another XR", func(v *markdownView) error {
		return errors.Join(v.is("Synced", metav1.ConditionFalse, ""), v.is("Degraded", metav1.ConditionTrue, "ApplyFailed"))
	})
}

// AutoscaledDeployment checks that the function sets no replicas of the Deployment if the
// XR sets none. Its XRD has no default for replicas.
func AutoscaledDeployment(k *kit) {
	const name, idle, handover = "autoscaled", "idle", "handover"
	gvk := k.variant("Autoscaled", func(xrd *unstructured.Unstructured) {
		version := xrd.Object["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)
		unstructured.RemoveNestedField(version, "schema", "openAPIV3Schema", "properties", "spec", "properties", "replicas", "default")
	})
	k.composition("autoscaled", gvk, ours(nil))
	k.applyNew(bookOf(gvk, name))
	k.apply(bookOf(gvk, idle))
	k.apply(bookOf(gvk, handover, replicas(3)))
	for _, n := range []string{name, idle, handover} {
		k.untilOf(gvk, n, k.patience, "healthy", (*markdownView).settled)
	}
	k.apply(bookOf(gvk, handover))

	k.kubectl("scale", "deployment", "viewer-"+name, "--replicas=3")
	k.untilOf(gvk, name, k.patience, "three pods", func(v *markdownView) error {
		return errors.Join(v.settled(), v.counts(healthy, 3, 3))
	})

	k.kubectl("scale", "deployment", "viewer-"+idle, "--replicas=0")
	k.untilOf(gvk, idle, k.patience, "scaled to zero", func(v *markdownView) error {
		return errors.Join(v.counts(healthy, 0, 0), v.is("Ready", metav1.ConditionTrue, ""), v.is("Available", metav1.ConditionTrue, "ScaledToZero"))
	})

	// The last applied replicas stay until another client sets a different number.
	k.pause(15 * time.Second)
	if got := *k.children(handover).deployment.Spec.Replicas; got != 3 {
		k.Errorf("the Deployment has %d replicas after they were removed from the XR, not 3 as before", got)
	}
	k.kubectl("scale", "deployment", "viewer-"+handover, "--replicas=4")

	k.pause(30 * time.Second) // Crossplane calls the function again, if it drops events.
	if got := *k.children(handover).deployment.Spec.Replicas; got != 4 {
		k.Errorf("the Deployment has %d replicas, not 4 as set by kubectl scale", got)
	}
	k.apply(bookOf(gvk, name, file("page.md", "# Changed\n")))
	k.untilOf(gvk, name, k.patience, "healthy", (*markdownView).settled)
	if got := *k.children(name).deployment.Spec.Replicas; got != 3 {
		k.Errorf("the Deployment has %d replicas after a change of the text, not 3 as set by kubectl scale", got)
	}
}

// ClusterScoped checks that the resources of an XR without a namespace are composed in
// the namespace of the Input.
func ClusterScoped(k *kit) {
	gvk := k.variant("Global", func(xrd *unstructured.Unstructured) {
		k.must(unstructured.SetNestedField(xrd.Object, "Cluster", "spec", "scope"))
	})
	k.composition("global", gvk, ours(map[string]any{"namespace": k.namespace}))
	u := bookOf(gvk, k.namespace)
	k.applyNew(u)
	k.afterwards(u)
	k.eventually("healthy", func() error {
		got := bookOf(gvk, "")
		if err := k.Get(k.Context(), client.ObjectKey{Name: u.GetName()}, got); err != nil {
			return err
		}
		v, err := decode(got)
		if err != nil {
			return err
		}

		return v.settled()
	})
	k.children(u.GetName())
}

// Claim checks that the resources of a legacy XR are composed in the namespace of its
// claim, and that the claim has the conditions of the XR.
func Claim(k *kit) {
	gvk := k.variant("Legacy", func(xrd *unstructured.Unstructured) {
		xrd.SetAPIVersion("apiextensions.crossplane.io/v1")
		spec := xrd.Object["spec"].(map[string]any)
		delete(spec, "scope")
		spec["claimNames"] = map[string]any{"kind": "LegacyClaim", "plural": "legacyclaims"}
	})
	k.composition("legacy", gvk, ours(nil))
	claim := gvk.GroupVersion().WithKind("LegacyClaim")
	k.applyNew(bookOf(claim, "claimed"))

	k.untilOf(claim, "claimed", k.patience, "healthy", func(v *markdownView) error {
		return errors.Join(equal("status", healthy, v.Status.Status), v.is("Ready", metav1.ConditionTrue, ""),
			v.is("Available", metav1.ConditionTrue, "Available"), v.is("Degraded", metav1.ConditionFalse, "AsExpected"))
	})
	u := bookOf(claim, "")
	k.must(k.get(u, "claimed"))
	xr, _, _ := unstructured.NestedString(u.Object, "spec", "resourceRef", "name")
	k.children(xr)
}

// Nested checks that a MarkdownView can be a composed resource of another XR.
func Nested(k *kit) {
	const name = "library"
	gvk := schema.GroupVersionKind{Group: group(k), Version: "v1", Kind: "Library"}
	k.define(k.parse(fmt.Sprintf(`
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata:
  name: libraries.%[1]s
spec:
  group: %[1]s
  names: {kind: Library, plural: libraries}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    referenceable: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
`, group(k)))[0])

	nested := book("nested")
	k.composition("library", gvk,
		step{function: k.fixture, input: map[string]any{
			"apiVersion": "e2e.example.org/v1", "kind": "Input",
			"resources": map[string]any{"book": map[string]any{"ready": true, "resource": nested.Object}},
		}})
	library := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
	library.SetGroupVersionKind(gvk)
	library.SetName(name)
	k.applyNew(library)
	k.settle("nested")
	c := k.children("nested")
	if got := c.deployment.OwnerReferences[0]; got.Kind != "MarkdownView" || got.Name != "nested" {
		k.Errorf("the Deployment is owned by %s %q", got.Kind, got.Name)
	}

	k.must(k.Delete(k.Context(), inNamespace(library, k.namespace)))
	k.within(2*k.patience, "all are deleted with the library", func() error {
		return errors.Join(k.gone(book(""), "nested"), k.gone(&corev1.ConfigMap{}, "markdowns-nested"))
	})
}

// group returns the API group of the XRDs that a test defines: each test has its own,
// because tests run in parallel.
func group(k *kit) string { return k.namespace + ".example.org" }

// variant defines an API like that of MarkdownView with another kind, and returns that
// kind.
func (k *kit) variant(name string, change func(*unstructured.Unstructured)) schema.GroupVersionKind {
	k.Helper()
	gvk := schema.GroupVersionKind{Group: group(k), Version: kind.Version, Kind: name}
	xrd := k.parse(k.read("../../package/configuration/definition.yaml"))[0]
	plural := strings.ToLower(name) + "s"
	xrd.SetName(plural + "." + gvk.Group)
	k.must(unstructured.SetNestedField(xrd.Object, gvk.Group, "spec", "group"))
	k.must(unstructured.SetNestedField(xrd.Object, map[string]any{"kind": name, "plural": plural}, "spec", "names"))
	unstructured.RemoveNestedField(xrd.Object, "spec", "defaultCompositionRef")
	change(xrd)
	k.define(xrd)

	return gvk
}

// define applies an XRD, which is deleted after the test, and waits until it is
// established.
func (k *kit) define(xrd *unstructured.Unstructured) {
	k.Helper()
	if olderThan("v2.3") {
		version := xrd.Object["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)
		delete(version, "subresources") // Unknown to the XRD of that version.
	}
	k.apply(xrd)
	k.afterwards(xrd)
	k.eventually(xrd.GetName()+" is established", func() error {
		u := xrd.DeepCopy()
		if err := k.Get(k.Context(), client.ObjectKey{Name: xrd.GetName()}, u); err != nil {
			return err
		}
		v, err := decode(u)
		if err != nil {
			return err
		}

		return v.is("Established", metav1.ConditionTrue, "")
	})
}

// applyNew applies an object of a kind that was just defined. It retries, because the API
// server may not serve that kind yet.
func (k *kit) applyNew(u *unstructured.Unstructured) {
	k.Helper()
	k.eventually("create "+u.GetKind(), func() error { return k.tryApply(u) })
}

func bookOf(gvk schema.GroupVersionKind, name string, spec ...func(map[string]any)) *unstructured.Unstructured {
	u := book(name, spec...)
	u.SetGroupVersionKind(gvk)

	return u
}
