package e2e

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
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
	for _, e := range k.eventsOf("Pulled") {
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
	pods := &corev1.PodList{}
	k.must(k.List(k.Context(), pods, client.InNamespace(k.namespace)))
	k.check(equal("pods", 1, len(pods.Items)))
	pod := pods.Items[0]
	grace := time.Duration(*pod.Spec.TerminationGracePeriodSeconds) * time.Second

	begin, served := time.Now(), time.Duration(0)
	k.kubectl("delete", "pod", pod.Name, "--wait=false")
	k.eventually("the pod is deleted", func() error {
		ctx, cancel := context.WithTimeout(k.Context(), 5*time.Second)
		defer cancel()
		if _, err := httpGet(ctx, "http://"+pod.Status.PodIP+":3000/page.html"); err == nil {
			served = time.Since(begin)
			return fmt.Errorf("it still serves the book after %s", served)
		}

		return k.gone(&corev1.Pod{}, pod.Name)
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

// address returns the cluster IP and the port of the Service of a book.
func (k *kit) address(name string) string {
	k.Helper()
	address, err := k.loopback.ServiceAddress(k.Context(), k.namespace, "viewer-"+name)
	k.must(err)

	return address
}

// servedAt waits until a path of a book contains a text.
func (k *kit) servedAt(name, path, text string) {
	k.Helper()
	address := k.address(name)
	k.eventually("page of "+name, func() error {
		page, err := httpGet(k.Context(), "http://"+address+path)
		if err != nil {
			return err
		}
		if !strings.Contains(page, text) {
			return fmt.Errorf("the page does not contain %q:\n%s", text, page[:min(len(page), 2000)])
		}

		return nil
	})
}

func limits(r corev1.ResourceRequirements) corev1.ResourceList   { return r.Limits }
func requests(r corev1.ResourceRequirements) corev1.ResourceList { return r.Requests }

// memory waits until the kubelet has measured the memory of the first container of a
// book, which must not exceed its limit or request.
func (k *kit) memory(name, container string, list func(corev1.ResourceRequirements) corev1.ResourceList) {
	k.Helper()
	line := regexp.MustCompile(fmt.Sprintf(`container_memory_working_set_bytes\{container=%q,namespace=%q,pod="viewer-%s-.*"\} (\S+)`, container, k.namespace, name))
	k.eventually("memory of "+name, func() error {
		out, err := k.run("kubectl", "get", "--raw", "/api/v1/nodes/node-1/proxy/metrics/resource")
		if err != nil {
			return err
		}
		m := line.FindStringSubmatch(out)
		if m == nil {
			return errors.New("the kubelet has not measured the memory yet")
		}
		used, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return err
		}
		resources := list(k.podsOf(name)[0].Spec.Containers[0].Resources)
		most := resources.Memory().AsApproximateFloat64()
		k.Logf("%s of %s: %.1f MiB of %.0f MiB", container, name, used/(1<<20), most/(1<<20))
		if used == 0 || used > most {
			return fmt.Errorf("%s uses %.0f bytes of %.0f", container, used, most)
		}

		return nil
	})
}

// eventsOf returns the events in the namespace that have a reason.
func (k *kit) eventsOf(reason string) []corev1.Event {
	k.Helper()
	l := &corev1.EventList{}
	k.must(k.List(k.Context(), l, client.InNamespace(k.namespace)))

	return slices.DeleteFunc(l.Items, func(e corev1.Event) bool { return e.Reason != reason })
}

// Drain checks that a change completes if the node is drained during the rollout, and
// that the old text is still served if the change is broken.
func Drain(k *kit) {
	k.needsNode()
	extra := file("extra.md", "# Extra\n")
	all := changes()
	broken := change{spec: image("docker.io/peaceiris/mdbook:" + controlplane.BrokenImage)}
	names := append(sorted(all), "broken-image")
	for _, name := range names {
		k.apply(book(name, replicas(2), extra))
	}
	k.settle(names...)
	for _, name := range sorted(all) {
		k.apply(book(name, replicas(2), extra, all[name].spec))
	}
	k.apply(book("broken-image", replicas(2), extra, broken.spec))
	k.afterwardsRun("uncordon", "node-1")
	k.kubectl("drain", "node-1", "--ignore-daemonsets", "--delete-emptydir-data",
		"--pod-selector=app.kubernetes.io/instance in ("+strings.Join(names, ",")+")")
	k.kubectl("uncordon", "node-1")

	k.settle(sorted(all)...)
	for _, name := range sorted(all) {
		if err := all[name].check(k.children(name)); err != nil {
			k.Errorf("%s: %s", name, err)
		}
		k.served(name, map[bool]string{true: "Changed", false: "Page"}[name == "changed-text"])
	}
	k.until("broken-image", "still served by its old pods", func(v *markdownView) error {
		return equal("ready pods", int32(2), v.Status.ReadyReplicas)
	})
	k.served("broken-image", "Page")
	k.apply(book("broken-image", replicas(2), extra))
	k.settle("broken-image")
}

// afterwardsRun runs kubectl after the test.
func (k *kit) afterwardsRun(args ...string) {
	k.Cleanup(func() {
		if _, err := k.run("kubectl", args...); err != nil {
			k.Error(err)
		}
	})
}

// FunctionPods checks that the function runs as in example/production/runtime.yaml: two
// pods in a namespace that enforces the restricted profile, without restarts, and a
// PodDisruptionBudget that allows the eviction of one of them.
func FunctionPods(k *kit) {
	k.needsNode()
	pods := &corev1.PodList{}
	inSystem := client.InNamespace("crossplane-system")
	k.must(k.List(k.Context(), pods, inSystem, client.MatchingLabels{"app.kubernetes.io/name": "function-markdownview"}))
	k.check(equal("pods", 2, len(pods.Items)))
	for _, p := range pods.Items {
		k.check(equal("restarts of "+p.Name, int32(0), p.Status.ContainerStatuses[0].RestartCount))
		k.check(equal("memory limit of "+p.Name, "256Mi", p.Spec.Containers[0].Resources.Limits.Memory().String()))
	}
	k.eventually("disruption budget", func() error {
		b := &policyv1.PodDisruptionBudget{}
		if err := k.Get(k.Context(), client.ObjectKey{Namespace: "crossplane-system", Name: "function-markdownview"}, b); err != nil {
			return err
		}

		return equal("expected pods, healthy pods, allowed disruptions", []int32{2, 2, 1},
			[]int32{b.Status.ExpectedPods, b.Status.CurrentHealthy, b.Status.DisruptionsAllowed})
	})
}

// failedReconciles returns the failed reconciles of the MarkdownViews in the namespace,
// as Crossplane reports them in events, without conflicts. Reconciles that failed
// because the active revision of the function had no endpoint yet are only counted:
// Crossplane stops the old revision before the new one is ready.
func (k *kit) failedReconciles() (failed []string, withoutEndpoint int32) {
	k.Helper()

	for _, e := range k.eventsOf("ComposeResources") {
		switch {
		case e.Type != corev1.EventTypeWarning, strings.Contains(e.Message, "the object has been modified"):
		case strings.Contains(e.Message, "does not have a valid function pipeline"),
			strings.Contains(e.Message, "cannot get gRPC client connection"):
			withoutEndpoint += e.Count
		default:
			failed = append(failed, fmt.Sprintf("%s: %s (%d times)", e.InvolvedObject.Name, e.Message, e.Count))
		}
	}

	return failed, withoutEndpoint
}
