package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

// Metrics checks that the configuration for kube-state-metrics in example/production
// exports the availability of each MarkdownView until it is deleted, and that the
// ClusterRole in the same file is sufficient.
func Metrics(k *kit) {
	const name, broken = "measured", "broken"
	url := k.kubeStateMetrics()

	k.apply(book(name))
	k.apply(book(broken, image("docker.io/peaceiris/mdbook:"+controlplane.BrokenImage)))
	k.settle(name)
	has := func(lines ...string) func() error {
		return func() error {
			text, err := httpGet(k.Context(), url)
			if err != nil {
				return err
			}
			var errs []error
			for _, l := range lines {
				if l = strings.ReplaceAll(l, "NS", k.namespace); !strings.Contains(text, l+"\n") {
					errs = append(errs, fmt.Errorf("the metrics do not contain %s", l))
				}
			}

			return errors.Join(errs...)
		}
	}
	k.eventually("metrics of both", has(
		`markdownview_condition{customresource_group="markdownview.fn.crossplane.io",customresource_kind="MarkdownView",customresource_version="v1alpha1",name="measured",namespace="NS",type="Available"} 1`,
		`markdownview_condition{customresource_group="markdownview.fn.crossplane.io",customresource_kind="MarkdownView",customresource_version="v1alpha1",name="broken",namespace="NS",type="Available"} 0`,
		`markdownview_condition_reason{customresource_group="markdownview.fn.crossplane.io",customresource_kind="MarkdownView",customresource_version="v1alpha1",name="measured",namespace="NS",reason="AsExpected",type="Degraded"} 1`,
		`markdownview_status{customresource_group="markdownview.fn.crossplane.io",customresource_kind="MarkdownView",customresource_version="v1alpha1",name="measured",namespace="NS",status="Healthy"} 1`,
		`markdownview_status{customresource_group="markdownview.fn.crossplane.io",customresource_kind="MarkdownView",customresource_version="v1alpha1",name="broken",namespace="NS",status="NotReady"} 1`,
		`markdownview_replicas{customresource_group="markdownview.fn.crossplane.io",customresource_kind="MarkdownView",customresource_version="v1alpha1",name="measured",namespace="NS"} 1`,
		`markdownview_ready_replicas{customresource_group="markdownview.fn.crossplane.io",customresource_kind="MarkdownView",customresource_version="v1alpha1",name="broken",namespace="NS"} 0`,
	))

	k.must(k.Delete(k.Context(), inNamespace(book(name), k.namespace)))
	k.within(2*k.patience, "metrics of the remaining MarkdownView", func() error {
		text, err := httpGet(k.Context(), url)
		if err != nil {
			return err
		}
		if strings.Contains(text, `name="measured",namespace="`+k.namespace+`"`) {
			return fmt.Errorf("the deleted MarkdownView still has metrics")
		}

		return has(`markdownview_condition{customresource_group="markdownview.fn.crossplane.io",customresource_kind="MarkdownView",customresource_version="v1alpha1",name="broken",namespace="NS",type="Available"} 0`)()
	})
}

// kubeStateMetrics runs kube-state-metrics with the configuration in example/production, as
// a service account with the ClusterRole in the same file, and returns the URL of its
// metrics.
func (k *kit) kubeStateMetrics() string {
	k.Helper()
	objects := k.parse(k.read("../../example/production/kube-state-metrics.yaml"))
	config, role := &corev1.ConfigMap{}, objects[1]
	k.must(fromUnstructured(objects[0], config))
	role.SetName(k.namespace)
	k.apply(role)
	k.afterwards(role)
	binding := k.unstructured(&rbacv1.ClusterRoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRoleBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: k.namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: role.GetName()},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: k.namespace, Name: "default"}},
	})
	k.apply(binding)
	k.afterwards(binding)

	dir := k.TempDir()
	kubeconfig, err := clientcmd.LoadFromFile(k.kubeconfig)
	k.must(err)
	for _, user := range kubeconfig.AuthInfos {
		user.Impersonate = "system:serviceaccount:" + k.namespace + ":default"
	}
	k.must(clientcmd.WriteToFile(*kubeconfig, filepath.Join(dir, "kubeconfig")))
	k.must(os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config.Data["config.yaml"]), 0o644))

	port, err := controlplane.FreePort()
	k.must(err)
	telemetry, err := controlplane.FreePort()
	k.must(err)
	k.must(controlplane.Run(k.Context(), filepath.Join(k.Bin, "kube-state-metrics"), filepath.Join(k.logs, "kube-state-metrics.log"),
		"--kubeconfig="+filepath.Join(dir, "kubeconfig"),
		"--custom-resource-state-only",
		"--custom-resource-state-config-file="+filepath.Join(dir, "config.yaml"),
		"--host=127.0.0.1", fmt.Sprintf("--port=%d", port),
		"--telemetry-host=127.0.0.1", fmt.Sprintf("--telemetry-port=%d", telemetry)))

	return fmt.Sprintf("http://127.0.0.1:%d/metrics", port)
}

func httpGet(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	rsp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer rsp.Body.Close() //nolint:errcheck // Only read.
	b, err := io.ReadAll(rsp.Body)

	return string(b), err
}
