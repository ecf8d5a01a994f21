package e2e

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Create checks that the sample of the tutorial is composed into the objects that the
// tutorial describes.
func Create(k *kit) {
	const name = "markdownview-sample"
	sample := k.parse(k.read("../../example/xr.yaml"))[0]
	sample.SetNamespace("")
	k.apply(sample)
	k.settle(name)

	v, err := k.view(name)
	k.must(err)
	c := k.children(name)
	for what, o := range c.all() {
		yes := true
		want := []metav1.OwnerReference{{
			APIVersion: "markdownview.fn.crossplane.io/v1alpha1", Kind: "MarkdownView", Name: name, UID: v.UID,
			Controller: &yes, BlockOwnerDeletion: &yes,
		}}
		if diff := cmp.Diff(want, o.GetOwnerReferences()); diff != "" {
			k.Errorf("%s: owner references: -want +got:\n%s", what, diff)
		}
		for label, value := range map[string]string{
			"app.kubernetes.io/name":       "mdbook",
			"app.kubernetes.io/instance":   name,
			"app.kubernetes.io/created-by": "function-markdownview",
		} {
			if got := o.GetLabels()[label]; got != value {
				k.Errorf("%s: label %s is %q, not %q", what, label, got, value)
			}
		}
	}

	if diff := cmp.Diff(map[string]string{
		"SUMMARY.md": "# Summary\n\n- [Page1](page1.md)\n",
		"page1.md":   "# Page 1\n\n一ページ目のコンテンツです。\n",
	}, c.configMap.Data); diff != "" {
		k.Errorf("data of the ConfigMap: -want +got:\n%s", diff)
	}

	pod := c.deployment.Spec.Template.Spec
	if len(pod.Containers) != 1 {
		k.Fatalf("the pod has %d containers, not 1", len(pod.Containers))
	}
	mdbook := pod.Containers[0]
	if mdbook.Name != "mdbook" || mdbook.Image != "docker.io/peaceiris/mdbook:latest" {
		k.Errorf("the container is %q with image %q", mdbook.Name, mdbook.Image)
	}
	if got, want := strings.Join(append(mdbook.Command, mdbook.Args...), " "), "mdbook serve --hostname 0.0.0.0"; got != want {
		k.Errorf("the container runs %q, not %q", got, want)
	}
	if diff := cmp.Diff([]corev1.ContainerPort{{Name: "http", ContainerPort: 3000, Protocol: corev1.ProtocolTCP}}, mdbook.Ports); diff != "" {
		k.Errorf("ports of the container: -want +got:\n%s", diff)
	}
	if got := *c.deployment.Spec.Replicas; got != 1 {
		k.Errorf("the Deployment has %d replicas, not 1", got)
	}
	if diff := cmp.Diff([]corev1.ServicePort{{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromString("http")}}, c.service.Spec.Ports); diff != "" {
		k.Errorf("ports of the Service: -want +got:\n%s", diff)
	}
	if c.service.Spec.Type != corev1.ServiceTypeClusterIP {
		k.Errorf("the Service is of type %q", c.service.Spec.Type)
	}

	lines := strings.Split(strings.TrimSpace(k.kubectl("get", "markdownview", name)), "\n")
	if len(lines) != 2 {
		k.Fatalf("kubectl get prints %q", lines)
	}
	if got, want := strings.Fields(lines[0])[:3], []string{"NAME", "REPLICAS", "STATUS"}; !cmp.Equal(got, want) {
		k.Errorf("kubectl get prints the columns %v, not %v", got, want)
	}
	if got, want := strings.Fields(lines[1])[:3], []string{name, "1", "Healthy"}; !cmp.Equal(got, want) {
		k.Errorf("kubectl get prints %v, not %v", got, want)
	}
	if got, want := k.kubectl("get", "markdownview", name, "--output=wide"), fmt.Sprintf("http://viewer-%s.%s.svc", name, k.namespace); !strings.Contains(got, want) {
		k.Errorf("kubectl get -o wide does not print %q: %s", want, got)
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
