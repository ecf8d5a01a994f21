package e2e

import (
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

// StuckRollout shows that a rollout that cannot end is named, that the old
// viewers serve on, and that going back recovers.
func StuckRollout(k *kit) {
	const name = "stuck"
	composition := k.composition("impatient", kind, ours(map[string]any{
		"templates": map[string]any{"deployment": map[string]any{"spec": map[string]any{"progressDeadlineSeconds": int64(5)}}},
	}))
	good := []func(map[string]any){composedBy(composition), replicas(2)}
	k.apply(book(name, good...))
	k.settle(name)
	old := k.readyPods(name)
	if len(old) != 2 {
		k.Fatalf("%d viewers are ready, not 2", len(old))
	}

	k.apply(book(name, append(good, image("localhost/"+controlplane.BrokenImage+":v1"))...))
	k.until(name, "stuck", func(v *markdownView) error {
		return errors.Join(v.is("Degraded", metav1.ConditionTrue, "ProgressDeadlineExceeded"),
			v.is("Available", metav1.ConditionTrue, "RollingOut"), v.is("Ready", metav1.ConditionFalse, ""),
			equal("status", available, v.Status.Status), contains(v.condition("Degraded").Message, "viewer-stuck"))
	})
	k.check(equal("viewers that serve", old, k.readyPods(name)))
	k.eventually("there is an event", func() error {
		for _, e := range k.events(name) {
			if e.Reason == "ProgressDeadlineExceeded" && e.Type == corev1.EventTypeWarning {
				return nil
			}
		}

		return fmt.Errorf("no event has the reason")
	})

	k.pause(10 * time.Second) // For Crossplane's circuit breaker.
	k.apply(book(name, good...))
	k.settle(name)
	k.check(equal("viewers that serve", old, k.readyPods(name)))
}

// PausedRollout shows that somebody who has paused the Deployment is told that a
// change waits for them, and that the command in the message is the one that helps.
func PausedRollout(k *kit) {
	const name = "paused"
	k.apply(book(name))
	k.settle(name)
	k.kubectl("rollout", "pause", "deployment", "viewer-"+name)
	k.apply(book(name, file("page.md", "# Changed\n")))
	v := k.until(name, "paused", func(v *markdownView) error {
		return errors.Join(v.is("Degraded", metav1.ConditionTrue, "Paused"),
			v.is("Available", metav1.ConditionTrue, "RollingOut"), v.is("Ready", metav1.ConditionFalse, ""))
	})
	_, command, ok := strings.Cut(v.condition("Degraded").Message, "kubectl ")
	if !ok {
		k.Fatalf("the message has no command: %s", v.condition("Degraded").Message)
	}
	k.kubectl(strings.Fields(command)...)
	k.settle(name)
}

// readyPods are the UIDs of the pods of a MarkdownView that are ready, by name.
func (k *kit) readyPods(name string) map[string]string {
	k.Helper()
	l := &corev1.PodList{}
	k.must(k.List(k.Context(), l, client.InNamespace(k.namespace), client.MatchingLabels{"app.kubernetes.io/instance": name}))
	ready := map[string]string{}
	for _, p := range l.Items {
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
				ready[p.Name] = string(p.UID)
			}
		}
	}

	return ready
}
