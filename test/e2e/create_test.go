package e2e

import (
	"crypto/rand"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Create checks that the sample of the tutorial is composed, owned by its MarkdownView, and
// shown by kubectl, and that the API server has the rules of the XRD. "make render" tests
// the fields of the composed resources, and test/admission every rule.
func Create(k *kit) {
	const name = "markdownview-sample"
	sample := k.manifests("xr.yaml")[0]
	sample.SetNamespace("")
	k.apply(sample)
	k.settle(name)

	owner := []metav1.OwnerReference{{
		APIVersion: "markdownview.fn.crossplane.io/v1alpha1", Kind: "MarkdownView", Name: name, UID: k.view(name).UID,
		Controller: new(true), BlockOwnerDeletion: new(true),
	}}
	c := k.children(name)
	for what, o := range c.all() {
		k.equal("owner references of "+what, owner, o.GetOwnerReferences())
	}
	k.equal("data of the ConfigMap", map[string]string{
		"SUMMARY.md": "# Summary\n\n- [Page1](page1.md)\n",
		"page1.md":   "# Page 1\n\n一ページ目のコンテンツです。\n",
	}, c.configMap.Data)

	shown := strings.Fields(k.kubectl("get", "markdownviews"))
	k.equal("columns", []string{"NAME", "REPLICAS", "STATUS"}, shown[:3])
	k.contains(strings.Join(shown, " "), name+" 1 Healthy ")
	k.contains(k.kubectl("get", "markdownviews", "--output=wide"), fmt.Sprintf("http://viewer-%s.%s.svc", name, k.namespace))

	err := k.tryApply(book("invalid", replicas(100)))
	if k.contains(fmt.Sprint(err), "spec.replicas: Invalid value: 100"); !apierrors.IsInvalid(err) {
		k.Errorf("the API server accepts 100 replicas: %v", err)
	}
}

// CreateStatus checks that the status reports how many pods are ready. A ResourceQuota
// limits the pods, so each state lasts until the test has checked it.
func CreateStatus(k *kit) {
	const name = "status"
	shows := func(pods int, want ...string) {
		const quota = `{apiVersion: v1, kind: ResourceQuota, metadata: {name: pods}, spec: {hard: {pods: "%d"}}}`
		k.apply(k.parse(fmt.Sprintf(quota, pods))...)
		k.apply(book(name, replicas(3)))
		k.eventually(fmt.Sprintf("%d of three pods", pods), func(k *kit) {
			k.nudge("replicasets", name)
			k.check(k.view(name).shows(want...))
		})
	}
	shows(0, "NotReady 0/0", "Available=False Creating", "Degraded=True ReplicaFailure", "Ready=False", "Synced=True")
	shows(1, "Available 1/1", "Available=True RollingOut", "Ready=False")
	shows(3, append(settled, "Healthy 3/3", "Available=True Available")...)
	const app = "app.kubernetes.io/"
	const selector = app + "created-by=function-markdownview," + app + "instance=status," + app + "name=mdbook"
	k.equal("selector", selector, k.view(name).Status.Selector)
}

// nudge annotates the objects of a MarkdownView, so that their controller reconciles
// them immediately: the ReplicaSet controller waits longer after each rejected pod, and
// the kubelet syncs a pod once a minute.
func (k *kit) nudge(resource, name string) {
	k.Helper()
	k.kubectl("annotate", resource, "--selector=app.kubernetes.io/instance="+name, "--overwrite", "nudge="+rand.Text())
}
