package fn_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/crossplane-contrib/function-markdownview/test/sample"
)

// A phase is what the function reports from a change until the cluster has settled.
type phase struct {
	ready      []bool
	status     []string
	conditions map[string][]string
	events     []string
}

// settle calls the function after every step of the controllers until nothing changes
// any more, and checks law 5 for the responses.
func (c *cluster) settle() phase {
	c.t.Helper()

	const most = 200
	p := phase{conditions: map[string][]string{}}
	for range most {
		rsp := c.reconcile()
		p.add(rsp)
		if isFatal(rsp) {
			return p
		}
		if !c.step() && c.quiet() {
			p.check(c.t)

			return p
		}
	}
	c.t.Fatalf("law 5: not settled after %d steps", most)

	return p
}

// quiet returns whether another call of the function changes nothing.
func (c *cluster) quiet() bool {
	c.t.Helper()

	writes := c.writes
	first := c.reconcile()
	if c.writes != writes {
		return false
	}
	if len(first.GetResults()) > 0 {
		c.t.Errorf("law 5: events while nothing changes: %v", first.GetResults())
	}
	if second := c.reconcile(); !proto.Equal(first, second) {
		c.t.Errorf("law 5: two responses to one state: -first, +second:\n%s", cmp.Diff(first, second, protocmp.Transform()))
	}

	return true
}

func (p *phase) add(rsp *fnv1.RunFunctionResponse) {
	for _, c := range rsp.GetConditions() {
		p.conditions[c.GetType()] = append(p.conditions[c.GetType()], c.GetReason()+": "+c.GetMessage())
	}
	for _, r := range rsp.GetResults() {
		p.events = append(p.events, r.GetReason())
	}
	if isFatal(rsp) {
		return
	}
	ready := true
	for _, key := range composedIn(rsp) {
		ready = ready && rsp.GetDesired().GetResources()[key].GetReady() == fnv1.Ready_READY_TRUE
	}
	p.ready = append(p.ready, ready)
	p.status = append(p.status, rsp.GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue().GetFields()["status"].GetStringValue())
}

// check fails the test if a state flapped. Only the first state can return, and only at
// the end. Ready turns true at most once.
func (p *phase) check(t testing.TB) {
	t.Helper()

	turns := 0
	for i := 1; i < len(p.ready); i++ {
		if p.ready[i] && !p.ready[i-1] {
			turns++
		}
		if i > 1 && !p.ready[i] && p.ready[i-1] && turns > 0 {
			t.Errorf("law 5: Ready turned false again: %v", p.ready)
		}
	}
	if turns > 1 {
		t.Errorf("law 5: Ready turned true %d times: %v", turns, p.ready)
	}
	// The first response can have the STATUS from before the change.
	flapped(t, "STATUS", p.status[min(1, len(p.status)):])
	for kind, states := range p.conditions {
		flapped(t, kind, states)
	}
}

func flapped(t testing.TB, what string, states []string) {
	t.Helper()

	runs := slices.Compact(slices.Clone(states))
	for i, state := range runs {
		before := slices.Index(runs[:i], state)
		if before > 0 || before == 0 && i != len(runs)-1 {
			t.Errorf("law 5: %s flapped: %q", what, runs)
		}
	}
}

// turns returns how often Ready turned true.
func (p *phase) turns() int {
	n := 0
	for i := range p.ready {
		if p.ready[i] && (i == 0 || !p.ready[i-1]) {
			n++
		}
	}

	return n
}

func book(text string) object {
	return object{"SUMMARY.md": "# Summary\n\n- [Page](page.md)\n", "page.md": text}
}

func viewOf(spec object) object {
	return object{
		"apiVersion": "markdownview.fn.crossplane.io/v1alpha1",
		"kind":       "MarkdownView",
		"metadata":   object{"name": "sample", "namespace": "docs"},
		"spec":       spec,
	}
}

