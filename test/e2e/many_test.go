package e2e

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

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

// oneOfMany returns one of many MarkdownViews, each with a different text of about kib KiB.
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
	k.within(d, fmt.Sprintf("%d MarkdownViews: healthy", n), func(k *kit) {
		// Listing uses CPU of the machine that is measured, so it must be rare.
		k.pause(max(time.Second, time.Duration(n)*2*time.Millisecond))
		l, unsettled := list(k, listOf(kind)), 0
		k.equal("MarkdownViews", n, len(l.Items))
		for i := range l.Items {
			v, err := decode(&l.Items[i])
			k.must(err)
			if err := v.shows(settled...); err != nil {
				if unsettled++; unsettled == 1 {
					k.Errorf("such as %s: %s", v.Name, err)
				}
			}
		}
		k.equal("MarkdownViews that are not healthy", 0, unsettled)
	})
}

// right reports an error if composed resources of many MarkdownViews are missing, wrong
// or unexpected.
func (k *kit) right(names []string, kib int) {
	k.Helper()
	want, got, pods := map[string]string{}, map[string]string{}, map[string]int{}
	for _, n := range names {
		want["ConfigMap markdowns-"+n] = pageOf(n, kib)
		want["Deployment viewer-"+n] = "1"
		want["Service viewer-"+n] = n
		want["pods of "+n] = "1"
	}
	for _, o := range list(k, &corev1.ConfigMapList{}).Items {
		got["ConfigMap "+o.Name] = o.Data["page.md"]
	}
	delete(got, "ConfigMap kube-root-ca.crt")
	for _, o := range list(k, &appsv1.DeploymentList{}).Items {
		got["Deployment "+o.Name] = fmt.Sprint(o.Status.AvailableReplicas)
	}
	for _, o := range list(k, &corev1.ServiceList{}).Items {
		got["Service "+o.Name] = o.Spec.Selector["app.kubernetes.io/instance"]
	}
	for _, o := range list(k, &corev1.PodList{}).Items {
		of := o.Labels["app.kubernetes.io/instance"]
		pods[of]++
		got["pods of "+of] = fmt.Sprint(pods[of])
	}
	k.equal("objects", want, got)
}
