package e2e

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

// Served checks that a book is served at the cluster IP of its Service, by restricted
// pods, and logs how long that takes and how much memory mdBook uses. The largest book
// that the API accepts stays below the default memory limit.
func Served(k *kit) {
	k.needsNode()
	const small, large = "small", "large"
	begin := time.Now()
	k.apply(book(small))
	k.settle(small)
	k.Logf("a book of one page is healthy after %s", time.Since(begin).Round(100*time.Millisecond))
	text := strings.Repeat("This sentence is here to fill the page. ", 20) + "\n\n"
	k.apply(book(large, file("page.md", "# Page\n\n"+strings.Repeat(text, 900<<10/len(text)))))
	k.settle(large)

	k.served(small, "Page")
	k.served(large, "fill the page")
	k.Log(k.kubectl("get", "pods", "--output=custom-columns=POD:.metadata.name,CREATED:.metadata.creationTimestamp,READY:.status.conditions[?(@.type=='Ready')].lastTransitionTime"))
	for _, e := range k.events(client.MatchingFields{"reason": "Pulled"}) {
		k.Logf("%s: %s", e.InvolvedObject.Name, e.Message)
	}
	for _, name := range []string{small, large} {
		k.memory(name, "mdbook", limits)
	}
}

// Terminating checks that a deleted pod serves the book during its grace period. Until
// that ends, a node that has not updated its endpoints may send it requests.
func Terminating(k *kit) {
	k.needsNode()
	const name = "terminating"
	k.apply(book(name))
	k.settle(name)
	pods := k.podsOf(name)
	k.equal("pods", 1, len(pods))
	pod := pods[0]
	grace := time.Duration(*pod.Spec.TerminationGracePeriodSeconds) * time.Second

	begin, served := time.Now(), time.Duration(0)
	k.must(k.Delete(k.Context(), &pod))
	k.eventually("the pod is deleted", func(k *kit) {
		ctx, cancel := context.WithTimeout(k.Context(), 5*time.Second)
		defer cancel()
		if _, err := controlplane.Get(ctx, "http://"+pod.Status.PodIP+":3000/page.html"); err == nil {
			served = time.Since(begin)
			k.Fatalf("it still serves the book after %s", served)
		}
		k.gone(&corev1.Pod{}, pod.Name)
	})
	// On a busy machine, the last request may be much earlier than the end.
	if served < grace/2 {
		k.Errorf("the pod has served the book for %s of its grace period of %s", served, grace)
	}
}

// served waits until the page of a book contains a text, at the cluster IP of its
// Service.
func (k *kit) served(name, text string) {
	k.Helper()
	k.servedAt(name, "/page.html", text)
}

// address returns the URL of a book at the cluster IP of its Service.
func (k *kit) address(name string) string {
	k.Helper()
	address, err := k.loopback.ServiceAddress(k.Context(), k.namespace, "viewer-"+name)
	k.must(err)

	return "http://" + address
}

// servedAt waits until a path of a book contains a text.
func (k *kit) servedAt(name, path, text string) {
	k.Helper()
	url := k.address(name) + path
	k.eventually("page of "+name, func(k *kit) {
		if page := k.page(url); !strings.Contains(page, text) {
			k.Errorf("the page does not contain %q:\n%s", text, page[:min(len(page), 2000)])
		}
	})
}

func limits(r corev1.ResourceRequirements) corev1.ResourceList   { return r.Limits }
func requests(r corev1.ResourceRequirements) corev1.ResourceList { return r.Requests }

