package e2e

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TutorialsKind checks that MarkdownViews of the tutorial's own API are composed, although
// its XRD has fewer fields than that of the configuration package.
func TutorialsKind(k *kit) {
	gvk := schema.GroupVersionKind{Group: "view.zoetrope.github.io", Version: "v1", Kind: "MarkdownView"}
	k.define(k.manifests("tutorial/definition.yaml")[0])
	k.apply(k.manifests("tutorial/composition.yaml")...)
	u := k.manifests("tutorial/xr.yaml")[0]
	u.SetNamespace("")
	k.applyNew(u)
	k.untilOf(gvk, u.GetName(), k.patience, "Healthy", "Ready=True", "Synced=True", "Degraded=False AsExpected")
	k.children(u.GetName())

	// The names of composed resources do not contain the API group of the XR, so an XR
	// of another kind with the same name cannot compose them.
	k.apply(book(u.GetName()))
	k.until(u.GetName(), "Synced=False", "Degraded=True ApplyFailed")
}

// AutoscaledDeployment checks that the function sets no replicas of the Deployment if the
// XR sets none. Its XRD has no default for replicas.
func AutoscaledDeployment(k *kit) {
	const name, idle, handover = "autoscaled", "idle", "handover"
	gvk := k.variant("Autoscaled", func(spec map[string]any) {
		version := spec["versions"].([]any)[0].(map[string]any)
		unstructured.RemoveNestedField(version, "schema", "openAPIV3Schema", "properties", "spec", "properties", "replicas", "default")
	})
	k.composition("autoscaled", gvk, ours(""))
	k.applyNew(bookOf(gvk, name))
	k.apply(bookOf(gvk, idle), bookOf(gvk, handover, replicas(3)))
	for _, n := range []string{name, idle, handover} {
		k.untilOf(gvk, n, k.patience, settled...)
	}
	k.apply(bookOf(gvk, handover))
	scale := func(name string, replicas int) {
		k.kubectl("scale", "deployment", "viewer-"+name, fmt.Sprintf("--replicas=%d", replicas))
	}
	has := func(name string, replicas int32, why string) {
		k.Helper()
		k.equal("replicas of the Deployment "+why, replicas, *k.viewer(name).Spec.Replicas)
	}

	scale(name, 3)
	k.untilOf(gvk, name, k.patience, append(settled, "Healthy 3/3")...)
	scale(idle, 0)
	k.untilOf(gvk, idle, k.patience, "Healthy 0/0", "Ready=True", "Available=True ScaledToZero")

	// The last applied replicas stay until another client sets a different number.
	k.pause(15 * time.Second)
	has(handover, 3, "after they were removed from the XR")
	scale(handover, 4)

	k.pause(30 * time.Second) // Crossplane calls the function again, if it drops events.
	has(handover, 4, "as set by kubectl scale")
	k.apply(bookOf(gvk, name, file("page.md", "# Changed\n")))
	k.untilOf(gvk, name, k.patience, settled...)
	has(name, 3, "after a change of the text")
}

// ClusterScoped checks that the resources of an XR without a namespace are composed in
// the namespace of the Input.
func ClusterScoped(k *kit) {
	gvk := k.variant("Global", func(spec map[string]any) { spec["scope"] = "Cluster" })
	k.composition("global", gvk, ours("namespace: "+k.namespace))
	k.applyNew(bookOf(gvk, k.namespace))
	k.untilOf(gvk, k.namespace, k.patience, settled...)
	k.children(k.namespace)
}

// Claim checks that the resources of a legacy XR are composed in the namespace of its
// claim, and that the claim has the conditions of the XR.
func Claim(k *kit) {
	gvk := k.variant("Legacy", func(spec map[string]any) {
		delete(spec, "scope")
		spec["claimNames"] = map[string]any{"kind": "LegacyClaim", "plural": "legacyclaims"}
	})
	k.composition("legacy", gvk, ours(""))
	claim := gvk.GroupVersion().WithKind("LegacyClaim")
	k.applyNew(bookOf(claim, "claimed"))
	k.untilOf(claim, "claimed", k.patience,
		"Healthy", "Ready=True", "Available=True Available", "Degraded=False AsExpected")
	xr, _, _ := unstructured.NestedString(get(k, bookOf(claim, ""), "claimed").Object, "spec", "resourceRef", "name")
	k.children(xr)
}

// Nested checks that a MarkdownView can be a composed resource of another XR.
func Nested(k *kit) {
	const name = "library"
	gvk := schema.GroupVersionKind{Group: group(k), Version: "v1", Kind: "Library"}
	k.define(k.parse(fmt.Sprintf(`
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: libraries.%[1]s}
spec:
  group: %[1]s
  names: {kind: Library, plural: libraries}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    referenceable: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}}}}
`, gvk.Group))[0])
	resources := fmt.Sprintf("resources: {book: {ready: true, resource: %s}}", k.json(book("nested")))
	k.composition("library", gvk, k.fixed(resources))
	library := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
	library.SetGroupVersionKind(gvk)
	library.SetName(name)
	k.applyNew(library)
	k.settle("nested")
	owner := k.viewer("nested").OwnerReferences[0]
	k.equal("owner of the Deployment", "MarkdownView nested", owner.Kind+" "+owner.Name)

	k.must(k.Delete(k.Context(), inNamespace(library, k.namespace)))
	k.within(2*k.patience, "all are deleted with the library", func(k *kit) {
		k.gone(book(""), "nested")
		k.gone(&corev1.ConfigMap{}, "markdowns-nested")
	})
}

// group returns the API group of the XRDs that a test defines: each test has its own,
// because tests run in parallel.
func group(k *kit) string { return k.namespace + ".example.org" }

// variant defines an API like that of MarkdownView with another kind, and returns that
// kind.
func (k *kit) variant(name string, change option) schema.GroupVersionKind {
	k.Helper()
	gvk := schema.GroupVersionKind{Group: group(k), Version: kind.Version, Kind: name}
	xrd := k.parse(k.read("../../package/configuration/definition.yaml"))[0]
	plural := strings.ToLower(name) + "s"
	xrd.SetName(plural + "." + gvk.Group)
	spec := xrd.Object["spec"].(map[string]any)
	with(fmt.Sprintf("group: %s\nnames: {kind: %s, plural: %s}", gvk.Group, name, plural))(spec)
	delete(spec, "defaultCompositionRef")
	if change(spec); spec["scope"] == nil {
		xrd.SetAPIVersion("apiextensions.crossplane.io/v1")
	}
	k.define(xrd)

	return gvk
}

// define applies an XRD, and waits until it is established.
func (k *kit) define(xrd *unstructured.Unstructured) {
	k.Helper()
	if olderThan("v2.3") {
		version := xrd.Object["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)
		delete(version, "subresources") // Unknown to the XRD of that version.
	}
	k.apply(xrd)
	k.kubectl("wait", "xrd", xrd.GetName(), "--for=condition=Established", fmt.Sprintf("--timeout=%s", k.patience))
}

// applyNew applies an object of a kind that was just defined. It retries, because the API
// server may not serve that kind yet.
func (k *kit) applyNew(u *unstructured.Unstructured) {
	k.Helper()
	k.eventually("create "+u.GetKind(), func(k *kit) { k.apply(u) })
}
