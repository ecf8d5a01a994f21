package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

// pods is the machine of a cluster that runs Crossplane and the function in pods.
type pods struct {
	client client.Client
	proxy  kubernetes.Interface
}

func newPods(t *testing.T, cfg *rest.Config, c client.Client) pods {
	t.Helper()
	p, err := kubernetes.NewForConfig(cfg)
	must(t, err)

	return pods{client: c, proxy: p}
}

func (p pods) list(ctx context.Context, labels client.MatchingLabels) ([]corev1.Pod, error) {
	l := &corev1.PodList{}
	if err := p.client.List(ctx, l, client.InNamespace("crossplane-system"), labels); err != nil {
		return nil, err
	}
	if len(l.Items) == 0 {
		return nil, fmt.Errorf("no pod in crossplane-system has the labels %v", labels)
	}

	return l.Items, nil
}

// functionPods are the labels of the pods of the function.
var functionPods = client.MatchingLabels{"pkg.crossplane.io/function": controlplane.FunctionName}

// FunctionMetrics returns the metrics of each pod of the function, read through the API
// server.
func (p pods) FunctionMetrics(ctx context.Context) ([]string, error) {
	pods, err := p.list(ctx, functionPods)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, pod := range pods {
		b, err := p.proxy.CoreV1().Pods(pod.Namespace).ProxyGet("http", pod.Name, "8080", "/metrics", nil).DoRaw(ctx)
		if err != nil {
			return nil, fmt.Errorf("cannot read metrics of pod %q: %w", pod.Name, err)
		}
		all = append(all, string(b))
	}

	return all, nil
}

// KillFunction deletes the pods of the function without a grace period.
func (p pods) KillFunction(ctx context.Context) error { return p.kill(ctx, functionPods) }

// KillCrossplane deletes the pods of Crossplane without a grace period.
func (p pods) KillCrossplane(ctx context.Context) error {
	return p.kill(ctx, client.MatchingLabels{"app": "crossplane"})
}

func (p pods) kill(ctx context.Context, labels client.MatchingLabels) error {
	pods, err := p.list(ctx, labels)
	for _, pod := range pods {
		err = errors.Join(err, p.client.Delete(ctx, &pod, client.GracePeriodSeconds(0)))
	}

	return err
}
