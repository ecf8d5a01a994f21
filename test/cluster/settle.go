package cluster

import (
	"slices"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
)

// A Phase is what the function reports from a change until the cluster has settled.
type Phase struct {
	ready      []bool
	status     []string
	conditions map[string][]string
	// Events has the reasons of the results.
	Events []string
}

// Settle calls the function after every step of the controllers until nothing changes
// any more, and checks law 5 for the responses.
func (c *Cluster) Settle() Phase {
	c.t.Helper()

	const most = 200
	p := Phase{conditions: map[string][]string{}}
	for range most {
		rsp := c.Reconcile()
		p.add(rsp)
		if IsFatal(rsp) {
			return p
		}
		if !c.Step() && c.quiet() {
			p.check(c.t)

			return p
		}
	}
	c.t.Fatalf("law 5: not settled after %d steps", most)

	return p
}

// quiet returns whether another call of the function changes nothing.
func (c *Cluster) quiet() bool {
	c.t.Helper()

	writes := c.writes
	first := c.Reconcile()
	if c.writes != writes {
		return false
	}
	if len(first.GetResults()) > 0 {
		c.t.Errorf("law 5: events while nothing changes: %v", first.GetResults())
	}
	if second := c.Reconcile(); !proto.Equal(first, second) {
		c.t.Errorf("law 5: two responses to one state: -first, +second:\n%s", cmp.Diff(first, second, protocmp.Transform()))
	}

	return true
}

func (p *Phase) add(rsp *fnv1.RunFunctionResponse) {
	for _, c := range rsp.GetConditions() {
		p.conditions[c.GetType()] = append(p.conditions[c.GetType()], c.GetReason()+": "+c.GetMessage())
	}
	for _, r := range rsp.GetResults() {
		p.Events = append(p.Events, r.GetReason())
	}
	if IsFatal(rsp) {
		return
	}
	ready := true
	for _, r := range rsp.GetDesired().GetResources() {
		ready = ready && r.GetReady() == fnv1.Ready_READY_TRUE
	}
	p.ready = append(p.ready, ready)
	p.status = append(p.status, TextAt(rsp.GetDesired().GetComposite().GetResource().AsMap(), "status", "status"))
}

// check fails the test if a state flapped. Only the first state can return, and only at
// the end. Ready turns true at most once.
func (p *Phase) check(t testing.TB) {
	t.Helper()
	if runs := slices.Compact(slices.Clone(p.ready)); len(runs) > 3 || len(runs) == 3 && !runs[0] {
		t.Errorf("law 5: Ready turned false again, or true twice: %v", p.ready)
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

// Turns returns how often Ready turned true.
func (p *Phase) Turns() int {
	runs := slices.Compact(slices.Clone(p.ready))
	return len(slices.DeleteFunc(runs, func(ready bool) bool { return !ready }))
}

// Ready returns whether the MarkdownView is ready at the end.
func (p *Phase) Ready() bool { return len(p.ready) > 0 && p.ready[len(p.ready)-1] }

// EverReady returns whether the MarkdownView was ready.
func (p *Phase) EverReady() bool { return slices.Contains(p.ready, true) }

// Status returns the last STATUS.
func (p *Phase) Status() string { return p.status[len(p.status)-1] }

// Condition returns the last reason and message of a condition.
func (p *Phase) Condition(kind string) string { return p.conditions[kind][len(p.conditions[kind])-1] }
