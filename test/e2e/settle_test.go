package e2e

import (
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	k.until(name, "the circuit breaker is open", func(v *markdownView) error {
		return v.is("Responsive", metav1.ConditionFalse, "WatchCircuitOpen")
	})

	// The breaker lets one event pass every 30 seconds.
	for i := range 3 {
		revision := fmt.Sprintf("later-%d", i)
		k.apply(book(name, replicas(5), withRevision(revision)))
		k.within(soon, "composed", func() error { return k.composed(name, revision) })
		k.settleSoon(name, revision)
	}
}

// ManyChangesBroken checks the same if the last change is an image that cannot be pulled,
// and its repair.
func ManyChangesBroken(k *kit) {
	const name = "broken"
	composition := composedBy(k.composition("deadline", kind, ours(map[string]any{
		"templates": map[string]any{"deployment": map[string]any{"spec": map[string]any{"progressDeadlineSeconds": int64(5)}}},
	})))
	k.edit(name, 19, 3*time.Second, composition)
	k.apply(book(name, replicas(5), composition, withRevision("revision-20"), image("docker.io/peaceiris/mdbook:"+controlplane.BrokenImage)))
	k.eventually("the image is composed", func() error {
		c, err := k.tryChildren(name)
		if err != nil {
			return err
		}

		return contains(c.deployment.Spec.Template.Spec.Containers[0].Image, controlplane.BrokenImage)
	})
	k.eventually("the rollout is stuck", func() error {
		return contains(fmt.Sprint(k.children(name).deployment.Status.Conditions), "ProgressDeadlineExceeded")
	})
	k.untilOf(kind, name, soon, "the status reports it", func(v *markdownView) error {
		return errors.Join(equal("observed generation", v.Generation, v.Status.ObservedGeneration), equal("status", available, v.Status.Status),
			v.is("Ready", metav1.ConditionFalse, ""), v.is("Available", metav1.ConditionTrue, "RollingOut"), v.is("Degraded", metav1.ConditionTrue, "ProgressDeadlineExceeded"))
	})
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
	inputs := []map[string]any{
		{},
		{"labels": map[string]any{"change": "1"}},
		{"resources": map[string]any{"requests": map[string]any{"memory": "80Mi"}}},
		{"server": map[string]any{}},
		{"server": map[string]any{}, "immutableConfigMaps": true},
		{"server": map[string]any{}, "labels": map[string]any{"change": "5"}},
		{"immutableConfigMaps": true},
		{},
		{"labels": map[string]any{"change": "8"}, "immutableConfigMaps": true},
	}
	const last = "8"

	composition := k.composition("inputs", kind, ours(inputs[0]))
	for _, name := range names {
		k.apply(book(name, composedBy(composition)))
	}
	k.settle(names...)
	for _, input := range inputs[1:] {
		k.composition("inputs", kind, ours(input))
		k.pause(20 * time.Second)
	}
	newest := k.revisionOf(composition, int64(len(inputs))).GetName()
	for _, name := range names {
		k.within(soon, name+": composed from the newest revision", func() error {
			c, err := k.deployment(name)
			if err != nil {
				return err
			}
			u := book(name)
			if err := k.get(u, name); err != nil {
				return err
			}
			used, _, _ := unstructured.NestedString(u.Object, "spec", "crossplane", "compositionRevisionRef", "name")

			return errors.Join(equal("revision", newest, used), equal("label", last, c.Labels["change"]))
		})
	}
	for _, name := range names {
		k.eventually(name+": rolled out", func() error {
			d, err := k.deployment(name)
			if err != nil {
				return err
			}

			return rolledOut(d)
		})
	}
	begin := time.Now()
	k.settle(names...)
	if took := time.Since(begin); took > soon {
		k.Errorf("Ready %s after the pods", took.Round(time.Second))
	}
}

// edit creates a MarkdownView with five replicas and changes its text n times.
func (k *kit) edit(name string, n int, every time.Duration, spec ...func(map[string]any)) {
	k.Helper()
	apply := func(i int) {
		k.apply(book(name, slices.Concat(spec, []func(map[string]any){replicas(5), withRevision(fmt.Sprintf("revision-%d", i))})...))
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
	k.eventually(name+": every pod serves "+revision, func() error { return k.serve(name, revision) })
	begin := time.Now()
	k.untilOf(kind, name, soon, "healthy soon after its pods", (*markdownView).settled)
	k.Logf("%s: healthy %s after its pods serve %s", name, time.Since(begin).Round(100*time.Millisecond), revision)
}

// serve returns an error unless the rollout of a text is complete and, on a real node, each
// pod serves the text.
func (k *kit) serve(name, revision string) error {
	d, err := k.deployment(name)
	if err != nil {
		return err
	}
	if err := errors.Join(k.composed(name, revision), rolledOut(d)); err != nil || k.loopback == nil || !k.RealNode() {
		return err
	}
	for _, pod := range k.podsOf(name) {
		if pod.DeletionTimestamp != nil {
			continue
		}
		page, err := httpGet(k.Context(), "http://"+pod.Status.PodIP+":3000/page.html")
		if err != nil {
			return err
		}
		if err := contains(page, revision); err != nil {
			return err
		}
	}

	return nil
}

// composed returns an error unless the ConfigMap of a MarkdownView has a text.
func (k *kit) composed(name, revision string) error {
	c := &corev1.ConfigMap{}
	if err := k.get(c, "markdowns-"+name); err != nil {
		return err
	}

	return contains(c.Data["page.md"], revision)
}

func (k *kit) deployment(name string) (*appsv1.Deployment, error) {
	d := &appsv1.Deployment{}

	return d, k.get(d, "viewer-"+name)
}

// rolledOut returns an error unless all pods of a Deployment run its current spec and are
// available.
func rolledOut(d *appsv1.Deployment) error {
	n, s := *d.Spec.Replicas, d.Status

	return errors.Join(equal("observed generation", d.Generation, s.ObservedGeneration),
		equal("pods, updated pods, available pods", []int32{n, n, n}, []int32{s.Replicas, s.UpdatedReplicas, s.AvailableReplicas}))
}