// TestLife simulates one MarkdownView, and checks what a user sees.
func TestLife(t *testing.T) {
	t.Parallel()

	type want struct {
		status    string
		available string
		degraded  string
		turns     int
		events    []string
	}

	c := newCluster(t, viewOf(object{"markdowns": book("one"), "replicas": 3.0}), nil)
	steps := []struct {
		name   string
		change func()
		want   want
	}{
		{
			name:   "created",
			change: func() {},
			want:   want{status: "Healthy", available: "Available: The book is served", degraded: "AsExpected: No errors found", turns: 1, events: []string{"Available"}},
		},
		{
			name:   "changed text",
			change: func() { c.edit(func(spec object) { spec["markdowns"] = book("two") }) },
			want:   want{status: "Healthy", available: "Available: The book is served", degraded: "AsExpected: No errors found", turns: 1},
		},
		{
			name: "stuck",
			change: func() {
				c.edit(func(spec object) { spec["viewerImage"] = "docker.io/peaceiris/mdbook:broken" })
				rsp := run(t, c.request())
				c.stuck[revisionOf(rsp.GetDesired().GetResources()["deployment"].GetResource().AsMap())] = true
			},
			want: want{
				status:    "Available",
				available: "RollingOut: The book is served while a change rolls out",
				degraded: `ProgressDeadlineExceeded: Run kubectl describe pods -n docs -l app.kubernetes.io/instance=sample: ` +
					`Deployment viewer-sample cannot roll out: ReplicaSet "viewer-0a1b2c3" has timed out progressing`,
				events: []string{"ProgressDeadlineExceeded"},
			},
		},
		{
			name:   "fixed",
			change: func() { c.edit(func(spec object) { delete(spec, "viewerImage") }) },
			want:   want{status: "Healthy", available: "Available: The book is served", degraded: "AsExpected: No errors found", turns: 1},
		},
		{
			name:   "ConfigMap deleted",
			change: func() { c.lose("configmap") },
			want:   want{status: "Healthy", available: "Available: The book is served", degraded: "AsExpected: No errors found", turns: 1, events: []string{"Missing"}},
		},
		{
			name:   "Deployment deleted",
			change: func() { c.lose("deployment") },
			want:   want{status: "Healthy", available: "Available: The book is served", degraded: "AsExpected: No errors found", turns: 1, events: []string{"Missing", "Available"}},
		},
		{
			name: "replicas removed from the spec",
			change: func() {
				c.edit(func(spec object) { delete(spec, "replicas") })
				// After that, nobody owns the field: server-side apply removes it, and an
				// autoscaler sets it.
				c.reconcile()
				c.scale(3)
			},
			want: want{status: "Healthy", available: "Available: The book is served", degraded: "AsExpected: No errors found", turns: 1},
		},
		{
			name:   "scaled to 0",
			change: func() { c.scale(0) },
			want:   want{status: "Healthy", available: "ScaledToZero: The book is not served: the Deployment is scaled to zero", degraded: "AsExpected: No errors found", turns: 1},
		},
		{
			name:   "scaled up again",
			change: func() { c.scale(2) },
			want:   want{status: "Healthy", available: "Available: The book is served", degraded: "AsExpected: No errors found", turns: 1, events: []string{"Available"}},
		},
		{
			name: "no quota",
			change: func() {
				c.quota = true
				c.scale(4)
			},
			want: want{
				status:    "Available",
				available: "RollingOut: The book is served while a change rolls out",
				degraded: `ReplicaFailure: Run kubectl describe replicasets -n docs -l app.kubernetes.io/instance=sample: ` +
					`Deployment viewer-sample cannot roll out: pods "viewer" is forbidden: exceeded quota: pods`,
				events: []string{"ReplicaFailure"},
			},
		},
		{
			name:   "quota raised",
			change: func() { c.quota = false },
			want:   want{status: "Healthy", available: "Available: The book is served", degraded: "AsExpected: No errors found", turns: 1},
		},
		{
			name: "paused",
			change: func() {
				c.pause(true)
				c.edit(func(spec object) { spec["markdowns"] = book("three") })
			},
			want: want{
				status:    "Available",
				available: "RollingOut: The book is served while a change rolls out",
				degraded:  "Paused: Run kubectl rollout resume deployment -n docs viewer-sample: it is paused, so no change rolls out",
				events:    []string{"Paused"},
			},
		},
		{
			name:   "resumed",
			change: func() { c.pause(false) },
			want:   want{status: "Healthy", available: "Available: The book is served", degraded: "AsExpected: No errors found", turns: 1},
		},
	}

	// Each step starts from the state in which the one before it ended.
	for _, step := range steps {
		step.change()
		p := c.settle()
		got := want{
			status:    p.status[len(p.status)-1],
			available: p.conditions["Available"][len(p.conditions["Available"])-1],
			degraded:  p.conditions["Degraded"][len(p.conditions["Degraded"])-1],
			turns:     p.turns(),
			events:    p.events,
		}
		if diff := cmp.Diff(step.want, got, cmp.AllowUnexported(want{})); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", step.name, diff)
		}
	}
}

