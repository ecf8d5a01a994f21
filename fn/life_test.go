package fn_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/test/cluster"
	"github.com/crossplane-contrib/function-markdownview/test/sample"
)

// TestLife simulates one MarkdownView, and checks what a user sees.
func TestLife(t *testing.T) {
	t.Parallel()

	type want struct {
		status, available, degraded string
		turns                       int
		events                      []string
	}
	const (
		served   = "Available: The book is served"
		rolling  = "RollingOut: The book is served while a change rolls out"
		expected = "AsExpected: No errors found"
	)
	fine := want{"Healthy", served, expected, 1, nil}

	c := newCluster(t, viewOf(object{"markdowns": book("one"), "replicas": 3.0}), nil)
	set := func(name string, value any) { c.Edit(func(spec object) { spec[name] = value }) }
	// Each step starts from the state in which the one before it ended.
	for _, step := range []struct {
		name   string
		change func()
		want   want
	}{
		{"created", func() {}, want{"Healthy", served, expected, 1, []string{"Available"}}},
		{"changed text", func() { set("markdowns", book("two")) }, fine},
		{"stuck", func() {
			set("viewerImage", "docker.io/peaceiris/mdbook:broken")
			c.Stick()
		}, want{
			"Available", rolling,
			`ProgressDeadlineExceeded: Run kubectl describe pods -n docs -l app.kubernetes.io/instance=sample: ` +
				`Deployment viewer-sample cannot roll out: ReplicaSet "viewer-0a1b2c3" has timed out progressing`,
			0,
			[]string{"ProgressDeadlineExceeded"},
		}},
		{"fixed", func() { c.Edit(func(spec object) { delete(spec, "viewerImage") }) }, fine},
		{"ConfigMap deleted", func() { c.Lose("configmap") }, want{"Healthy", served, expected, 1, []string{"Missing"}}},
		{
			"Deployment deleted", func() { c.Lose("deployment") },
			want{"Healthy", served, expected, 1, []string{"Missing", "Available"}},
		},
		{"replicas removed from the spec", func() {
			c.Edit(func(spec object) { delete(spec, "replicas") })
			// After that, nobody owns the field: server-side apply removes it, and an
			// autoscaler sets it.
			c.Reconcile()
			c.Scale(3)
		}, fine},
		{"scaled to 0", func() { c.Scale(0) }, want{
			"Healthy", "ScaledToZero: The book is not served: the Deployment is scaled to zero", expected, 1, nil,
		}},
		{"scaled up again", func() { c.Scale(2) }, want{"Healthy", served, expected, 1, []string{"Available"}}},
		{"no quota", func() {
			c.Quota = true
			c.Scale(4)
		}, want{
			"Available", rolling,
			`ReplicaFailure: Run kubectl describe replicasets -n docs -l app.kubernetes.io/instance=sample: ` +
				`Deployment viewer-sample cannot roll out: pods "viewer" is forbidden: exceeded quota: pods`,
			0,
			[]string{"ReplicaFailure"},
		}},
		{"quota raised", func() { c.Quota = false }, fine},
		{"paused", func() {
			c.Pause(true)
			set("markdowns", book("three"))
		}, want{
			"Available", rolling,
			"Paused: Run kubectl rollout resume deployment -n docs viewer-sample: " +
				"the Deployment is paused, so no change rolls out",
			0,
			[]string{"Paused"},
		}},
		{"resumed", func() { c.Pause(false) }, fine},
	} {
		step.change()
		p := c.Settle()
		got := want{p.Status(), p.Condition("Available"), p.Condition("Degraded"), p.Turns(), p.Events}
		if diff := cmp.Diff(step.want, got, cmp.AllowUnexported(want{})); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", step.name, diff)
		}
	}
}

// TestLives simulates MarkdownViews with random changes at random times.
func TestLives(t *testing.T) {
	t.Parallel()

	for seed := range uint64(16) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			live(t, sample.Random(seed))
		})
	}
}

