package e2e

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Quiet checks that no object changes and the function is not called while no spec
// changes. It does not run in parallel with other tests, because their calls would be
// counted.
func Quiet(k *kit) {
	k.alone()
	names := []string{"quiet-1", "quiet-2", "quiet-3"}
	for _, n := range names {
		k.apply(book(n, replicas(2)))
	}
	k.settle(names...)
	k.calm()
	k.idle()

	before, calls := k.versions(), k.calls()
	if calls == 0 {
		k.Fatal("the metrics of the function report no call")
	}
	k.pause(time.Minute)
	k.equal("objects and events", before, k.versions())
	k.equal("calls", calls, k.calls())
	for _, n := range names {
		k.check(k.view(n).shows("Responsive=True WatchCircuitClosed"))
	}
}

// alone waits until the MarkdownViews of earlier tests are deleted.
func (k *kit) alone() {
	k.Helper()
	k.within(5*time.Minute, "earlier MarkdownViews are deleted", func(k *kit) {
		l := listOf(kind)
		k.must(k.List(k.Context(), l))
		for i := range l.Items {
			if namespace := l.Items[i].GetNamespace(); namespace != k.namespace && strings.HasPrefix(namespace, "e2e-") {
				k.Errorf("%s/%s exists", namespace, l.Items[i].GetName())
			}
		}
	})
}

// idle waits until the function has not been called for 5 seconds.
func (k *kit) idle() {
	k.Helper()
	k.eventually("no calls", func(k *kit) {
		before := k.calls()
		k.pause(5 * time.Second)
		k.equal("calls", before, k.calls())
	})
}

// calm waits until no object in the namespace has changed for 3 seconds, so no
// reconcile is in progress.
func (k *kit) calm() {
	k.Helper()
	last := map[string]string{}
	k.within(3*k.patience, "no changes", func(k *kit) {
		before := last
		k.pause(3 * time.Second)
		last = k.versions()
		k.equal("objects and events", before, last)
	})
}

func (k *kit) pause(d time.Duration) {
	k.Helper()
	select {
	case <-k.Context().Done():
		k.Fatal(k.Context().Err())
	case <-time.After(d):
	}
}

// versions returns the resource versions of all objects in the namespace, including
// events.
func (k *kit) versions() map[string]string {
	k.Helper()

	return k.each((*unstructured.Unstructured).GetResourceVersion, kind,
		corev1.SchemeGroupVersion.WithKind("ConfigMap"),
		appsv1.SchemeGroupVersion.WithKind("Deployment"),
		appsv1.SchemeGroupVersion.WithKind("ReplicaSet"),
		corev1.SchemeGroupVersion.WithKind("Pod"),
		corev1.SchemeGroupVersion.WithKind("Service"),
		corev1.SchemeGroupVersion.WithKind("Event"))
}

// each returns a value of each object of some kinds in the namespace, by kind and name.
func (k *kit) each(value func(*unstructured.Unstructured) string, kinds ...schema.GroupVersionKind) map[string]string {
	k.Helper()
	values := map[string]string{}
	for _, gvk := range kinds {
		for _, o := range list(k, listOf(gvk)).Items {
			values[gvk.Kind+" "+o.GetName()] = value(&o)
		}
	}

	return values
}

// Match the number of calls, seconds of CPU, and the time of the start, in the metrics of the
// function.
var (
	handled = regexp.MustCompile(`(?m)^grpc_server_handled_total\{.*grpc_method="RunFunction".*\} (\S+)$`)
	cpuUsed = regexp.MustCompile(`(?m)^process_cpu_seconds_total (\S+)$`)
	started = regexp.MustCompile(`(?m)^process_start_time_seconds (\S+)$`)
)

// calls returns how many calls the function has handled.
func (k *kit) calls() int {
	k.Helper()

	return int(k.total(handled))
}

// total returns the sum of a metric of all replicas of the function.
func (k *kit) total(metric *regexp.Regexp) float64 {
	k.Helper()
	total := 0.0
	for _, n := range k.metric(metric) {
		total += n
	}

	return total
}

// metric returns the values of a metric of the function, in all of its processes.
func (k *kit) metric(metric *regexp.Regexp) []float64 {
	k.Helper()
	all, err := k.FunctionMetrics(k.Context())
	k.must(err)
	var values []float64
	for _, m := range metric.FindAllStringSubmatch(strings.Join(all, "\n"), -1) {
		n, err := strconv.ParseFloat(m[1], 64)
		k.must(err)
		values = append(values, n)
	}

	return values
}
