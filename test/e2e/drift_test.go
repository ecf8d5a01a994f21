package e2e

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
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
		k.eventually(what+" is reverted", func() error {
			u := k.unstructuredOf(o)
			var errs []error
			for _, c := range changes[what] {
				errs = append(errs, equal(c.path.String(), c.was, at(u, c.path)))
			}

			return errors.Join(errs...)
		})
	}
	k.settle(name)

	// The fields that select the pods of the Deployment are immutable, and a volume mount
	// must name an existing volume. Function others returns no other valid strategy type.
	want := map[string][]string{
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
	}
	if diff := cmp.Diff(want, fixed); diff != "" {
		k.Errorf("fields that no client can change: -want +got:\n%s", diff)
	}
}

// unstructuredOf reads an object again, as unstructured.
func (k *kit) unstructuredOf(o client.Object) *unstructured.Unstructured {
	k.Helper()
	gvk, err := k.GroupVersionKindFor(o)
	k.must(err)
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	k.must(k.get(u, o.GetName()))

	return u
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
		k.eventually(what+" is created again", func() error {
			c, err := k.tryChildren(name)
			if err != nil {
				return err
			}
			if c.all()[what].GetUID() == gone[what].GetUID() {
				return fmt.Errorf("it is not deleted yet")
			}

			return nil
		})
	}
	k.settle(slices.Collect(maps.Values(names))...)
	for _, name := range names {
		k.eventually(name+": event", func() error { return k.warned(name, "Deleted resources are created again") })
	}
}

// DriftOfOthers checks that fields that other clients set are kept, even when the
// function changes other fields of the same object.
func DriftOfOthers(k *kit) {
	const name = "others"
	k.apply(book(name))
	k.settle(name)

	seven := int32(7)
	for what := range k.children(name).all() {
		k.must(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			c := k.children(name)
			o := c.all()[what]
			o.SetLabels(with(o.GetLabels(), "example.org/tool", "keep"))
			o.SetAnnotations(with(o.GetAnnotations(), "example.org/note", "keep"))
			c.configMap.Data["example.org"] = "keep"
			c.deployment.Spec.RevisionHistoryLimit = &seven
			c.deployment.Spec.Template.Annotations["sidecar.example.org/inject"] = "true"
			c.service.Spec.SessionAffinity = corev1.ServiceAffinityClientIP

			return k.Update(k.Context(), o, client.FieldOwner("other-client"))
		}))
	}
	kept := func() error {
		c, err := k.tryChildren(name)
		if err != nil {
			return err
		}
		for what, o := range c.all() {
			if o.GetLabels()["example.org/tool"] != "keep" || o.GetAnnotations()["example.org/note"] != "keep" {
				return fmt.Errorf("%s has lost its label or annotation: %v %v", what, o.GetLabels(), o.GetAnnotations())
			}
		}
		if got := c.configMap.Data["example.org"]; got != "keep" {
			return fmt.Errorf("the data of the other client is %q", got)
		}
		if got := *c.deployment.Spec.RevisionHistoryLimit; got != seven {
			return fmt.Errorf("revisionHistoryLimit is %d", got)
		}
		if got := c.deployment.Spec.Template.Annotations["sidecar.example.org/inject"]; got != "true" {
			return fmt.Errorf("the annotation of the pods is %q", got)
		}
		if got := c.service.Spec.SessionAffinity; got != corev1.ServiceAffinityClientIP {
			return fmt.Errorf("sessionAffinity is %q", got)
		}

		return nil
	}
	k.settle(name)
	k.must(kept())

	k.apply(book(name, file("page.md", "# Changed\n"), replicas(2)))
	k.settle(name)
	k.must(kept())
}

func with(m map[string]string, key, value string) map[string]string {
	m = maps.Clone(m)
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value

	return m
}
