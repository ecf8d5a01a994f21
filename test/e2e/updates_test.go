package e2e

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// Updates checks how many updates of a MarkdownView and its composed resources a change of
// the text causes. Crossplane's circuit breaker allows 50 at once, and one every two
// seconds.
//
// The MarkdownView takes six: its spec, Responsive of Crossplane, the rollout, the observed
// generation, Ready, and Healthy. A call that begins before the cache of Crossplane has what
// the last call wrote writes old conditions, and the next call writes the new ones again.
// The function cannot avoid these two: they do not count if the old conditions are those of
// the generation before, and once if not.
//
// The Deployment takes four to begin with, and up to four for each pod, as Kubernetes counts
// it: it is ready, it is available, nothing is unavailable, and an old pod goes.
func Updates(k *kit) {
	books := map[string]int{"one": 1, "two": 2, "five": 5}
	names := sorted(books)
	for _, name := range names {
		k.apply(book(name, replicas(books[name])))
	}
	k.settle(names...)
	k.calm()
	log := k.recordUpdates()
	for _, name := range names {
		n := books[name]
		k.apply(book(name, replicas(n), file("page.md", "# Changed")))
		k.settle(name)
		k.calm()
		got := log.of(name)
		k.Logf("%s replicas:\n%s", name, strings.Join(got, "\n"))
		most := map[string]int{kind.Kind: 6 + 2, "ConfigMap": 1, "Deployment": 4 + 4*n}
		for _, update := range got {
			changed, _, _ := strings.Cut(update, ":")
			if most[changed]--; most[changed] == -1 {
				k.Errorf("%s replicas: more updates of the %s than allowed", name, changed)
			}
		}
	}
}

// updates are the updates that watches have observed, by the name of the MarkdownView.
type updates struct {
	mu    sync.Mutex
	all   map[string][]string
	last  map[string]map[string]any
	stale map[string]bool
}

// of returns the kind and the changed fields of each update of a MarkdownView and its
// composed resources.
func (u *updates) of(name string) []string {
	u.mu.Lock()
	defer u.mu.Unlock()

	return slices.Clone(u.all[name])
}

// recordUpdates records the updates of MarkdownViews and composed resources in the
// namespace until the test ends.
func (k *kit) recordUpdates() *updates {
	u := &updates{all: map[string][]string{}, last: map[string]map[string]any{}, stale: map[string]bool{}}
	for _, gvk := range []schema.GroupVersionKind{
		kind,
		corev1.SchemeGroupVersion.WithKind("ConfigMap"),
		appsv1.SchemeGroupVersion.WithKind("Deployment"),
		corev1.SchemeGroupVersion.WithKind("Service"),
	} {
		k.watch(gvk, u.add)
	}

	return u
}

func (u *updates) add(event watch.EventType, o *unstructured.Unstructured) {
	_, name, composed := strings.Cut(o.GetName(), "-")
	if !composed {
		name = o.GetName()
	}
	key := o.GetKind() + " " + o.GetName()
	u.mu.Lock()
	defer u.mu.Unlock()
	before := u.last[key]
	if readyGeneration(o.Object) < readyGeneration(before) {
		u.stale[key] = true

		return
	}
	u.last[key] = o.Object
	changed := strings.Join(changedFields("", before, o.Object), ", ")
	if u.stale[key] && changed == "" {
		delete(u.stale, key)

		return
	}
	// Kubernetes 1.35 and later count the old pods, one by one, until they have ended.
	terminating := strings.HasPrefix(changed, "status.terminatingReplicas") && !strings.Contains(changed, ", ")
	if event == watch.Modified && !terminating {
		u.all[name] = append(u.all[name], o.GetKind()+": "+changed)
	}
}

// readyGeneration returns the generation for which an object is or is not Ready.
func readyGeneration(o map[string]any) int64 {
	conditions, _, _ := unstructured.NestedSlice(o, "status", "conditions")
	ready, _ := byType(conditions)["Ready"].(map[string]any)
	generation, _ := ready["observedGeneration"].(int64)

	return generation
}

// changedFields returns the paths and values of the fields that differ, without those
// that change with every update.
func changedFields(at string, before, after any) []string {
	b, isMap := before.(map[string]any)
	a, _ := after.(map[string]any)
	if list, ok := after.([]any); ok && strings.HasSuffix(at, "conditions") {
		old, _ := before.([]any)
		b, a, isMap = byType(old), byType(list), true
	}
	if !isMap || a == nil {
		return []string{fmt.Sprintf("%s=%v", strings.TrimPrefix(at, "."), after)}
	}
	var changed []string
	for _, name := range slices.Compact(slices.Sorted(slices.Values(append(sorted(a), sorted(b)...)))) {
		if reflect.DeepEqual(b[name], a[name]) || slices.Contains([]string{"resourceVersion", "managedFields", "lastTransitionTime", "lastUpdateTime", "message"}, name) {
			continue
		}
		changed = append(changed, changedFields(at+"."+name, b[name], a[name])...)
	}

	return changed
}

// byType returns conditions by type.
func byType(conditions []any) map[string]any {
	out := map[string]any{}
	for _, c := range conditions {
		out[fmt.Sprint(c.(map[string]any)["type"])] = c
	}

	return out
}
