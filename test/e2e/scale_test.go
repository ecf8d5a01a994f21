package e2e

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Scale checks that kubectl scale and a HorizontalPodAutoscaler can scale a
// MarkdownView.
func Scale(k *kit) {
	if olderThan("v2.3") {
		k.Skip("Crossplane v2.2 removes the subresource scale from XRDs")
	}
	const name, few, many = "scale", "few", "many"
	k.apply(book(name))
	k.apply(book(few))
	k.apply(book(many, replicas(5)))
	k.settle(name, few, many)

	k.kubectl("scale", "markdownview", name, "--replicas=3")
	k.until(name, "three pods", func(v *markdownView) error {
		return errors.Join(v.settled(), v.counts(healthy, 3, 3))
	})

	// An autoscaler needs no metrics to scale to its minimum or maximum.
	k.apply(k.unstructured(autoscaler(few)))
	k.apply(k.unstructured(autoscaler(many)))
	k.until(few, "minReplicas of the autoscaler", func(v *markdownView) error {
		return errors.Join(v.settled(), v.counts(healthy, 2, 2))
	})
	k.until(many, "maxReplicas of the autoscaler", func(v *markdownView) error {
		return errors.Join(v.settled(), v.counts(healthy, 4, 4))
	})
	k.eventually("the autoscaler reports the pods", func() error {
		got := &autoscalingv2.HorizontalPodAutoscaler{}
		if err := k.get(got, few); err != nil {
			return err
		}
		if got.Status.CurrentReplicas != 2 {
			return fmt.Errorf("it reports %d pods", got.Status.CurrentReplicas)
		}

		return nil
	})
}

// autoscaler returns an autoscaler of the MarkdownView of the same name, with two to
// four pods.
func autoscaler(name string) *autoscalingv2.HorizontalPodAutoscaler {
	return &autoscalingv2.HorizontalPodAutoscaler{
		TypeMeta:   metav1.TypeMeta{APIVersion: "autoscaling/v2", Kind: "HorizontalPodAutoscaler"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Name: name},
			MinReplicas:    new(int32(2)),
			MaxReplicas:    4,
			Metrics: []autoscalingv2.MetricSpec{{
				Type: autoscalingv2.ResourceMetricSourceType,
				Resource: &autoscalingv2.ResourceMetricSource{
					Name:   corev1.ResourceCPU,
					Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(50))},
				},
			}},
		},
	}
}

// Tools checks that kubectl wait, rollout status, describe and crossplane resource
// trace report the state of a MarkdownView.
func Tools(k *kit) {
	const name = "tools"
	k.apply(book(name))
	for _, until := range []string{"condition=Ready", "jsonpath={.status.status}=Healthy", "condition=Available"} {
		k.kubectl("wait", "markdownview", name, "--for="+until, fmt.Sprintf("--timeout=%s", k.patience))
	}
	k.kubectl("rollout", "status", "deployment", "viewer-"+name, "--timeout=10s")

	const branch = "├└─ "
	want := []string{
		"NAME SYNCED READY STATUS",
		"MarkdownView/tools (NS) True True Available",
		"├─ ConfigMap/markdowns-tools (NS) - -",
		"├─ Deployment/viewer-tools (NS) - -",
		"└─ Service/viewer-tools (NS) - -",
	}
	// The order of the branches is random.
	sameBranches := cmpopts.SortSlices(func(a, b string) bool { return strings.TrimLeft(a, branch) < strings.TrimLeft(b, branch) })
	sameLines := cmp.Comparer(func(a, b string) bool { return strings.TrimLeft(a, branch) == strings.TrimLeft(b, branch) })
	k.eventually("crossplane resource trace", func() error {
		trace, err := k.run("crossplane", "resource", "trace", "--namespace="+k.namespace, "markdownview", name)
		if err != nil {
			return err
		}
		var got []string
		for line := range strings.Lines(trace) {
			got = append(got, strings.Join(strings.Fields(strings.ReplaceAll(line, k.namespace, "NS")), " "))
		}
		if diff := cmp.Diff(want, got, sameBranches, sameLines); diff != "" {
			return fmt.Errorf("-want +got:\n%s", diff)
		}

		return nil
	})

	k.apply(book(name, image("docker.io/peaceiris/mdbook:broken")))
	// Crossplane updates Ready later than the conditions of the function, and may
	// update it twice.
	k.kubectl("wait", "markdownview", name, "--for=condition=Ready=False", fmt.Sprintf("--timeout=%s", k.patience))
	k.eventually("kubectl wait waits for a MarkdownView with a broken image", func() error {
		if _, err := k.run("kubectl", "--namespace="+k.namespace, "wait", "markdownview", name, "--for=condition=Ready", "--timeout=2s"); err == nil {
			return errors.New("it is reported as ready")
		}

		return nil
	})

	k.eventually("kubectl describe reports that the book is served and a change rolls out", func() error {
		described := k.kubectl("describe", "markdownview", name)
		status, events, _ := strings.Cut(described, "\nEvents:")
		if !strings.Contains(events, "The book is served") {
			return fmt.Errorf("no event reports that the book is served:%s", events)
		}
		if !strings.Contains(status, "The book is served while a change rolls out") {
			return fmt.Errorf("no condition reports that a change rolls out: %s", status)
		}

		return nil
	})
}
