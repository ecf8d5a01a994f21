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
	good := func() map[string]any { return map[string]any{"allowedImages": []any{"docker.io/peaceiris/mdbook"}} }
	for name, c := range map[string]struct {
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
	} {
		composition := k.composition(name, kind, ours(good()))
		spec := []func(map[string]any){composedBy(composition)}
		if c.image != "" {
			spec = append(spec, image(c.image))
		}
		k.apply(book(name, spec...))
		k.settle(name)
		before := k.children(name)

		k.composition(name, kind, ours(c.input))
		k.until(name, "rejected", func(v *markdownView) error {
			return errors.Join(v.is("Synced", metav1.ConditionFalse, ""), v.is("Degraded", metav1.ConditionTrue, c.reason),
				contains(v.condition("Synced").Message, c.names), contains(v.condition("Degraded").Message, c.names),
				// The other conditions still describe the running pods.
				v.is("Available", metav1.ConditionTrue, ""), v.is("Ready", metav1.ConditionTrue, ""), v.counts(healthy, 1, 1))
		})
		k.eventually(name+": one warning", func() error { return k.warned(name, c.names) })
		if err := equal("children", before.specs(), k.children(name).specs()); err != nil {
			k.Errorf("%s: %s", name, err)
		}

		k.composition(name, kind, ours(good()))
		k.settle(name)
		if err := equal("children", before.specs(), k.children(name).specs()); err != nil {
			k.Errorf("%s: after the fix: %s", name, err)
		}
	}
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
