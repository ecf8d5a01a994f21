package e2e

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Drift shows that what is ours is put back, whoever changes it.
func Drift(k *kit) {
	edits := edits()
	names := map[string]string{}
	for i, what := range sorted(edits) {
		names[what] = fmt.Sprintf("drift-%d", i)
		k.apply(book(names[what]))
	}
	k.settle(slices.Collect(maps.Values(names))...)

	before := map[string]string{}
	for what, name := range names {
		before[what] = edits[what].read(k.children(name))
		k.must(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			c := k.children(name)
			edits[what].change(c)
			return k.Update(k.Context(), edits[what].of(c), client.FieldOwner("somebody"))
		}))
	}
	for what, name := range names {
		k.eventually(what+" is put back", func() error {
			c, err := k.tryChildren(name)
			if err != nil {
				return err
			}
			return equal(what, before[what], edits[what].read(c))
		})
	}
	k.settle(slices.Collect(maps.Values(names))...)
}

// DriftOfAll shows that each resource that is deleted comes back.
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
		k.eventually(what+" comes back", func() error {
			c, err := k.tryChildren(name)
			if err != nil {
				return err
			}
			if c.all()[what].GetUID() == gone[what].GetUID() {
				return fmt.Errorf("it is the old one still")
			}
			return nil
		})
	}
	k.settle(slices.Collect(maps.Values(names))...)
	for _, name := range names {
		k.eventually(name+": an event says so", func() error { return k.warned(name, "had been there and is gone") })
	}
}

// An edit of a field that is ours.
type edit struct {
	of     func(children) client.Object
	change func(children)
	read   func(children) string
}

func edits() map[string]edit {
	configMap := func(c children) client.Object { return c.configMap }
	deployment := func(c children) client.Object { return c.deployment }
	service := func(c children) client.Object { return c.service }
	container := func(c children) *corev1.Container { return &c.deployment.Spec.Template.Spec.Containers[0] }

	return map[string]edit{
		"a page": {
			of:     configMap,
			change: func(c children) { c.configMap.Data["page.md"] = "# Somebody's\n" },
			read:   func(c children) string { return c.configMap.Data["page.md"] },
		},
		"a page that is removed": {
			of:     configMap,
			change: func(c children) { delete(c.configMap.Data, "page.md") },
			read:   func(c children) string { return c.configMap.Data["page.md"] },
		},
		"a label of the ConfigMap": {
			of:     configMap,
			change: func(c children) { c.configMap.Labels["app.kubernetes.io/name"] = "other" },
			read:   func(c children) string { return c.configMap.Labels["app.kubernetes.io/name"] },
		},
		"the image": {
			of:     deployment,
			change: func(c children) { container(c).Image = "example.org/other:v1" },
			read:   func(c children) string { return container(c).Image },
		},
		"the arguments": {
			of:     deployment,
			change: func(c children) { container(c).Args = []string{"build"} },
			read:   func(c children) string { return fmt.Sprint(container(c).Args) },
		},
		"the replicas": {
			of:     deployment,
			change: func(c children) { *c.deployment.Spec.Replicas = 4 },
			read:   func(c children) string { return fmt.Sprint(*c.deployment.Spec.Replicas) },
		},
		"the revision": {
			of:     deployment,
			change: func(c children) { c.deployment.Spec.Template.Annotations[revision] = "none" },
			read:   func(c children) string { return c.deployment.Spec.Template.Annotations[revision] },
		},
		"the security context": {
			of:     deployment,
			change: func(c children) { container(c).SecurityContext = nil },
			read:   func(c children) string { return fmt.Sprint(container(c).SecurityContext) },
		},
		"a probe": {
			of:     deployment,
			change: func(c children) { container(c).ReadinessProbe.HTTPGet.Path = "/other" },
			read:   func(c children) string { return container(c).ReadinessProbe.HTTPGet.Path },
		},
		"a volume": {
			of:     deployment,
			change: func(c children) { c.deployment.Spec.Template.Spec.Volumes[0].ConfigMap.Name = "other" },
			read:   func(c children) string { return c.deployment.Spec.Template.Spec.Volumes[0].ConfigMap.Name },
		},
		"the port of the Service": {
			of:     service,
			change: func(c children) { c.service.Spec.Ports[0].TargetPort = intstr.FromInt32(1) },
			read:   func(c children) string { return c.service.Spec.Ports[0].TargetPort.String() },
		},
		"the selector of the Service": {
			of:     service,
			change: func(c children) { c.service.Spec.Selector["app.kubernetes.io/instance"] = "other" },
			read:   func(c children) string { return fmt.Sprint(c.service.Spec.Selector) },
		},
		"the owner of the Service": {
			of:     service,
			change: func(c children) { c.service.OwnerReferences = nil },
			read:   func(c children) string { return fmt.Sprint(len(c.service.OwnerReferences)) },
		},
	}
}

// DriftOfOthers shows that what others set stays, also when we change our part
// of the same object.
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
			c.deployment.Spec.RevisionHistoryLimit = &seven
			c.deployment.Spec.Template.Annotations["sidecar.example.org/inject"] = "true"
			c.service.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
			return k.Update(k.Context(), o, client.FieldOwner("somebody"))
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
