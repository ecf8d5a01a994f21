package fn_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/test/cluster"
)

// available returns how many pods are available, and how many of them read a text.
func available(c *cluster.Cluster, text string) (all, reading int) {
	for _, p := range c.Pods {
		all += p.Available
		for _, files := range p.Read {
			if files["page.md"] == text {
				reading++
			}
		}
	}

	return all, reading
}

// TestImmutableConfigMaps simulates a MarkdownView with immutableConfigMaps.
func TestImmutableConfigMaps(t *testing.T) {
	t.Parallel()

	c := sharing(t, object{"markdowns": book("A"), "replicas": 3.0}, inputWith(object{"immutableConfigMaps": true}), nil)
	text := func(text string) func() {
		return func() { c.Edit(func(spec object) { spec["markdowns"] = book(text) }) }
	}
	broken := func(name string) func() {
		return func() {
			text(name)()
			c.Stick()
		}
	}

	// restarted makes a change and drains the nodes.
	restarted := func(changes ...func()) func() {
		return func() {
			for _, change := range changes {
				change()
			}
			c.Reconcile()
			c.Drain()
		}
	}

	for _, step := range []struct {
		reason string
		change func()
		// texts lists the texts that exist, and serves is the text that all pods serve,
		// when the cluster has settled. It is empty if they serve several.
		texts  []string
		serves string
	}{
		{"The first text has a ConfigMap", func() {}, []string{"A"}, "A"},
		{"The ConfigMap of a text is deleted when no pod reads it", text("B"), []string{"B"}, "B"},
		{"The previous text stays if a change never becomes ready", broken("C"), []string{"B", "C"}, "B"},
		{"Rescheduled pods start again with the previous text", c.Drain, []string{"B", "C"}, "B"},
		{"The texts of changes that did not roll out are deleted", func() {
			for _, name := range []string{"D", "E", "F"} {
				broken(name)()
				c.Reconcile()
				c.Step()
			}
		}, []string{"B", "F"}, "B"},
		{"Rescheduled pods still start again", c.Drain, []string{"B", "F"}, "B"},
		{"Reverting the text rolls out the text that pods serve", text("B"), []string{"B"}, "B"},
		{"Reverting to a text whose ConfigMap was deleted creates it again", text("A"), []string{"A"}, "A"},
		{"A mutable ConfigMap replaces the immutable one", func() { c.Input = nil }, []string{"A"}, "A"},
		{"The mutable ConfigMap changes in place", text("G"), []string{"G"}, "G"},
		{"The mutable ConfigMap stays until pods serve the immutable one", func() {
			c.Input = inputWith(object{"immutableConfigMaps": true})
			broken("H")()
		}, []string{"G", "H"}, "G"},
		{"Pods of the mutable ConfigMap start again with the text that they served", c.Drain, []string{"G", "H"}, "G"},
		{"An immutable ConfigMap replaces the mutable one", text("I"), []string{"I"}, "I"},
		{"The immutable ConfigMap stays until pods serve the mutable one", func() {
			c.Input = nil
			broken("J")()
		}, []string{"I", "J"}, "I"},
		{"Pods of the immutable ConfigMap start again", c.Drain, []string{"I", "J"}, "I"},
		{"The mutable ConfigMap changes in place again", text("K"), []string{"K"}, "K"},
		{"A web server has immutable ConfigMaps", func() {
			c.Input = inputWith(object{"server": object{}})
			broken("L")()
		}, []string{"K", "L"}, "K"},
		{"Somebody deletes the Deployment, but not its pods", restarted(c.Orphan), []string{"K", "L"}, ""},
		{"The text changes before pods serve", restarted(broken("M"), func() { c.Settle() }), []string{"K", "L", "M"}, ""},
		{"The text changes together with that", restarted(c.Orphan, text("N")), []string{"N"}, "N"},
	} {
		step.change()
		c.Settle()
		if diff := cmp.Diff(step.texts, c.Texts("page.md")); diff != "" {
			t.Errorf("%s: texts that exist: -want, +got:\n%s", step.reason, diff)
		}
		if all, serving := available(c, step.serves); all != 3 || serving != 3 && step.serves != "" {
			t.Errorf("%s: want three pods that serve %q, got %d of %d", step.reason, step.serves, serving, all)
		}
	}
}

// TestImmutableConfigMapsKept checks that a text is kept that some pods serve, although no
// rollout of it was complete when the function was called.
func TestImmutableConfigMapsKept(t *testing.T) {
	c := sharing(t, object{"markdowns": book("A"), "replicas": 3.0}, inputWith(object{"immutableConfigMaps": true}), nil)
	change := func(text string, want ...string) {
		c.Edit(func(spec object) { spec["markdowns"] = book(text) })
		c.Reconcile()
		if diff := cmp.Diff(want, c.Texts("page.md")); diff != "" {
			t.Errorf("texts that exist: -want, +got:\n%s", diff)
		}
	}
	for all, n := 0, 0; all == 0 && n < 100; n++ {
		c.Reconcile()
		c.Step()
		all, _ = available(c, "A")
	}
	change("B", "A", "B")
	c.Settle()
	change("C", "B", "C")
	for c.Step() {
		continue
	}
	// The rollout is complete, and loses an available pod, between two calls.
	c.Scale(4)
	c.Step()
	change("D", "C", "D")
}

// TestKeyOfOthers checks that another function can use the key of the mutable ConfigMap if the
// function does not.
func TestKeyOfOthers(t *testing.T) {
	c := newCluster(t, viewOf(object{"markdowns": book("text")}), inputWith(object{"immutableConfigMaps": true}))
	req := c.Request()
	req.Desired = toState(t, "configmap", object{"apiVersion": "example.com/v1", "kind": "Bucket"})
	if rsp := checkLaws(t, req); isFatal(rsp) {
		t.Errorf("want no error, got %v", rsp.GetResults())
	}
}
