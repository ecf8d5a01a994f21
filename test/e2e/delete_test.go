package e2e

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Delete checks that the composed resources of a MarkdownView are deleted with it, and
// nothing else: neither the resources of another MarkdownView nor objects of a user
// with the same labels.
func Delete(k *kit) {
	const name, other = "delete", "other"
	k.apply(book(name), book(other))
	k.settle(name, other)
	alike := &unstructured.Unstructured{}
	alike.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	alike.SetName("alike")
	alike.SetLabels(k.children(name).configMap.Labels)
	k.apply(alike)
	uids := func(k *kit) map[string]string {
		return k.each(func(o *unstructured.Unstructured) string { return string(o.GetUID()) },
			corev1.SchemeGroupVersion.WithKind("ConfigMap"),
			appsv1.SchemeGroupVersion.WithKind("Deployment"),
			corev1.SchemeGroupVersion.WithKind("Service"))
	}
	want := uids(k)
	for what, o := range k.children(name).all() {
		key := fmt.Sprintf("%s %s", what, o.GetName())
		k.equal(key, string(o.GetUID()), want[key])
		delete(want, key)
	}

	k.delete(name)
	k.eventually("all are deleted", func(k *kit) {
		k.gone(book(""), name)
		k.equal("objects", want, uids(k))
	})
	k.settle(other)
}
