package e2e

import (
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
)

// Scale checks that kubectl scale and a HorizontalPodAutoscaler can scale a
// MarkdownView.
func Scale(k *kit) {
	if olderThan("v2.3") {
		k.Skip("Crossplane v2.2 removes the subresource scale from XRDs")
	}
	const name, few, many = "scale", "few", "many"
	k.apply(book(name), book(few), book(many, replicas(5)))
	k.settle(name, few, many)

	k.kubectl("scale", "markdownview", name, "--replicas=3")
	k.until(name, append(settled, "Healthy 3/3")...)

	// An autoscaler needs no metrics to scale to its minimum or maximum.
	for _, name := range []string{few, many} {
		k.kubectl("autoscale", "markdownview", name, "--name="+name, "--min=2", "--max=4", "--cpu=50%")
	}
	k.until(few, append(settled, "Healthy 2/2")...)
	k.until(many, append(settled, "Healthy 4/4")...)
	k.eventually("the autoscaler reports the pods", func(k *kit) {
		k.equal("pods", int32(2), get(k, &autoscalingv2.HorizontalPodAutoscaler{}, few).Status.CurrentReplicas)
	})
}

// Tools checks that kubectl wait, rollout status, describe and crossplane resource
// trace report the state of a MarkdownView.
func Tools(k *kit) {
	const name = "tools"
	wait := func(until string) {
		k.kubectl("wait", "markdownview", name, "--for="+until, fmt.Sprintf("--timeout=%s", k.patience))
	}
	k.apply(book(name))
	for _, until := range []string{"condition=Ready", "jsonpath={.status.status}=Healthy", "condition=Available"} {
		wait(until)
	}
	k.kubectl("rollout", "status", "deployment", "viewer-"+name, "--timeout=10s")

	const branch = "├└─ "
	want := []string{
		"NAME SYNCED READY STATUS",
		"MarkdownView/tools (NS) True True Available",
		"├─ ConfigMap/markdowns-tools (NS) - -",
		"├─ Deployment/viewer-tools (NS) - -",
		"└─ Service/viewer-tools (NS) - -",
	}
	// The order of the branches is random.
	sameBranches := cmpopts.SortSlices(func(a, b string) bool { return strings.TrimLeft(a, branch) < strings.TrimLeft(b, branch) })
	sameLines := cmp.Comparer(func(a, b string) bool { return strings.TrimLeft(a, branch) == strings.TrimLeft(b, branch) })
	k.eventually("crossplane resource trace", func(k *kit) {
		trace, err := k.run("crossplane", "resource", "trace", "--namespace="+k.namespace, "markdownview", name)
		k.must(err)
		var got []string
		for line := range strings.Lines(trace) {
			got = append(got, strings.Join(strings.Fields(strings.ReplaceAll(line, k.namespace, "NS")), " "))
		}
		if diff := cmp.Diff(want, got, sameBranches, sameLines); diff != "" {
			k.Errorf("-want +got:\n%s", diff)
		}
	})

	k.apply(book(name, brokenImage))
	// Crossplane updates Ready later than the conditions of the function, and may
	// update it twice.
	wait("condition=Ready=False")
	k.eventually("kubectl wait waits for a MarkdownView with a broken image", func(k *kit) {
		if _, err := k.run("kubectl", "--namespace="+k.namespace, "wait", "markdownview", name, "--for=condition=Ready", "--timeout=2s"); err == nil {
			k.Error("it is reported as ready")
		}
	})
	k.eventually("kubectl describe reports that the book is served and a change rolls out", func(k *kit) {
		status, events, _ := strings.Cut(k.kubectl("describe", "markdownview", name), "\nEvents:")
		k.contains(events, "The book is served")
		k.contains(status, "The book is served while a change rolls out")
	})
}
