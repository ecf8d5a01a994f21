package e2e

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

// annotationRevision is set on the pods.
const annotationRevision = "markdownview.fn.crossplane.io/revision"

// Fresh checks that no pod of a new revision becomes ready with the old text while
// Kubernetes rejects the ConfigMap with the new one, and that every pod serves the new
// text once the MarkdownView is ready. The books are served by mdBook, and by a web
// server from the spec and from another ConfigMap.
func Fresh(k *kit) {
	k.needsNode()
	composition := k.composition("static", kind, ours(map[string]any{"server": map[string]any{}}))
	pages := map[string]string{"reloaded": "/page.html", "static": "/page.html", "shared": "/guide/a.html"}
	names := sorted(pages)
	apply := func(revision string) {
		k.Helper()
		k.write("guide", map[string]string{"a.md": revision})
		k.apply(book("reloaded", replicas(2), withRevision(revision)))
		k.apply(book("static", composedBy(composition), replicas(2), withRevision(revision)))
		k.apply(book("shared", composedBy(composition), replicas(2), from(fromConfigMap("guide")), file("SUMMARY.md", "- [Page](page.md)\n- [Guide](guide/a.md)\n")))
	}
	apply("revision-0")
	k.settle(names...)
	first := map[string]string{}
	for _, name := range names {
		first[name] = k.viewer(name).Spec.Template.Annotations[annotationRevision]
	}

	admit := k.rejectConfigMaps()
	apply("revision-1")
	for _, name := range names {
		k.until(name, "the ConfigMap is rejected", func(v *markdownView) error {
			return errors.Join(v.is("Degraded", metav1.ConditionTrue, "ApplyFailed"), v.is("Ready", metav1.ConditionFalse, ""), equal("ready pods", int32(2), v.Status.ReadyReplicas))
		})
	}
	for _, name := range []string{"static", "shared"} {
		k.eventually("a pod of the new revision of "+name, func() error {
			for _, pod := range k.podsOf(name) {
				if pod.Annotations[annotationRevision] != first[name] {
					return nil
				}
			}

			return fmt.Errorf("there is none")
		})
	}
	stale := map[string]error{}
	for range 20 {
		for _, name := range names {
			for _, pod := range k.podsOf(name) {
				if isReady(pod) && pod.Annotations[annotationRevision] != first[name] {
					stale[name] = fmt.Errorf("pod %s of the new revision is ready: %w", pod.Name, k.pageHas(pod, pages[name], "revision-1"))
				}
			}
		}
		time.Sleep(500 * time.Millisecond)
	}
	for _, err := range stale {
		k.check(err)
	}
	k.check(equal("revision of the pods that mdBook serves", first["reloaded"], k.viewer("reloaded").Spec.Template.Annotations[annotationRevision]))

	admit()
	// Crossplane and the kubelet try again later and later. A change makes Crossplane try now.
	k.kubectl(slices.Concat([]string{"annotate", "markdownviews"}, names, []string{"example.org/nudge=now"})...)
	k.settle(names...)
	for _, name := range names {
		for _, pod := range k.podsOf(name) {
			if isReady(pod) {
				k.check(k.pageHas(pod, pages[name], "revision-1"))
			}
		}
	}
}

// Orphaned checks that the pods of a Deployment that somebody deletes without them, while a
// change rolls out, can start again with their text.
func Orphaned(k *kit) {
	k.needsNode()
	const name = "orphaned"
	composition := k.composition("static", kind, ours(map[string]any{"immutableConfigMaps": true}))
	k.apply(book(name, composedBy(composition), replicas(2), withRevision("revision-0")))
	k.settle(name)
	k.apply(book(name, composedBy(composition), replicas(2), withRevision("revision-1"), image("docker.io/peaceiris/mdbook:"+controlplane.BrokenImage)))
	k.eventually("a pod of the change", func() error { return equal("pods", 4, len(k.podsOf(name))) })

	before := k.viewer(name).UID
	k.kubectl("delete", "deployment", "viewer-"+name, "--cascade=orphan")
	k.eventually("another Deployment", func() error {
		d, err := k.deployment(name)
		if err != nil {
			return err
		}
		if d.UID == before || d.Status.ObservedGeneration == 0 {
			return fmt.Errorf("not yet")
		}

		return nil
	})
	k.evict(name)
	k.until(name, "served by replacements of its pods", func(v *markdownView) error { return equal("ready pods", int32(2), v.Status.ReadyReplicas) })
	k.served(name, "revision-0")
}

// rejectConfigMaps makes the API server reject the ConfigMaps of MarkdownViews in the
// namespace of the test, until the returned function is called.
func (k *kit) rejectConfigMaps() func() {
	k.Helper()
	policy := k.parse(fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: %[1]s
spec:
  matchConstraints:
    namespaceSelector:
      matchLabels:
        kubernetes.io/metadata.name: %[1]s
    resourceRules:
      - apiGroups: [""]
        apiVersions: [v1]
        operations: [CREATE, UPDATE]
        resources: [configmaps]
  validations:
    - expression: "!object.metadata.name.startsWith('markdowns-')"
      message: rejected by the test
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: %[1]s
spec:
  policyName: %[1]s
  validationActions: [Deny]
`, k.namespace))
	for _, o := range policy {
		k.apply(o)
		k.afterwards(o)
	}
	rejected := func() error {
		_, err := k.run("kubectl", "--namespace="+k.namespace, "create", "configmap", "markdowns-probe", "--dry-run=server")
		return err
	}
	k.eventually("the policy", func() error {
		if rejected() == nil {
			return errors.New("ConfigMaps are not rejected yet")
		}

		return nil
	})

	return func() {
		k.Helper()
		for _, o := range policy {
			k.must(k.Delete(k.Context(), o))
		}
		k.eventually("the policy is deleted", rejected)
	}
}

// viewer returns the Deployment of a MarkdownView, which must exist.
func (k *kit) viewer(name string) *appsv1.Deployment {
	k.Helper()
	d, err := k.deployment(name)
	k.must(err)

	return d
}

// isReady returns whether a pod is ready and is not being deleted.
func isReady(pod corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil
		}
	}

	return false
}

// pageHas returns an error unless a page that a pod serves contains a text.
func (k *kit) pageHas(pod corev1.Pod, path, text string) error {
	url := "http://" + net.JoinHostPort(pod.Status.PodIP, fmt.Sprint(pod.Spec.Containers[0].Ports[0].ContainerPort)) + path
	page, err := httpGet(k.Context(), url)
	if err != nil {
		return err
	}
	if !strings.Contains(page, text) {
		return fmt.Errorf("page %s of pod %s, which is ready, does not contain %q", path, pod.Name, text)
	}

	return nil
}