func live(t testing.TB, s *sample.Source) {
	t.Helper()
	view, input := s.View(), s.Input()
	input["allowedImages"] = everyImage()
	sample.Fit(view, input)
	c := newCluster(t, view, input)
	c.Shared, c.Repositories = s.Shared(), map[string]object{"handbook": s.Repository()}
	// Large books have tests of their own: this test is about states.
	write(c, s.Text())
	for range 2 + s.Below(8) {
		happen(c, s)
		if s.Maybe(3) {
			// The next change comes while this one rolls out.
			for range s.Below(6) {
				c.Reconcile()
				c.Step()
			}

			continue
		}
		c.Settle()
	}

	// Whatever has happened, the book is ready at the end.
	clear(c.Stuck)
	c.Quota = false
	c.Shared = s.Shared()
	write(c, "the end")
	if p := c.Settle(); !p.Ready() {
		t.Errorf("law 5: not ready at the end: %v", p)
	}
}

// everyImage returns patterns that every image of package sample matches.
func everyImage() []any { return []any{"*/*", "*/*/*", "*/*/*/*"} }

// write changes the text of the book, as a user does.
func write(c *cluster.Cluster, text string) {
	c.Edit(func(spec object) {
		spec["markdowns"] = book(text)
		if sources := listAt(spec, "markdownsFrom"); len(sources) > 0 && at(sources[0], "configMap") == nil {
			delete(spec, "markdownsFrom")
		}
	})
}

// happen makes one random change.
func happen(c *cluster.Cluster, s *sample.Source) {
	deployment, exists := c.Objects["deployment"]
	// New changes come last, so that a sample of the fuzzer keeps its meaning.
	changes := []func(){
		func() { write(c, s.Text()) },
		func() { c.Edit(func(spec object) { spec["replicas"] = float64(1 + s.Below(5)) }) },
		func() { c.Edit(func(spec object) { spec["viewerImage"] = s.Image() }) },
		func() {
			if len(c.Objects) > 0 {
				c.Lose(sample.Pick(s, slices.Sorted(maps.Keys(c.Objects))...))
			}
		},
		func() { c.Quota = !c.Quota },
		func() {
			if exists {
				c.Stuck[revisionOf(deployment)] = !c.Stuck[revisionOf(deployment)]
			}
		},
		func() {
			if exists {
				c.Scale(float64(s.Below(4)))
			}
		},
		func() {
			before := c.Input
			c.Input = s.Input()
			c.Input["allowedImages"] = everyImage()
			c.Edit(func(object) { sample.Fit(c.XR, c.Input) })
			// The namespace of a composed resource is permanent.
			delete(c.Input, "namespace")
			if namespace, ok := before["namespace"]; ok {
				c.Input["namespace"] = namespace
			}
		},
		c.Drain,
		func() {
			// Kubernetes rejects resources for a while, or Crossplane stops while it applies them.
			c.Edit(func(spec object) {
				// The text shows when a pod started.
				files := book(fmt.Sprint(s.Text(), len(c.Volumes)))
				if s.Maybe(3) {
					files[sample.Pick(s, "b.md", "c/d.md")] = "more"
				}
				spec["markdowns"] = files
				delete(spec, "markdownsFrom")
			})
			c.Interrupted = s.Below(4)
			c.Rejected = map[string]bool{sample.Pick(s, "none", "ConfigMap", "Deployment", "ConfigMap"): true}
			for range 1 + s.Below(3) {
				c.Reconcile()
				c.Step()
			}
			c.Interrupted, c.Rejected = 0, nil
		},
		func() {
			c.Edit(func(spec object) {
				delete(spec, "markdowns")
				delete(spec, "binaries")
				delete(spec, "summary")
				spec["markdownsFrom"] = []any{s.BookImage()}
			})
		},
		func() {
			c.Shared = s.Shared()
			c.Edit(func(spec object) {
				spec["markdowns"], spec["markdownsFrom"] = book(s.Text()), []any{from("guide", "shared")}
			})
		},
		func() {
			delete(c.Shared, "guide")
			delete(c.Repositories, "handbook")
		},
		func() { c.Repositories["handbook"] = s.Repository() },
		func() {
			if exists {
				c.Orphan()
			}
		},
	}
	changes[s.Below(len(changes))]()
}
