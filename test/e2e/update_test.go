package e2e

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A change is a change of the spec of a MarkdownView, with its expected effects.
type change struct {
	spec func(map[string]any)

	// changed are the kinds of the resources that it changes.
	changed []string

	// rolls is whether it starts a rollout.
	rolls bool

	// check returns an error unless the resources have the change.
	check func(children) error
}

func changes() map[string]change {
	container := func(c children) *corev1.Container { return &c.deployment.Spec.Template.Spec.Containers[0] }
	return map[string]change{
		"changed-text": {
			spec:    file("page.md", "# Changed\n"),
			changed: []string{"ConfigMap", "Deployment"},
			rolls:   true,
			check:   func(c children) error { return equal("page.md", "# Changed\n", c.configMap.Data["page.md"]) },
		},
		"added-file": {
			spec:    file("more.md", "# More\n"),
			changed: []string{"ConfigMap", "Deployment"},
			rolls:   true,
			check:   func(c children) error { return equal("more.md", "# More\n", c.configMap.Data["more.md"]) },
		},
		"removed-file": {
			spec:    func(s map[string]any) { delete(s["markdowns"].(map[string]any), "extra.md") },
			changed: []string{"ConfigMap", "Deployment"},
			rolls:   true,
			check: func(c children) error {
				return equal("files", []string{"SUMMARY.md", "page.md"}, sorted(c.configMap.Data))
			},
		},
		"replicas": {
			spec:    replicas(3),
			changed: []string{"Deployment"},
			check:   func(c children) error { return equal("replicas", int32(3), *c.deployment.Spec.Replicas) },
		},
		"image": {
			spec:    image("docker.io/peaceiris/mdbook:v0.4.40"),
			changed: []string{"Deployment"},
			rolls:   true,
			check: func(c children) error {
				return equal("image", "docker.io/peaceiris/mdbook:v0.4.40", container(c).Image)
			},
		},
		"resources": {
			spec: func(s map[string]any) {
				s["resources"] = map[string]any{"requests": map[string]any{"memory": "96Mi"}}
			},
			changed: []string{"Deployment"},
			rolls:   true,
			check: func(c children) error {
				return equal("memory", "96Mi", container(c).Resources.Requests.Memory().String())
			},
		},
	}
}

// Update checks that each change of the spec changes only its resources, and that the
// status follows the rollout. Each change has a MarkdownView of its own, so the changes roll
// out at the same time.
func Update(k *kit) {
	extra := file("extra.md", "# Extra\n")
	before, states, waited := map[string]children{}, map[string]*states{}, false
	for _, name := range sorted(changes()) {
		k.apply(book(name, replicas(2), extra))
	}
	k.settle(sorted(changes())...)
	for _, name := range sorted(changes()) {
		before[name], states[name] = k.children(name), k.follow(name)
		k.apply(book(name, replicas(2), extra, changes()[name].spec))
	}
	k.settle(sorted(changes())...)

	for name, change := range changes() {
		after := k.children(name)
		if err := change.check(after); err != nil {
			k.Errorf("%s: %s", name, err)
		}
		var changed []string
		for what, version := range before[name].specs() {
			if after.specs()[what] != version {
				changed = append(changed, what)
			}
		}
		slices.Sort(changed)
		if diff := cmp.Diff(change.changed, changed); diff != "" {
			k.Errorf("%s: changed resources: -want +got:\n%s", name, diff)
		}
		if rolls := !cmp.Equal(before[name].deployment.Spec.Template, after.deployment.Spec.Template); rolls != change.rolls {
			k.Errorf("%s: the pods are replaced: %t, want %t", name, rolls, change.rolls)
		}
		if name == "changed-text" { // It changes only the revision.
			was, is := before[name].deployment.Spec.Template, after.deployment.Spec.Template
			delete(was.Annotations, annotationRevision)
			delete(is.Annotations, annotationRevision)
			k.check(equal("pod template", was, is))
		}
		v, err := k.view(name)
		k.must(err)
		waited = states[name].check(k, name, v.Generation) || waited
	}
	if !waited {
		k.Error("no MarkdownView was Available before it was Healthy")
	}
}

// states are the states of a MarkdownView that a watch has observed.
type states struct {
	mu       sync.Mutex
	observed []state
}

type state struct {
	generation int64
	status     string

	// rollout is an error if the rollout has not completed.
	rollout error
}

// watch calls f for each event of a kind in the namespace, until the test ends or stop is
// called.
func (k *kit) watch(gvk schema.GroupVersionKind, f func(watch.EventType, *unstructured.Unstructured), options ...client.ListOption) (stop func()) {
	k.Helper()
	w, err := k.Watch(k.Context(), listOf(gvk), append(options, client.InNamespace(k.namespace))...)
	k.must(err)
	context.AfterFunc(k.Context(), w.Stop)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range w.ResultChan() {
			if u, ok := e.Object.(*unstructured.Unstructured); ok {
				f(e.Type, u)
			}
		}
	}()

	return func() { w.Stop(); <-done }
}

// follow records the states of a MarkdownView until the test ends.
func (k *kit) follow(name string) *states {
	k.Helper()
	s := &states{}
	k.watch(kind, func(_ watch.EventType, u *unstructured.Unstructured) {
		v, err := decode(u)
		if err != nil {
			return
		}
		d, err := k.deployment(name)
		if err == nil {
			err = rolledOut(d)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.observed = append(s.observed, state{v.Status.ObservedGeneration, v.Status.Status, err})
	}, client.MatchingFields{"metadata.name": name})

	return s
}

// check reports an error unless a generation is first Available, until its rollout has
// completed, and then Healthy. Some pods are always ready, so the MarkdownView is never
// NotReady. If Crossplane cannot write the first status, because of a conflict, the first
// one can be Healthy: check returns whether it was Available.
func (s *states) check(k *kit, what string, generation int64) (waited bool) {
	k.Helper()
	// The watch may return the last state later than a read.
	k.eventually(what+": last state in the watch", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if n := len(s.observed); n == 0 || s.observed[n-1].generation != generation || s.observed[n-1].status != healthy {
			return fmt.Errorf("the watch has returned %v", s.observed)
		}

		return nil
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	last := available
	for _, st := range s.observed {
		if st.generation != generation {
			continue
		}
		if st.status != last && st.status != healthy || st.status == healthy && st.rollout != nil {
			k.Errorf("%s: generation %d is %s after %s: %v", what, generation, st.status, last, st.rollout)
		}
		last = st.status
		waited = waited || last == available
	}

	return waited
}

func equal[T any](what string, want, got T) error {
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("%s: -want +got:\n%s", what, diff)
	}

	return nil
}
