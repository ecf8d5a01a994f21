package e2e

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Upgrade checks that a new version of the package does not change the resources and
// pods of healthy MarkdownViews, and that the new version then composes them. With real
// pods, MarkdownViews change all the time, and reconciles fail only in the seconds in
// which Crossplane has no endpoint of the new version.
func Upgrade(k *kit) {
	n := k.many()
	names := k.createMany(n, 0)
	k.settleAll(3*time.Minute, n)
	k.calm()
	children, pods := k.allSpecs(names), k.podUIDs()
	if len(pods) != n {
		k.Fatalf("there are %d pods, not %d", len(pods), n)
	}

	k.upgrade(names)

	// Crossplane calls a new revision of a function only when it reconciles an XR.
	calls := k.calls()
	for _, name := range names {
		u := inNamespace(book(name), k.namespace)
		k.must(k.Patch(k.Context(), u, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"example.org/upgrade":"done"}}}`))))
	}
	k.eventually("the new version composes every MarkdownView", func() error {
		if c := k.calls(); c < calls+n {
			return fmt.Errorf("the function was called %d times", c)
		}

		return nil
	})
	k.calm()
	k.settleAll(time.Minute, n)
	k.right(names, 0)
	if diff := cmp.Diff(children, k.allSpecs(names)); diff != "" {
		k.Errorf("children: -before +after:\n%s", diff)
	}
	if diff := cmp.Diff(pods, k.podUIDs()); diff != "" {
		k.Errorf("pods: -before +after:\n%s", diff)
	}
}

// upgrade upgrades the function. With real pods, MarkdownViews change at the same time.
func (k *kit) upgrade(names []string) {
	k.Helper()

	begin := time.Now()
	stop := func() {}
	if k.realPods {
		stop = k.load(names)
	}
	k.must(k.Upgrade(k.Context(), k.FunctionPackage(), "v0.1.1"))
	k.within(3*time.Minute, "all processes of the function are new", func() error {
		started, err := k.tryMetric("process_start_time_seconds")
		if err != nil {
			return err
		}
		if oldest := slices.Min(started); oldest < float64(begin.Unix()) {
			return fmt.Errorf("a process was started at %.0f, before the upgrade at %d", oldest, begin.Unix())
		}

		return nil
	})

	_, before := k.failedReconciles()
	if k.realPods {
		k.pause(10 * time.Second)
	}
	stop()

	failed, after := k.failedReconciles()
	k.check(equal("failed reconciles", nil, failed))
	k.check(equal("reconciles without an endpoint after the upgrade", 0, after-before))
	k.Logf("reconciles without an endpoint during the upgrade: %d", before)
}

// load changes an annotation of one MarkdownView after another until stop is called, so
// the function is called all the time. Each changes so rarely that the circuit breaker
// of Crossplane does not open.
func (k *kit) load(names []string) (stop func()) {
	ctx, cancel := context.WithCancel(k.Context())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				k.Logf("%d MarkdownViews were changed meanwhile", i)
				return
			case <-time.After(100 * time.Millisecond):
			}
			u := inNamespace(book(names[i%len(names)]), k.namespace)
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.org/load":"%d"}}}`, i)
			if err := k.Patch(ctx, u, client.RawPatch(types.MergePatchType, patch)); ctx.Err() == nil {
				k.check(err)
			}
		}
	}()

	return func() { cancel(); <-stopped }
}

// allSpecs returns the specs of the children of each MarkdownView, by its name.
func (k *kit) allSpecs(names []string) map[string]map[string]string {
	k.Helper()
	all := map[string]map[string]string{}
	for _, n := range names {
		all[n] = k.children(n).specs()
	}

	return all
}

// podUIDs returns the UIDs of the pods in the namespace, by name.
func (k *kit) podUIDs() map[string]types.UID {
	k.Helper()
	l := &corev1.PodList{}
	k.must(k.List(k.Context(), l, client.InNamespace(k.namespace)))
	uids := map[string]types.UID{}
	for _, p := range l.Items {
		uids[p.Name] = p.UID
	}

	return uids
}

// tryMetric returns the values of a metric of the function, one for each process.
func (k *kit) tryMetric(name string) ([]float64, error) {
	all, err := k.FunctionMetrics(k.Context())
	if err != nil {
		return nil, err
	}
	line := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`)
	values := []float64{}
	for _, m := range line.FindAllStringSubmatch(strings.Join(all, "\n"), -1) {
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return nil, err
		}
		values = append(values, n)
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("the function has no metric %s", name)
	}

	return values, nil
}
