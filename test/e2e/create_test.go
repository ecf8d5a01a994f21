package e2e

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Create checks that the sample of the tutorial is composed, owned by its MarkdownView, and
// shown by kubectl, and that the API server has the rules of the XRD. "make render" tests
// the fields of the composed resources, and test/admission every rule.
func Create(k *kit) {
	const name = "markdownview-sample"
	sample := k.parse(k.read("../../example/xr.yaml"))[0]
	sample.SetNamespace("")
	k.apply(sample)
	k.settle(name)

	v, err := k.view(name)
	k.must(err)
	c := k.children(name)
	owner := []metav1.OwnerReference{{
		APIVersion: "markdownview.fn.crossplane.io/v1alpha1", Kind: "MarkdownView", Name: name, UID: v.UID,
		Controller: new(true), BlockOwnerDeletion: new(true),
	}}
	for what, o := range c.all() {
		k.check(equal("owner references of "+what, owner, o.GetOwnerReferences()))
	}
	k.check(equal("data of the ConfigMap", map[string]string{
		"SUMMARY.md": "# Summary\n\n- [Page1](page1.md)\n",
		"page1.md":   "# Page 1\n\n一ページ目のコンテンツです。\n",
	}, c.configMap.Data))

	lines := strings.Split(strings.TrimSpace(k.kubectl("get", "markdownview", name)), "\n")
	k.check(equal("lines that kubectl get prints", 2, len(lines)))
	k.check(equal("columns", []string{"NAME", "REPLICAS", "STATUS"}, strings.Fields(lines[0])[:3]))
	k.check(equal("cells", []string{name, "1", "Healthy"}, strings.Fields(lines[len(lines)-1])[:3]))
	k.check(contains(k.kubectl("get", "markdownview", name, "--output=wide"), fmt.Sprintf("http://viewer-%s.%s.svc", name, k.namespace)))

	if err := k.tryApply(book("invalid", replicas(100))); !apierrors.IsInvalid(err) || contains(err.Error(), "spec.replicas: Invalid value: 100") != nil {
		k.Errorf("the API server accepts 100 replicas: %v", err)
	}
}

// CreateStatus checks that the status reports how many pods are ready. A ResourceQuota
// limits the pods, so each state lasts until the test has checked it.
func CreateStatus(k *kit) {
	const name = "status"
	k.quota("pods", 0)
	k.apply(book(name, replicas(3)))
	k.until(name, "no pod", func(v *markdownView) error {
		return errors.Join(
			v.counts(notReady, 0, 0),
			v.is("Available", metav1.ConditionFalse, "Creating"),
			v.is("Degraded", metav1.ConditionTrue, "ReplicaFailure"),
			v.is("Ready", metav1.ConditionFalse, ""),
			v.is("Synced", metav1.ConditionTrue, ""))
	})

	k.quota("pods", 1)
	k.until(name, "one of three pods", func(v *markdownView) error {
		k.nudge("replicasets", name)
		return errors.Join(
			v.counts(available, 1, 1),
			v.is("Available", metav1.ConditionTrue, "RollingOut"),
			v.is("Ready", metav1.ConditionFalse, ""))
	})

	k.quota("pods", 3)
	v := k.until(name, "all pods", func(v *markdownView) error {
		k.nudge("replicasets", name)
		return errors.Join(
			v.settled(),
			v.counts(healthy, 3, 3),
			v.is("Available", metav1.ConditionTrue, "Available"))
	})
	if want := "app.kubernetes.io/created-by=function-markdownview,app.kubernetes.io/instance=status,app.kubernetes.io/name=mdbook"; v.Status.Selector != want {
		k.Errorf("the selector is %q, not %q", v.Status.Selector, want)
	}
}

// quota limits the namespace to n pods with a ResourceQuota of this name.
func (k *kit) quota(name string, n int64) {
	k.Helper()
	q := &corev1.ResourceQuota{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ResourceQuota"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(n, resource.DecimalSI)}},
	}
	k.apply(k.unstructured(q))
}

// nudge annotates the objects of a MarkdownView, so that their controller reconciles
// them immediately: the ReplicaSet controller waits longer after each rejected pod, and
// the kubelet syncs a pod once a minute.
func (k *kit) nudge(resource, name string) {
	k.Helper()
	_, err := k.run("kubectl", "--namespace="+k.namespace, "annotate", resource, "--overwrite",
		"--selector=app.kubernetes.io/instance="+name, "example.org/nudge="+rand.Text())
	k.must(err)
}
