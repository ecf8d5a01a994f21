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
// The test makes up to three changes. A call that begins before the cache of Crossplane has
// what the last call wrote writes the old conditions, and then the new ones again: two
// updates that the function cannot avoid. Ready is then the old one for some milliseconds.
func Updates(k *kit) {
	most := map[string]int{"one": 14, "two": 16, "five": 24}
	spec := map[string]option{"one": replicas(1), "two": replicas(2), "five": replicas(5)}
	names := sorted(most)
	for _, name := range names {
		k.apply(book(name, spec[name]))
	}
	k.settle(names...)
	k.calm()
	log := k.recordUpdates()
	for attempt := range 3 {
		names = slices.DeleteFunc(names, func(name string) bool {
			log.reset(name)
			k.apply(book(name, spec[name], file("page.md", fmt.Sprintf("# Changed %d\n", attempt))))
			k.settle(name)
			k.calm()
			got := log.of(name)
			k.Logf("%s replicas: %d updates:\n%s", name, len(got), strings.Join(got, "\n"))

			return len(got) <= most[name]
		})
	}
	for _, name := range names {
		k.Errorf("%s replicas: more than %d updates in each attempt", name, most[name])
	}
}

// updates are the updates that watches have observed, by the name of the MarkdownView.
type updates struct {
	mu   sync.Mutex
	all  map[string][]string
	last map[string]map[string]any
}

// reset removes the updates of a MarkdownView.
func (u *updates) reset(name string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.all, name)
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
	u := &updates{all: map[string][]string{}, last: map[string]map[string]any{}}
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
	changed := strings.Join(changedFields("", u.last[key], o.Object), ", ")
	// Kubernetes 1.35 and later count the old pods, one by one, until they have ended.
	terminating := strings.HasPrefix(changed, "status.terminatingReplicas") && !strings.Contains(changed, ", ")
	if event == watch.Modified && !terminating {
		u.all[name] = append(u.all[name], o.GetKind()+": "+changed)
	}
	u.last[key] = o.Object
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
