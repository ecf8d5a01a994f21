package e2e

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

// annotationRevision is set on the pods.
const annotationRevision = "markdownview.fn.crossplane.io/revision"

// guided is the SUMMARY.md of a book with a page of the ConfigMap guide.
var guided = file("SUMMARY.md", "- [Page](page.md)\n- [Guide](guide/a.md)\n")

// Fresh checks that no pod of a new revision becomes ready with the old text while
// Kubernetes rejects the ConfigMap with the new one, and that every pod serves the new
// text once the MarkdownView is ready. The books are served by mdBook, and by a web
// server from the spec and from another ConfigMap.
func Fresh(k *kit) {
	k.needsNode()
	server := k.given("static", "server: {}")
	pages := map[string]string{"reloaded": "/page.html", "static": "/page.html", "shared": "/guide/a.html"}
	names := sorted(pages)
	apply := func(revision string) {
		k.Helper()
		k.write("guide", map[string]string{"a.md": revision})
		k.apply(book("reloaded", replicas(2), withRevision(revision)),
			book("static", server, replicas(2), withRevision(revision)),
			book("shared", server, replicas(2), from(fromConfigMap("guide")), guided))
	}
	apply("revision-0")
	k.settle(names...)
	revisionOf := func(name string) string { return k.viewer(name).Spec.Template.Annotations[annotationRevision] }
	first := map[string]string{}
	isNew := func(name string) func(corev1.Pod) bool {
		return func(p corev1.Pod) bool { return p.Annotations[annotationRevision] != first[name] }
	}
	for _, name := range names {
		first[name] = revisionOf(name)
	}

	admit := k.rejectConfigMaps()
	apply("revision-1")
	for _, name := range names {
		k.until(name, "Degraded=True ApplyFailed", "Ready=False", "2 ready")
	}
	for _, name := range []string{"static", "shared"} {
		k.eventually("a pod of the new revision of "+name, func(k *kit) {
			if !slices.ContainsFunc(k.podsOf(name), isNew(name)) {
				k.Error("there is none")
			}
		})
	}
	stale := map[string]error{}
	for range 20 {
		for _, name := range names {
			for _, pod := range k.podsOf(name) {
				if isReady(pod) && isNew(name)(pod) {
					stale[name] = fmt.Errorf("pod %s of the new revision is ready: %w", pod.Name, k.pageHas(pod, pages[name], "revision-1"))
				}
			}
		}
		time.Sleep(500 * time.Millisecond)
	}
	for _, err := range stale {
		k.check(err)
	}
	k.equal("revision of the pods that mdBook serves", first["reloaded"], revisionOf("reloaded"))

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
	immutable := k.given("static", "immutableConfigMaps: true")
	k.apply(book(name, immutable, replicas(2), withRevision("revision-0")))
	k.settle(name)
	k.apply(book(name, immutable, replicas(2), withRevision("revision-1"), brokenImage))
	k.hasPods(name, 4)

	before := k.viewer(name).UID
	k.kubectl("delete", "deployment", "viewer-"+name, "--cascade=orphan")
	k.eventually("another Deployment", func(k *kit) {
		if d := k.viewer(name); d.UID == before || d.Status.ObservedGeneration == 0 {
			k.Error("not yet")
		}
	})
	k.evict(name)
	k.until(name, "2 ready") // Replacements of its pods.
	k.served(name, "revision-0")
}

// rejectConfigMaps makes the API server reject the ConfigMaps of MarkdownViews in the
// namespace of the test, until the returned function is called.
func (k *kit) rejectConfigMaps() func() {
	policy := k.parse(strings.ReplaceAll(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: NAMESPACE}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAMESPACE}}
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}
  validations:
  - {expression: "!object.metadata.name.startsWith('markdowns-')", message: rejected by the test}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: NAMESPACE}
spec: {policyName: NAMESPACE, validationActions: [Deny]}
`, "NAMESPACE", k.namespace))
	k.apply(policy...)
	tryCreate := func() error {
		_, err := k.run("kubectl", "--namespace="+k.namespace, "create", "configmap", "markdowns-probe", "--dry-run=server")
		return err
	}
	k.eventually("the policy", func(k *kit) {
		if tryCreate() == nil {
			k.Error("ConfigMaps are not rejected yet")
		}
	})

	return func() {
		for _, o := range policy {
			k.must(k.Delete(k.Context(), o))
		}
		k.eventually("the policy is deleted", func(k *kit) { k.check(tryCreate()) })
	}
}

// isReady returns whether a pod is ready and is not being deleted.
func isReady(pod corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// pageHas returns an error unless a page that a pod serves contains a text.
func (k *kit) pageHas(pod corev1.Pod, path, text string) error {
	url := "http://" + net.JoinHostPort(pod.Status.PodIP, fmt.Sprint(pod.Spec.Containers[0].Ports[0].ContainerPort)) + path
	page, err := controlplane.Get(k.Context(), url)
	if err == nil && !strings.Contains(page, text) {
		return fmt.Errorf("page %s of pod %s, which is ready, does not contain %q", path, pod.Name, text)
	}

	return err
}
