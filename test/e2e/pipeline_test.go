package e2e

import (
	"errors"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Pipeline checks that the function keeps the resources, context and readiness of other
// functions, whether they are called before or after it.
func Pipeline(k *kit) {
	const name = "pipeline"
	fixture := func(withheldReady bool) step {
		return step{function: k.fixture, input: map[string]any{
			"apiVersion": "e2e.example.org/v1", "kind": "Input",
			"context": map[string]any{"example.org/greeting": "hello"},
			"resources": map[string]any{
				"before":   map[string]any{"ready": true, "resource": configMap("before")},
				"withheld": map[string]any{"ready": withheldReady, "resource": configMap("withheld")},
			},
		}}
	}
	after := step{function: k.fixture, input: map[string]any{
		"apiVersion": "e2e.example.org/v1", "kind": "Input", "report": "report",
	}}
	autoReady := step{function: k.autoReady}

	composition := k.composition(name, kind, fixture(false), ours(nil), after, autoReady)
	k.apply(book(name, composedBy(composition)))
	k.until(name, "the resources of the function are healthy", func(v *markdownView) error {
		return errors.Join(v.counts(healthy, 1, 1), v.is("Available", metav1.ConditionTrue, "Available"), v.is("Ready", metav1.ConditionFalse, ""))
	})

	k.composition(name, kind, fixture(true), ours(nil), after, autoReady)
	k.settle(name)

	before, report := &corev1.ConfigMap{}, &corev1.ConfigMap{}
	k.must(k.get(before, "before"))
	if diff := cmp.Diff(map[string]string{"key": "value"}, before.Data); diff != "" {
		k.Errorf("data of the ConfigMap of another function: -want +got:\n%s", diff)
	}
	want := map[string]string{
		"context.example.org_greeting": "hello",
		"ready.before":                 "READY_TRUE",
		"ready.withheld":               "READY_TRUE",
		"ready.configmap":              "READY_TRUE",
		"ready.deployment":             "READY_TRUE",
		"ready.service":                "READY_TRUE",
	}
	k.eventually("request of the last function", func() error {
		if err := k.get(report, "report"); err != nil {
			return err
		}

		return equal("report", want, report.Data)
	})
}

func configMap(name string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": name},
		"data":     map[string]any{"key": "value"},
	}
}
