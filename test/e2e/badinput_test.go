package e2e

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// BadInput checks that an error that is found after admission does not change the
// composed resources, is reported in the conditions and in one event, and is cleared
// when it is fixed.
func BadInput(k *kit) {
	cases := map[string]struct{ input, reason, field string }{
		"input": {"viewerImages: docker.io/peaceiris/mdbook:v0.5.0", "InvalidInput", "input.viewerImages"},
		"spec":  {"allowedImages: [ghcr.io/peaceiris/mdbook]", "InvalidSpec", "spec.viewerImage"},
	}
	good := func(name string) option { return k.given(name, "allowedImages: [docker.io/peaceiris/mdbook]") }
	names, before := sorted(cases), map[string]children{}
	for _, name := range names {
		k.apply(book(name, good(name), image("docker.io/peaceiris/mdbook:v0.5.0")))
	}
	k.settle(names...)
	unchanged := func(when string) {
		k.Helper()
		for _, name := range names {
			k.equal(when+": children of "+name, before[name].specs(), k.children(name).specs())
		}
	}
	for _, name := range names {
		before[name] = k.children(name)
		k.given(name, cases[name].input)
	}
	for name, c := range cases {
		// The other conditions still describe the running pods.
		k.until(name, "Synced=False", "Synced: "+c.field, "Degraded=True "+c.reason, "Degraded: "+c.field,
			"Available=True", "Ready=True", "Healthy 1/1")
		k.warned(name, c.field)
	}
	unchanged("rejected")

	for _, name := range names {
		good(name)
	}
	k.settle(names...)
	unchanged("after the fix")
}

// warned waits until exactly one warning event contains a text. The event may have a count
// above 1.
func (k *kit) warned(name, text string) {
	k.Helper()
	k.eventually(name+": one warning", func(k *kit) {
		warnings := 0
		events := k.events(client.MatchingFields{"involvedObject.name": name, "type": corev1.EventTypeWarning})
		for _, e := range events {
			if strings.Contains(e.Message, text) {
				warnings++
			}
		}
		if warnings != 1 {
			k.Errorf("%d warnings contain %q, not one: %v", warnings, text, events)
		}
	})
}
