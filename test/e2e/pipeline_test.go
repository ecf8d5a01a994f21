package e2e

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Pipeline checks that the function keeps the resources, context and readiness of other
// functions, whether they are called before or after it.
func Pipeline(k *kit) {
	const name = "pipeline"
	apply := func(withheldReady bool) string {
		const configMap = "resource: {apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {key: value}}"
		before := k.fixed(fmt.Sprintf(`
context: {example.org/greeting: hello}
resources:
  before: {ready: true, `+configMap+`}
  withheld: {ready: %t, `+configMap+`}`, "before", withheldReady, "withheld"))

		return k.composition(name, kind, before, ours(""), k.fixed("report: report"), step{function: k.autoReady})
	}

	k.apply(book(name, composedBy(apply(false))))
	k.until(name, "Healthy 1/1", "Available=True Available", "Ready=False")

	apply(true)
	k.settle(name)
	before := get(k, &corev1.ConfigMap{}, "before")
	k.equal("data of the ConfigMap of another function", map[string]string{"key": "value"}, before.Data)
	k.eventually("request of the last function", func(k *kit) {
		k.equal("report", map[string]string{
			"context.example.org_greeting": "hello",
			"ready.before":                 "READY_TRUE",
			"ready.withheld":               "READY_TRUE",
			"ready.configmap":              "READY_TRUE",
			"ready.deployment":             "READY_TRUE",
			"ready.service":                "READY_TRUE",
		}, get(k, &corev1.ConfigMap{}, "report").Data)
	})
}