// memory waits until the kubelet has measured the memory of the first container of a
// book, which must not exceed its limit or request.
func (k *kit) memory(name, container string, list func(corev1.ResourceRequirements) corev1.ResourceList) {
	k.Helper()
	line := regexp.MustCompile(fmt.Sprintf(`container_memory_working_set_bytes\{container=%q,namespace=%q,pod="viewer-%s-.*"\} (\S+)`, container, k.namespace, name))
	k.eventually("memory of "+name, func(k *kit) {
		m := line.FindStringSubmatch(k.kubectl("get", "--raw", "/api/v1/nodes/node-1/proxy/metrics/resource"))
		if m == nil {
			k.Fatal("the kubelet has not measured the memory yet")
		}
		used, err := strconv.ParseFloat(m[1], 64)
		k.must(err)
		resources := list(k.podsOf(name)[0].Spec.Containers[0].Resources)
		most := resources.Memory().AsApproximateFloat64()
		k.Logf("%s of %s: %.1f MiB of %.0f MiB", container, name, used/(1<<20), most/(1<<20))
		if used == 0 || used > most {
			k.Errorf("%s uses %.0f bytes of %.0f", container, used, most)
		}
	})
}

// Drain checks that a change completes if the node is drained during the rollout, and
// that the old text is still served if the change is broken.
func Drain(k *kit) {
	k.needsNode()
	extra := file("extra.md", "# Extra\n")
	all := changes()
	all["broken-image"] = change{spec: brokenImage}
	for name := range all {
		k.apply(book(name, replicas(2), extra))
	}
	k.settle(sorted(all)...)
	for name, change := range all {
		k.apply(book(name, replicas(2), extra, change.spec))
	}
	k.Cleanup(func() { k.kubectl("uncordon", "node-1") })
	k.kubectl("drain", "node-1", "--ignore-daemonsets", "--delete-emptydir-data",
		"--pod-selector=app.kubernetes.io/instance in ("+strings.Join(sorted(all), ",")+")")
	k.kubectl("uncordon", "node-1")

	delete(all, "broken-image")
	k.settle(sorted(all)...)
	for name, change := range all {
		k.equal(name, change.want, k.children(name).composed())
		k.served(name, map[bool]string{true: "Changed", false: "Page"}[name == "changed-text"])
	}
	k.until("broken-image", "2 ready") // They are old pods.
	k.served("broken-image", "Page")
	k.apply(book("broken-image", replicas(2), extra))
	k.settle("broken-image")
}

// FunctionPods checks that the function runs as in example/production/runtime.yaml: two
// pods in a namespace that enforces the restricted profile, without restarts, and a
// PodDisruptionBudget that allows the eviction of one of them.
func FunctionPods(k *kit) {
	k.needsNode()
	pods := &corev1.PodList{}
	inSystem := client.InNamespace("crossplane-system")
	k.must(k.List(k.Context(), pods, inSystem, client.MatchingLabels{"app.kubernetes.io/name": "function-markdownview"}))
	k.equal("pods", 2, len(pods.Items))
	for _, p := range pods.Items {
		k.equal("restarts of "+p.Name, int32(0), p.Status.ContainerStatuses[0].RestartCount)
		k.equal("memory limit of "+p.Name, "256Mi", p.Spec.Containers[0].Resources.Limits.Memory().String())
	}
	k.eventually("disruption budget", func(k *kit) {
		b := &policyv1.PodDisruptionBudget{}
		k.must(k.Get(k.Context(), client.ObjectKey{Namespace: "crossplane-system", Name: "function-markdownview"}, b))
		k.equal("expected pods, healthy pods, allowed disruptions", []int32{2, 2, 1},
			[]int32{b.Status.ExpectedPods, b.Status.CurrentHealthy, b.Status.DisruptionsAllowed})
	})
}

// failedReconciles returns the failed reconciles of the MarkdownViews in the namespace,
// as Crossplane reports them in events, without conflicts, and without those for which the
// active revision of the function had no endpoint yet: Crossplane stops the old revision
// before the new one is ready.
func (k *kit) failedReconciles() (failed []string) {
	expected := regexp.MustCompile("the object has been modified|does not have a valid function pipeline|cannot get gRPC client connection")
	for _, e := range k.events(client.MatchingFields{"reason": "ComposeResources", "type": corev1.EventTypeWarning}) {
		if !expected.MatchString(e.Message) {
			failed = append(failed, fmt.Sprintf("%s: %s (%d times)", e.InvolvedObject.Name, e.Message, e.Count))
		}
	}

	return failed
}
