package e2e

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

// soon is how long it takes at most, with Crossplane's default flags, until the status
// reports that pods are ready, and until a change is composed.
const soon = 30 * time.Second

// ManyChanges checks a MarkdownView that changes so often that Crossplane's circuit breaker
// opens. Its status reports the end of the last rollout, and later changes are composed,
// without anybody's help.
func ManyChanges(k *kit) {
	const name = "changes"
	k.edit(name, 20, 3*time.Second)
	k.settleSoon(name, "revision-20")
	k.until(name, "Responsive=False WatchCircuitOpen")

	// The breaker lets one event pass every 30 seconds.
	for i := range 3 {
		revision := fmt.Sprintf("later-%d", i)
		k.apply(book(name, replicas(5), withRevision(revision)))
		k.within(soon, "composed", func(k *kit) { k.composed(name, revision) })
		k.settleSoon(name, revision)
	}
}

// ManyChangesBroken checks the same if the last change is an image that cannot be pulled,
// and its repair.
func ManyChangesBroken(k *kit) {
	const name = "broken"
	composition := k.given("deadline", impatient)
	k.edit(name, 19, 3*time.Second, composition)
	k.apply(book(name, replicas(5), composition, withRevision("revision-20"), brokenImage))
	k.eventually("the rollout of the image is stuck", func(k *kit) {
		d := k.viewer(name)
		k.contains(d.Spec.Template.Spec.Containers[0].Image, controlplane.BrokenImage)
		k.contains(fmt.Sprint(d.Status.Conditions), "ProgressDeadlineExceeded")
	})
	k.untilOf(kind, name, soon,
		"current", "Available", "Ready=False", "Available=True RollingOut", "Degraded=True ProgressDeadlineExceeded")
	k.apply(book(name, replicas(5), composition, withRevision("revision-21")))
	k.settleSoon(name, "revision-21")
}

// SteadyChanges checks a MarkdownView that changes every 20 seconds. EDITS=180 is an hour.
func SteadyChanges(k *kit) {
	const name = "steady"
	edits := k.number("EDITS", 9)
	k.edit(name, edits, 20*time.Second)
	k.settleSoon(name, fmt.Sprintf("revision-%d", edits))
}

// ManyInputs checks that all books get the last Input of a Composition that changes often.
func ManyInputs(k *kit) {
	names := []string{"input-1", "input-2", "input-3", "input-4", "input-5"}
	inputs := []string{
		"{}",
		"labels: {change: '1'}",
		"resources: {requests: {memory: 80Mi}}",
		"server: {}",
		"{server: {}, immutableConfigMaps: true}",
		"{server: {}, labels: {change: '5'}}",
		"immutableConfigMaps: true",
		"{}",
		"{labels: {change: '8'}, immutableConfigMaps: true}",
	}
	composition := k.composition("inputs", kind, ours(inputs[0]))
	for _, name := range names {
		k.apply(book(name, composedBy(composition)))
	}
	k.settle(names...)
	for _, input := range inputs[1:] {
		k.given("inputs", input)
		k.pause(20 * time.Second)
	}
	newest := k.revisionOf(composition, int64(len(inputs))).GetName()
	for _, name := range names {
		k.within(soon, name+": composed from the newest revision", func(k *kit) {
			u := get(k, book(""), name)
			used, _, _ := unstructured.NestedString(u.Object, "spec", "crossplane", "compositionRevisionRef", "name")
			k.equal("revision", newest, used)
			k.equal("label", "8", k.viewer(name).Labels["change"])
		})
	}
	for _, name := range names {
		k.eventually(name+": rolled out", func(k *kit) { k.check(rolledOut(k.viewer(name))) })
	}
	begin := time.Now()
	k.settle(names...)
	if took := time.Since(begin); took > soon {
		k.Errorf("Ready %s after the pods", took.Round(time.Second))
	}
}

// edit creates a MarkdownView with five replicas and changes its text n times.
func (k *kit) edit(name string, n int, every time.Duration, spec ...option) {
	k.Helper()
	apply := func(i int) {
		k.apply(book(name, slices.Concat(spec, []option{replicas(5), withRevision(fmt.Sprintf("revision-%d", i))})...))
	}
	apply(0)
	k.settle(name)
	for i := range n {
		apply(i + 1)
		k.pause(every)
	}
}

// settleSoon waits until every pod of a MarkdownView serves a text, and reports an error
// unless the MarkdownView is healthy soon afterwards.
func (k *kit) settleSoon(name, revision string) {
	k.Helper()
	k.eventually(name+": every pod serves "+revision, func(k *kit) { k.serve(name, revision) })
	begin := time.Now()
	k.untilOf(kind, name, soon, settled...)
	k.Logf("%s: healthy %s after its pods serve %s", name, time.Since(begin).Round(100*time.Millisecond), revision)
}

// serve reports an error unless the rollout of a text is complete and, on a real node, each
// pod serves the text.
func (k *kit) serve(name, revision string) {
	k.composed(name, revision)
	k.must(rolledOut(k.viewer(name)))
	if !k.onNode() {
		return
	}
	for _, pod := range k.podsOf(name) {
		if pod.DeletionTimestamp == nil {
			k.contains(k.page("http://"+pod.Status.PodIP+":3000/page.html"), revision)
		}
	}
}

// composed reports an error unless the ConfigMap of a MarkdownView has a text.
func (k *kit) composed(name, revision string) {
	k.contains(get(k, &corev1.ConfigMap{}, "markdowns-"+name).Data["page.md"], revision)
}

// rolledOut returns an error unless all pods of a Deployment run its current spec and are
// available.
func rolledOut(d *appsv1.Deployment) error {
	n, s := *d.Spec.Replicas, d.Status
	if s.ObservedGeneration != d.Generation || s.Replicas != n || s.UpdatedReplicas != n || s.AvailableReplicas != n {
		return fmt.Errorf("generation %d with %d replicas is not rolled out: %v", d.Generation, n, s)
	}

	return nil
}
