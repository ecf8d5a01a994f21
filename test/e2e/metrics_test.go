package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

// Metrics checks that the configuration for kube-state-metrics in example/production
// exports the availability of each MarkdownView until it is deleted, and that the
// ClusterRole in the same file is sufficient.
func Metrics(k *kit) {
	url := k.kubeStateMetrics()
	k.apply(book("measured"), book("broken", brokenImage))
	k.settle("measured")
	const labels = `customresource_group="markdownview.fn.crossplane.io",customresource_kind="MarkdownView",` +
		`customresource_version="v1alpha1"`
	line := func(metric, name, rest string) string {
		return fmt.Sprintf("markdownview_%s{%s,name=%q,namespace=%q%s\n", metric, labels, name, k.namespace, rest)
	}
	k.eventually("metrics of both", func(k *kit) {
		page := k.page(url)
		for _, l := range []string{
			line("condition", "measured", `,type="Available"} 1`),
			line("condition", "broken", `,type="Available"} 0`),
			line("condition_reason", "measured", `,reason="AsExpected",type="Degraded"} 1`),
			line("status", "measured", `,status="Healthy"} 1`),
			line("status", "broken", `,status="NotReady"} 1`),
			line("replicas", "measured", "} 1"),
			line("ready_replicas", "broken", "} 0"),
		} {
			if !strings.Contains(page, l) {
				k.Errorf("the metrics do not contain %s", l)
			}
		}
	})

	k.delete("measured")
	k.within(2*k.patience, "metrics of the remaining MarkdownView", func(k *kit) {
		page := k.page(url)
		if strings.Contains(page, `name="measured",namespace="`+k.namespace+`"`) {
			k.Error("the deleted MarkdownView still has metrics")
		}
		if !strings.Contains(page, line("condition", "broken", `,type="Available"} 0`)) {
			k.Error("the other MarkdownView has no metrics")
		}
	})
}

// kubeStateMetrics runs kube-state-metrics with the configuration in example/production, as
// a service account with the ClusterRole in the same file, and returns the URL of its
// metrics.
func (k *kit) kubeStateMetrics() string {
	k.Helper()
	objects := k.manifests("production/kube-state-metrics.yaml")
	config, _, _ := unstructured.NestedString(objects[0].Object, "data", "config.yaml")
	role := objects[1]
	role.SetName(k.namespace)
	k.apply(role)
	k.kubectl("create", "clusterrolebinding", k.namespace,
		"--clusterrole="+k.namespace, "--serviceaccount="+k.namespace+":default")
	k.Cleanup(func() { k.kubectl("delete", "clusterrolebinding", k.namespace) })

	dir := k.TempDir()
	kubeconfig, err := clientcmd.LoadFromFile(k.kubeconfig)
	k.must(err)
	for _, user := range kubeconfig.AuthInfos {
		user.Impersonate = "system:serviceaccount:" + k.namespace + ":default"
	}
	k.must(clientcmd.WriteToFile(*kubeconfig, filepath.Join(dir, "kubeconfig")))
	k.must(os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o644))
	port, telemetry := k.freePort(), k.freePort()
	k.start("kube-state-metrics",
		"--kubeconfig="+filepath.Join(dir, "kubeconfig"),
		"--custom-resource-state-only",
		"--custom-resource-state-config-file="+filepath.Join(dir, "config.yaml"),
		"--host=127.0.0.1", "--port="+port,
		"--telemetry-host=127.0.0.1", "--telemetry-port="+telemetry)

	return "http://127.0.0.1:" + port + "/metrics"
}

// freePort returns a free port of loopback.
func (k *kit) freePort() string {
	k.Helper()
	port, err := controlplane.FreePort()
	k.must(err)

	return fmt.Sprint(port)
}

// start runs a program of .bin until the test ends. cert-manager reads POD_NAMESPACE.
func (k *kit) start(program string, args ...string) {
	k.Helper()
	name := filepath.Base(program)
	env := []string{"KUBECONFIG=" + k.kubeconfig, "POD_NAMESPACE=gateways", filepath.Join(k.Bin, program)}
	k.must(controlplane.Run(k.Context(), "/usr/bin/env", filepath.Join(k.logs, name+".log"), append(env, args...)...))
}

// page returns the page at a URL.
func (k *kit) page(url string) string {
	k.Helper()
	text, err := controlplane.Get(k.Context(), url)
	k.must(err)

	return text
}
