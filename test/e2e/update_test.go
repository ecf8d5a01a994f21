package e2e

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A change is a change of the spec of a MarkdownView, with its expected effects.
type change struct {
	spec option

	// changed are the kinds of the resources that it changes.
	changed []string

	// rolls is whether it starts a rollout.
	rolls bool

	// want is what composed returns afterwards.
	want string
}

func changes() map[string]change {
	both, one := []string{"ConfigMap", "Deployment"}, []string{"Deployment"}
	of := func(files string, replicas int, version, memory string) string {
		const summary = `"SUMMARY.md":"# Summary\n\n- [Page](page.md)\n"`
		return fmt.Sprintf("map[%s %s], %d of docker.io/peaceiris/mdbook:%s with %s", summary, files, replicas, version, memory)
	}
	const page, more = `"page.md":"# Page\n"`, `"extra.md":"# Extra\n"`
	const same = more + " " + page

	return map[string]change{
		"changed-text": {file("page.md", "# Changed\n"), both, true, of(more+` "page.md":"# Changed\n"`, 2, "v0.5.0", "64Mi")},
		"added-file": {
			file("more.md", "# More\n"), both, true, of(more+` "more.md":"# More\n" `+page, 2, "v0.5.0", "64Mi"),
		},
		"removed-file": {
			func(s map[string]any) { delete(s["markdowns"].(map[string]any), "extra.md") },
			both, true, of(page, 2, "v0.5.0", "64Mi"),
		},
		"replicas": {replicas(3), one, false, of(same, 3, "v0.5.0", "64Mi")},
		"image":    {image("docker.io/peaceiris/mdbook:v0.4.40"), one, true, of(same, 2, "v0.4.40", "64Mi")},
		"resources": {
			with("resources: {requests: {memory: 96Mi}}"), one, true, of(same, 2, "v0.5.0", "96Mi"),
		},
	}
}

// composed describes composed resources: the files, the replicas, the image and its memory.
func (c children) composed() string {
	viewer := c.deployment.Spec.Template.Spec.Containers[0]

	return fmt.Sprintf("%q, %d of %s with %s",
		c.configMap.Data, *c.deployment.Spec.Replicas, viewer.Image, viewer.Resources.Requests.Memory())
}

// Update checks that each change of the spec changes only its resources, and that the
// status follows the rollout. Each change has a MarkdownView of its own, so the changes roll
// out at the same time.
func Update(k *kit) {
	extra := file("extra.md", "# Extra\n")
	all := changes()
	before, states, waited := map[string]children{}, map[string]*states{}, false
	for name := range all {
		k.apply(book(name, replicas(2), extra))
	}
	k.settle(sorted(all)...)
	for name, change := range all {
		before[name], states[name] = k.children(name), k.follow(name)
		k.apply(book(name, replicas(2), extra, change.spec))
	}
	k.settle(sorted(all)...)

	for name, change := range all {
		after := k.children(name)
		k.equal(name, change.want, after.composed())
		var changed []string
		for what, version := range before[name].specs() {
			if after.specs()[what] != version {
				changed = append(changed, what)
			}
		}
		slices.Sort(changed)
		k.equal(name+": changed resources", change.changed, changed)
		was, is := before[name].deployment.Spec.Template, after.deployment.Spec.Template
		k.equal(name+": the pods are replaced", change.rolls, !cmp.Equal(was, is))
		if name == "changed-text" { // It changes only the revision.
			delete(was.Annotations, annotationRevision)
			delete(is.Annotations, annotationRevision)
			k.equal("pod template", was, is)
		}
		waited = states[name].check(k, name, k.view(name).Generation) || waited
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
	var running sync.WaitGroup
	running.Go(func() {
		for e := range w.ResultChan() {
			if u, ok := e.Object.(*unstructured.Unstructured); ok {
				f(e.Type, u)
			}
		}
	})

	return func() { w.Stop(); running.Wait() }
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
		d := &appsv1.Deployment{}
		if err = k.tryGet(d, "viewer-"+name); err == nil {
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
	k.eventually(what+": last state in the watch", func(k *kit) {
		s.mu.Lock()
		defer s.mu.Unlock()
		n := len(s.observed)
		if n == 0 || s.observed[n-1].generation != generation || s.observed[n-1].status != "Healthy" {
			k.Errorf("the watch has returned %v", s.observed)
		}
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	last := "Available"
	for _, st := range s.observed {
		if st.generation != generation {
			continue
		}
		if st.status != last && st.status != "Healthy" || st.status == "Healthy" && st.rollout != nil {
			k.Errorf("%s: generation %d is %s after %s: %v", what, generation, st.status, last, st.rollout)
		}
		last = st.status
		waited = waited || last == "Available"
	}

	return waited
}
