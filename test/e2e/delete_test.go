package e2e

import (
	"errors"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Delete checks that the composed resources of a MarkdownView are deleted with it, and
// nothing else: neither the resources of another MarkdownView nor objects of a user
// with the same labels.
func Delete(k *kit) {
	const name, other = "delete", "other"
	k.apply(book(name))
	k.apply(book(other))
	k.settle(name, other)
	k.apply(k.unstructured(&corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: "alike", Labels: k.children(name).configMap.Labels},
		Data:       map[string]string{"page.md": "# Alike\n"},
	}))
	want := k.uids()
	for _, key := range []string{"ConfigMap markdowns-" + name, "Deployment viewer-" + name, "Service viewer-" + name} {
		if _, ok := want[key]; !ok {
			k.Fatalf("%s does not exist", key)
		}
		delete(want, key)
	}

	u := inNamespace(book(name), k.namespace)
	k.must(k.Delete(k.Context(), u))
	k.eventually("all are deleted", func() error { return errors.Join(k.gone(u, name), equal("objects", want, k.uids())) })
	k.settle(other)
}

// uids returns the UIDs of the ConfigMaps, Deployments and Services in the namespace,
// by kind and name.
func (k *kit) uids() map[string]string {
	k.Helper()

	return k.each(func(o *unstructured.Unstructured) string { return string(o.GetUID()) },
		corev1.SchemeGroupVersion.WithKind("ConfigMap"), appsv1.SchemeGroupVersion.WithKind("Deployment"), corev1.SchemeGroupVersion.WithKind("Service"))
}
