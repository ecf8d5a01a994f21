package e2e

import (
	"maps"
	"slices"

	jsonpatch "github.com/evanphx/json-patch/v5"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Drift checks that Crossplane reverts every change that another client makes to a field
// that the function desires.
func Drift(k *kit) {
	const name = "drift"
	k.apply(book(name))
	k.settle(name)

	resources := k.children(name).all()
	changes, fixed := map[string][]edit{}, map[string][]string{}
	for what, o := range resources {
		changes[what], fixed[what] = k.changeOwned(k.unstructuredOf(o))
		k.Logf("%s: %d fields are changed by another client", what, len(changes[what]))
	}
	for what, o := range resources {
		k.eventually(what+" is reverted", func(k *kit) {
			u := k.unstructuredOf(o)
			for _, c := range changes[what] {
				k.equal(c.path.String(), c.was, at(u, c.path))
			}
		})
	}
	k.settle(name)

	// The fields that select the pods of the Deployment are immutable, and a volume mount
	// must name an existing volume. Function others returns no other valid strategy type.
	k.equal("fields that no client can change", map[string][]string{
		"ConfigMap": nil,
		"Deployment": {
			".spec.selector",
			".spec.strategy.type",
			".spec.template.metadata.labels.app.kubernetes.io/created-by",
			".spec.template.metadata.labels.app.kubernetes.io/instance",
			".spec.template.metadata.labels.app.kubernetes.io/name",
			`.spec.template.spec.containers[name="mdbook"].volumeMounts[mountPath="/book/book"].name`,
			`.spec.template.spec.containers[name="mdbook"].volumeMounts[mountPath="/book/src"].name`,
		},
		"Service": nil,
	}, fixed)
}

// unstructuredOf reads an object again, as unstructured.
func (k *kit) unstructuredOf(o client.Object) *unstructured.Unstructured {
	k.Helper()
	gvk, err := k.GroupVersionKindFor(o)
	k.must(err)
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)

	return get(k, u, o.GetName())
}

// DriftOfAll checks that each composed resource is created again after it is deleted.
func DriftOfAll(k *kit) {
	names := map[string]string{"ConfigMap": "no-config-map", "Deployment": "no-deployment", "Service": "no-service"}
	for _, name := range names {
		k.apply(book(name))
	}
	k.settle(slices.Collect(maps.Values(names))...)

	k.calm()

	gone := map[string]client.Object{}
	for what, name := range names {
		gone[what] = k.children(name).all()[what]
		k.must(k.Delete(k.Context(), gone[what], client.PropagationPolicy(metav1.DeletePropagationBackground)))
	}
	for what, name := range names {
		k.eventually(what+" is created again", func(k *kit) {
			if k.children(name).all()[what].GetUID() == gone[what].GetUID() {
				k.Error("it is not deleted yet")
			}
		})
	}
	k.settle(slices.Collect(maps.Values(names))...)
	for _, name := range names {
		k.warned(name, "Deleted resources are created again")
	}
}

// DriftOfOthers checks that fields that other clients set are kept, even when the
// function changes other fields of the same object.
func DriftOfOthers(k *kit) {
	const name = "others"
	k.apply(book(name))
	k.settle(name)

	const keep = `labels: {example.org/tool: keep}, annotations: {example.org/note: keep}`
	others := k.parse(`
{apiVersion: v1, kind: ConfigMap, metadata: {name: markdowns-others, ` + keep + `}, data: {example.org: keep}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: viewer-others, ` + keep + `}, spec: {revisionHistoryLimit: 7,
  template: {metadata: {annotations: {sidecar.example.org/inject: "true"}}}}}
---
{apiVersion: v1, kind: Service, metadata: {name: viewer-others, ` + keep + `}, spec: {sessionAffinity: ClientIP}}`)
	for _, u := range others {
		patch := client.RawPatch(types.MergePatchType, k.json(u))
		k.must(k.Patch(k.Context(), inNamespace(u, k.namespace), patch, client.FieldOwner("other-client")))
	}
	kept := func() {
		k.Helper()
		for _, u := range others {
			live := k.json(k.unstructuredOf(u))
			merged, err := jsonpatch.MergePatch(live, k.json(u))
			k.must(err)
			lost, err := jsonpatch.CreateMergePatch(live, merged)
			k.must(err)
			k.equal("lost fields of the "+u.GetKind(), "{}", string(lost))
		}
	}
	k.settle(name)
	kept()

	k.apply(book(name, file("page.md", "# Changed\n"), replicas(2)))
	k.settle(name)
	kept()
}

func (k *kit) json(u *unstructured.Unstructured) []byte {
	k.Helper()
	j, err := u.MarshalJSON()
	k.must(err)

	return j
}
