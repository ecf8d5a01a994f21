package e2e

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BadInput checks that an error that is found after admission does not change the
// composed resources, is reported in the conditions and in one event, and is cleared
// when it is fixed.
func BadInput(k *kit) {
	cases := map[string]struct {
		input  map[string]any
		image  string
		reason string
		names  string
	}{
		"unknown-field": {
			input:  map[string]any{"viewerImages": "docker.io/peaceiris/mdbook:v0.5.0"},
			reason: "InvalidInput",
			names:  "input.viewerImages",
		},
		"selector": {
			input: map[string]any{"templates": map[string]any{"deployment": map[string]any{
				"spec": map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"app.kubernetes.io/name": "other"}}},
			}}},
			reason: "InvalidInput",
			names:  "input.templates.deployment.spec.selector",
		},
		"image": {
			input:  map[string]any{"allowedImages": []any{"ghcr.io/peaceiris/mdbook"}},
			image:  "docker.io/peaceiris/mdbook:v0.5.0",
			reason: "InvalidSpec",
			names:  "spec.viewerImage",
		},
	}
	good := func(name string) string {
		return k.composition(name, kind, ours(map[string]any{"allowedImages": []any{"docker.io/peaceiris/mdbook"}}))
	}
	names, before := sorted(cases), map[string]children{}
	for _, name := range names {
		spec := []func(map[string]any){composedBy(good(name))}
		if c := cases[name]; c.image != "" {
			spec = append(spec, image(c.image))
		}
		k.apply(book(name, spec...))
	}
	k.settle(names...)
	for _, name := range names {
		before[name] = k.children(name)
		k.composition(name, kind, ours(cases[name].input))
	}
	unchanged := func(when string) {
		k.Helper()
		for _, name := range names {
			k.check(equal(when+": children of "+name, before[name].specs(), k.children(name).specs()))
		}
	}
	for name, c := range cases {
		k.until(name, "rejected", func(v *markdownView) error {
			return errors.Join(v.is("Synced", metav1.ConditionFalse, ""), v.is("Degraded", metav1.ConditionTrue, c.reason),
				contains(v.condition("Synced").Message, c.names), contains(v.condition("Degraded").Message, c.names),
				// The other conditions still describe the running pods.
				v.is("Available", metav1.ConditionTrue, ""), v.is("Ready", metav1.ConditionTrue, ""), v.counts(healthy, 1, 1))
		})
		k.eventually(name+": one warning", func() error { return k.warned(name, c.names) })
	}
	unchanged("rejected")

	for _, name := range names {
		good(name)
	}
	k.settle(names...)
	unchanged("after the fix")
}

// warned returns an error unless exactly one warning event contains a text. The event
// may have a count above 1.
func (k *kit) warned(name, text string) error {
	k.Helper()
	var warnings []string
	for _, e := range k.events(name) {
		if e.Type == corev1.EventTypeWarning && strings.Contains(e.Message, text) {
			warnings = append(warnings, fmt.Sprintf("%s: %s", e.Reason, e.Message))
		}
	}
	if len(warnings) != 1 {
		return fmt.Errorf("%d warnings contain %q, not one: %q", len(warnings), text, warnings)
	}

	return nil
}
