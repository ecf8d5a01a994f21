package e2e

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// StuckRollout checks that a rollout that cannot complete is reported, that the old
// pods keep serving, and that reverting the change recovers.
func StuckRollout(k *kit) {
	const name = "stuck"
	good := []option{k.given("deadline", impatient), replicas(2)}
	k.apply(book(name, good...))
	k.settle(name)
	old := k.readyPods(name)
	k.equal("ready pods", 2, len(old))

	k.apply(book(name, append(good, brokenImage)...))
	k.until(name, "Available", "Degraded=True ProgressDeadlineExceeded", "Degraded: viewer-stuck",
		"Available=True RollingOut", "Ready=False")
	k.equal("ready pods", old, k.readyPods(name))
	k.eventually("event", func(k *kit) {
		if len(k.events(client.MatchingFields{
			"involvedObject.name": name, "reason": "ProgressDeadlineExceeded", "type": corev1.EventTypeWarning,
		})) == 0 {
			k.Error("there is no warning")
		}
	})

	k.apply(book(name, good...))
	k.settle(name)
	k.equal("ready pods", old, k.readyPods(name))
}

// PausedRollout checks that a change of a paused Deployment is reported, and that the
// command in the message resumes the rollout.
func PausedRollout(k *kit) {
	const name = "paused"
	k.apply(book(name))
	k.settle(name)
	k.kubectl("rollout", "pause", "deployment", "viewer-"+name)
	k.apply(book(name, file("page.md", "# Changed\n")))
	v := k.until(name, "Degraded=True Paused", "Available=True RollingOut", "Ready=False")
	k.kubectl(v.command()...)
	k.settle(name)
}

// command returns the arguments of kubectl with which the message of Degraded begins.
func (v *markdownView) command() []string {
	command, _, _ := strings.Cut(v.condition("Degraded").Message, ": ")

	return strings.Fields(strings.TrimPrefix(command, "Run kubectl "))
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
