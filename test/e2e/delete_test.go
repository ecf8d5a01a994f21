package e2e

import (
	"fmt"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
	before := k.uids()

	u := book(name)
	u.SetNamespace(k.namespace)
	k.must(k.Delete(k.Context(), u))
	k.eventually("all are deleted", func() error {
		for _, o := range []struct {
			object client.Object
			name   string
		}{
			{u, name},
			{&corev1.ConfigMap{}, "markdowns-" + name},
			{&appsv1.Deployment{}, "viewer-" + name},
			{&corev1.Service{}, "viewer-" + name},
		} {
			if err := k.gone(o.object, o.name); err != nil {
				return err
			}
		}

		return nil
	})

	for _, key := range []string{"*v1.ConfigMap markdowns-" + name, "*v1.Deployment viewer-" + name, "*v1.Service viewer-" + name} {
		if _, ok := before[key]; !ok {
			k.Fatalf("%s did not exist", key)
		}
		delete(before, key)
	}
	if diff := cmp.Diff(before, k.uids()); diff != "" {
		k.Errorf("objects: -want +got:\n%s", diff)
	}
	k.settle(other)
}

// uids returns the UIDs of the ConfigMaps, Deployments and Services in the namespace,
// by type and name.
func (k *kit) uids() map[string]string {
	k.Helper()
	configMaps, deployments, services := &corev1.ConfigMapList{}, &appsv1.DeploymentList{}, &corev1.ServiceList{}
	for _, l := range []client.ObjectList{configMaps, deployments, services} {
		k.must(k.List(k.Context(), l, client.InNamespace(k.namespace)))
	}
	var all []client.Object
	for i := range configMaps.Items {
		all = append(all, &configMaps.Items[i])
	}
	for i := range deployments.Items {
		all = append(all, &deployments.Items[i])
	}
	for i := range services.Items {
		all = append(all, &services.Items[i])
	}
	uids := map[string]string{}
	for _, o := range all {
		uids[fmt.Sprintf("%T %s", o, o.GetName())] = string(o.GetUID())
	}

	return uids
}
