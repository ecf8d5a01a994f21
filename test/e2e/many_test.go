package e2e

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// createMany creates n MarkdownViews at once, each with a different text of about kib
// KiB, and returns their names.
func (k *kit) createMany(n, kib int) []string {
	k.Helper()

	return k.applyMany(n, func(name string) *unstructured.Unstructured { return oneOfMany(name, kib) })
}

// applyMany applies n MarkdownViews at once, and returns their names.
func (k *kit) applyMany(n int, view func(name string) *unstructured.Unstructured) []string {
	k.Helper()
	names := make([]string, n)
	g := errgroup.Group{}
	g.SetLimit(16)
	for i := range n {
		names[i] = fmt.Sprintf("many-%04d", i)
		g.Go(func() error { return k.tryApply(view(names[i])) })
	}
	k.must(g.Wait())

	return names
}

// oneOfMany returns one of many MarkdownViews.
func oneOfMany(name string, kib int) *unstructured.Unstructured {
	return book(name, file("page.md", pageOf(name, kib)))
}

// pageOf returns the page of one of many MarkdownViews.
func pageOf(name string, kib int) string {
	const line = "A line of a page with as many words as are needed for 64 bytes.\n"

	return "# " + name + "\n\n" + strings.Repeat(line, kib*1024/len(line))
}

// many returns how many MarkdownViews a machine with two CPUs can run.
func (k *kit) many() int {
	if k.realPods {
		return 20
	}

	return 50
}

// settleAll waits until all MarkdownViews of the namespace are healthy.
func (k *kit) settleAll(d time.Duration, n int) {
	k.Helper()
	k.within(d, fmt.Sprintf("%d MarkdownViews: healthy", n), func() error {
		// Listing uses CPU of the machine that is measured, so it must be rare.
		k.pause(max(time.Second, time.Duration(n)*2*time.Millisecond))
		l := listOf(kind)
		if err := k.List(k.Context(), l, client.InNamespace(k.namespace)); err != nil {
			return err
		}
		if len(l.Items) != n {
			return fmt.Errorf("there are %d MarkdownViews", len(l.Items))
		}
		var errs []error
		for i := range l.Items {
			v, err := decode(&l.Items[i])
			if err != nil {
				return err
			}
			if err := v.settled(); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", v.Name, err))
			}
		}
		if len(errs) > 0 {
			return fmt.Errorf("%d are not healthy, such as %w", len(errs), errs[0])
		}

		return nil
	})
}

// right reports an error if composed resources of many MarkdownViews are missing, wrong
// or unexpected.
func (k *kit) right(names []string, kib int) {
	k.Helper()
	want, got := map[string]string{}, map[string]string{}
	for _, n := range names {
		want["ConfigMap markdowns-"+n] = pageOf(n, kib)
		want["Deployment viewer-"+n] = "1"
		want["Service viewer-"+n] = n
		want["pods of "+n] = "1"
	}

	configMaps, deployments, services, pods := &corev1.ConfigMapList{}, &appsv1.DeploymentList{}, &corev1.ServiceList{}, &corev1.PodList{}
	for _, l := range []client.ObjectList{configMaps, deployments, services, pods} {
		k.must(k.List(k.Context(), l, client.InNamespace(k.namespace)))
	}
	for _, o := range configMaps.Items {
		if o.Name != "kube-root-ca.crt" {
			got["ConfigMap "+o.Name] = o.Data["page.md"]
		}
	}
	for _, o := range deployments.Items {
		got["Deployment "+o.Name] = fmt.Sprint(o.Status.AvailableReplicas)
	}
	for _, o := range services.Items {
		got["Service "+o.Name] = o.Spec.Selector["app.kubernetes.io/instance"]
	}
	podsOf := map[string]int{}
	for _, o := range pods.Items {
		podsOf[o.Labels["app.kubernetes.io/instance"]]++
	}
	for n, count := range podsOf {
		got["pods of "+n] = fmt.Sprint(count)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		k.Errorf("objects: -want +got:\n%s", diff)
	}
}
