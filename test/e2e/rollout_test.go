package e2e

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

// StuckRollout checks that a rollout that cannot complete is reported, that the old
// pods keep serving, and that reverting the change recovers.
func StuckRollout(k *kit) {
	const name = "stuck"
	composition := k.composition("deadline", kind, ours(map[string]any{
		"templates": map[string]any{"deployment": map[string]any{"spec": map[string]any{"progressDeadlineSeconds": int64(5)}}},
	}))
	good := []func(map[string]any){composedBy(composition), replicas(2)}
	k.apply(book(name, good...))
	k.settle(name)
	old := k.readyPods(name)
	if len(old) != 2 {
		k.Fatalf("%d pods are ready, not 2", len(old))
	}

	k.apply(book(name, append(good, image("docker.io/peaceiris/mdbook:"+controlplane.BrokenImage))...))
	k.until(name, "stuck", func(v *markdownView) error {
		return errors.Join(v.is("Degraded", metav1.ConditionTrue, "ProgressDeadlineExceeded"),
			v.is("Available", metav1.ConditionTrue, "RollingOut"), v.is("Ready", metav1.ConditionFalse, ""),
			equal("status", available, v.Status.Status), contains(v.condition("Degraded").Message, "viewer-stuck"))
	})
	k.check(equal("ready pods", old, k.readyPods(name)))
	k.eventually("event", func() error {
		for _, e := range k.events(name) {
			if e.Reason == "ProgressDeadlineExceeded" && e.Type == corev1.EventTypeWarning {
				return nil
			}
		}

		return fmt.Errorf("no warning has the reason ProgressDeadlineExceeded")
	})

	k.apply(book(name, good...))
	k.settle(name)
	k.check(equal("ready pods", old, k.readyPods(name)))
}

// PausedRollout checks that a change of a paused Deployment is reported, and that the
// command in the message resumes the rollout.
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

// readyPods returns the UIDs of the ready pods of a MarkdownView, by name.
func (k *kit) readyPods(name string) map[string]string {
	k.Helper()
	ready := map[string]string{}
	for _, p := range k.podsOf(name) {
		if isReady(p) {
			ready[p.Name] = string(p.UID)
		}
	}

	return ready
}