// TestLifeOfRoute creates MarkdownViews whose resources are applied in several orders. A
// Gateway that finds the route before the Service is not an error.
func TestLifeOfRoute(t *testing.T) {
	t.Parallel()

	before := 0
	for order := range uint64(6) {
		c := newCluster(t, viewOf(object{"markdowns": book("one"), "replicas": 1.0}), object{"route": object{"host": "{name}.example.com", "parentRefs": []any{object{"name": "public"}}}})
		c.calls = order
		c.reconcile()
		if child(c.objects["httproute"], "status")["parents"] != nil {
			before++
		}
		p := c.settle()
		if diff := cmp.Diff([]string{"Available"}, p.events); diff != "" {
			t.Errorf("order %d: events: -want, +got:\n%s", order, diff)
		}
		if diff := cmp.Diff([]string{"AsExpected: No errors found"}, slices.Compact(p.conditions["Degraded"])); diff != "" {
			t.Errorf("order %d: Degraded: -want, +got:\n%s", order, diff)
		}
	}
	if before == 0 {
		t.Error("no order creates the route before the Service")
	}
}

// TestLives simulates MarkdownViews with random changes at random times.
func TestLives(t *testing.T) {
	t.Parallel()

	const lives = 6
	for seed := range uint64(lives) {
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
	c.shared, c.repositories = s.Shared(), map[string]object{"handbook": s.Repository()}
	// Large books have tests of their own: this test is about states.
	c.write(s.Text())
	for range 2 + s.Below(8) {
		c.happen(s)
		if s.Maybe(3) {
			// The next change comes while this one rolls out.
			for range s.Below(6) {
				c.reconcile()
				c.step()
			}

			continue
		}
		c.settle()
	}

	// Whatever has happened, the book is ready at the end.
	clear(c.stuck)
	c.quota = false
	c.shared = s.Shared()
	c.write("the end")
	p := c.settle()
	if !p.ready[len(p.ready)-1] {
		t.Errorf("law 5: not ready at the end: %v", p)
	}
}

// everyImage returns patterns that every image of package sample matches.
func everyImage() []any { return []any{"*/*", "*/*/*", "*/*/*/*"} }

// write changes the text of the book, as a user does.
func (c *cluster) write(text string) {
	c.edit(func(spec object) {
		spec["markdowns"] = book(text)
		if from, ok := spec["markdownsFrom"].([]any); ok && from[0].(object)["configMap"] == nil {
			delete(spec, "markdownsFrom")
		}
	})
}

// happen makes one random change.
func (c *cluster) happen(s *sample.Source) {
	switch s.Below(14) {
	case 10:
		c.edit(func(spec object) {
			delete(spec, "markdowns")
			delete(spec, "binaries")
			delete(spec, "summary")
			spec["markdownsFrom"] = []any{s.BookImage()}
		})
	case 11:
		c.shared = s.Shared()
		c.edit(func(spec object) {
			spec["markdowns"], spec["markdownsFrom"] = book(s.Text()), []any{object{"configMap": object{"name": "guide"}, "path": "shared"}}
		})
	case 12:
		delete(c.shared, "guide")
		delete(c.repositories, "handbook")
	case 13:
		c.repositories["handbook"] = s.Repository()
	case 8:
		c.drain()
	case 9:
		// Crossplane stops while it applies resources.
		c.write(s.Text())
		c.interrupted = 1 + s.Below(3)
		c.reconcile()
		c.interrupted = 0
	case 0:
		c.write(s.Text())
	case 1:
		c.edit(func(spec object) { spec["replicas"] = float64(1 + s.Below(5)) })
	case 2:
		c.edit(func(spec object) { spec["viewerImage"] = s.Image() })
	case 3:
		if len(c.objects) > 0 {
			c.lose(sample.Pick(s, slices.Sorted(maps.Keys(c.objects))...))
		}
	case 4:
		c.quota = !c.quota
	case 5:
		if d, ok := c.objects["deployment"]; ok {
			c.stuck[revisionOf(d)] = !c.stuck[revisionOf(d)]
		}
	case 6:
		if _, ok := c.objects["deployment"]; ok {
			c.scale(float64(s.Below(4)))
		}
	case 7:
		before := c.input
		c.input = s.Input()
		c.input["allowedImages"] = everyImage()
		c.edit(func(object) { sample.Fit(c.xr, c.input) })
		// The namespace of a composed resource is permanent.
		delete(c.input, "namespace")
		if ns, ok := before["namespace"]; ok {
			c.input["namespace"] = ns
		}
	}
}
