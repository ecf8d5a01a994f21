package fn_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crossplane-contrib/function-markdownview/test/sample"
)

// inputWith returns an Input with some fields.
func inputWith(fields object) object {
	in := object{"apiVersion": "markdownview.fn.crossplane.io/v1beta1", "kind": "Input"}
	mergeInto(in, fields)

	return in
}

// texts returns the text of page.md in each existing ConfigMap.
func (c *cluster) texts() []string {
	var out []string
	for key, o := range c.objects {
		if isText(key) {
			text, _ := child(o, "data")["page.md"].(string)
			out = append(out, text)
		}
	}
	slices.Sort(out)

	return out
}

// available returns how many pods are available, and how many of them read a text.
func (c *cluster) available(text string) (all, reading int) {
	for revision, v := range c.pods {
		all += v.available
		for _, o := range c.objects {
			if o["kind"] == "ConfigMap" && metadata(o)["name"] == c.configMaps[revision] && child(o, "data")["page.md"] == text {
				reading += v.available
			}
		}
	}

	return all, reading
}

// TestImmutableConfigMaps simulates a MarkdownView with immutableConfigMaps.
func TestImmutableConfigMaps(t *testing.T) {
	t.Parallel()

	c := newCluster(t, viewOf(object{"markdowns": book("A"), "replicas": 3.0}), inputWith(object{"immutableConfigMaps": true}))
	text := func(text string) func() {
		return func() { c.edit(func(spec object) { spec["markdowns"] = book(text) }) }
	}
	broken := func(name string) func() {
		return func() {
			text(name)()
			c.stick()
		}
	}

	for _, step := range []struct {
		reason string
		change func()
		// texts lists the texts that exist, and serves is the text that all pods serve,
		// when the cluster has settled.
		texts  []string
		serves string
	}{
		{"The first text has a ConfigMap", func() {}, []string{"A"}, "A"},
		{"The ConfigMap of a text is deleted when no pod reads it", text("B"), []string{"B"}, "B"},
		{"The previous text stays if a change never becomes ready", broken("C"), []string{"B", "C"}, "B"},
		{"Pods that are rescheduled during a broken change start again with the previous text", c.drain, []string{"B", "C"}, "B"},
		{"The texts of changes that did not roll out are deleted", func() {
			for _, name := range []string{"D", "E", "F"} {
				broken(name)()
				c.reconcile()
				c.step()
			}
		}, []string{"B", "F"}, "B"},
		{"Rescheduled pods still start again", c.drain, []string{"B", "F"}, "B"},
		{"Reverting the text rolls out the text that pods serve", text("B"), []string{"B"}, "B"},
		{"Reverting to a text whose ConfigMap was deleted creates it again", text("A"), []string{"A"}, "A"},
		{"A mutable ConfigMap replaces the immutable one", func() { c.input = nil }, []string{"A"}, "A"},
		{"The mutable ConfigMap changes in place", text("G"), []string{"G"}, "G"},
		{"The mutable ConfigMap stays until pods serve the immutable one", func() {
			c.input = inputWith(object{"immutableConfigMaps": true})
			broken("H")()
		}, []string{"G", "H"}, "G"},
		{"Pods of the mutable ConfigMap start again with the text that they served", c.drain, []string{"G", "H"}, "G"},
		{"An immutable ConfigMap replaces the mutable one", text("I"), []string{"I"}, "I"},
		{"The immutable ConfigMap stays until pods serve the mutable one", func() {
			c.input = nil
			broken("J")()
		}, []string{"I", "J"}, "I"},
		{"Pods of the immutable ConfigMap start again", c.drain, []string{"I", "J"}, "I"},
		{"The mutable ConfigMap changes in place again", text("K"), []string{"K"}, "K"},
	} {
		step.change()
		c.settle()
		if diff := cmp.Diff(step.texts, c.texts()); diff != "" {
			t.Errorf("%s: texts that exist: -want, +got:\n%s", step.reason, diff)
		}
		if all, serving := c.available(step.serves); all != 3 || serving != 3 {
			t.Errorf("%s: want three pods that serve %q, got %d of %d", step.reason, step.serves, serving, all)
		}
	}
}

// TestImmutableConfigMapsBeforeFirstRollout checks that a text that some pods already
// serve is kept if the spec changes before the first rollout is complete.
func TestImmutableConfigMapsBeforeFirstRollout(t *testing.T) {
	c := newCluster(t, viewOf(object{"markdowns": book("A"), "replicas": 3.0}), inputWith(object{"immutableConfigMaps": true}))
	for all := 0; all == 0; all, _ = c.available("A") {
		c.reconcile()
		c.step()
	}
	c.edit(func(spec object) { spec["markdowns"] = book("B") })
	c.reconcile()
	if diff := cmp.Diff([]string{"A", "B"}, c.texts()); diff != "" {
		t.Errorf("texts that exist: -want, +got:\n%s", diff)
	}
}

// TestImmutableConfigMapsUnobservedRollout checks that a text is kept if its rollout
// completed, and then lost an available pod, between two calls of the function.
func TestImmutableConfigMapsUnobservedRollout(t *testing.T) {
	c := newCluster(t, viewOf(object{"markdowns": book("A"), "replicas": 3.0}), inputWith(object{"immutableConfigMaps": true}))
	c.settle()
	c.edit(func(spec object) { spec["markdowns"] = book("B") })
	c.reconcile()
	for c.step() {
		continue
	}
	c.scale(4)
	c.step()
	c.edit(func(spec object) { spec["markdowns"] = book("C") })
	c.reconcile()
	if diff := cmp.Diff([]string{"B", "C"}, c.texts()); diff != "" {
		t.Errorf("texts that exist: -want, +got:\n%s", diff)
	}
}

// TestImmutableLives simulates random MarkdownViews, most of the time with
// immutableConfigMaps.
func TestImmutableLives(t *testing.T) {
	t.Parallel()

	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s := sample.Random(1000 + seed)
			c := newCluster(t, viewOf(object{"markdowns": book("start"), "replicas": float64(1 + s.Below(4))}), nil)
			for range 8 {
				c.input = inputWith(object{"immutableConfigMaps": !s.Maybe(3)})
				for range 1 + s.Below(3) {
					c.edit(func(spec object) { spec["markdowns"] = book(s.Text()) })
					if s.Maybe(2) {
						c.stick()
					}
					c.interrupted = s.Below(4)
					c.reconcile()
					c.interrupted = 0
					for range s.Below(6) {
						c.reconcile()
						c.step()
					}
				}
				if s.Maybe(2) {
					c.drain()
				}
				c.settle()
			}
		})
	}
}

// TestImmutableConfigMapNames checks that an immutable ConfigMap has a valid name,
// which no other MarkdownView of the namespace can have.
func TestImmutableConfigMapNames(t *testing.T) {
	for _, name := range []string{"a", strings.Repeat("a", 253), strings.Repeat("a", 56), "a.b", "1"} {
		view := viewOf(object{"markdowns": book("text")})
		metadata(view)["name"] = name
		rsp := checkLaws(t, newCluster(t, view, inputWith(object{"immutableConfigMaps": true})).request())
		r := rsp.GetDesired().GetResources()[textOf(rsp)]
		got := nameAndInstance(r)[0]
		if details := validation.IsDNS1123Subdomain(got); len(details) > 0 {
			t.Errorf("law 6: name %q of a ConfigMap: %v", got, details)
		}
		// An XR with this name must not have the same ConfigMap.
		before, _ := strings.CutPrefix(got, "markdowns-")
		if other := nameAndInstance(composedOf(t, strings.TrimPrefix(before, "-"))["configmap"])[0]; other == got {
			t.Errorf("law 6: XRs %q and %q both have ConfigMap %s", name, before, got)
		}
	}
}

// TestImmutableConflict checks that a resource of another function with the key of
// an immutable ConfigMap is not lost.
func TestImmutableConflict(t *testing.T) {
	c := newCluster(t, viewOf(object{"markdowns": book("text")}), inputWith(object{"immutableConfigMaps": true}))
	key := textOf(run(t, c.request()))
	req := c.request()
	req.Desired = toState(t, key, object{"apiVersion": "example.com/v1", "kind": "Bucket"})
	if rsp := checkLaws(t, req); !isFatal(rsp) || rsp.GetResults()[0].GetReason() != "PipelineConflict" {
		t.Errorf("want a PipelineConflict, got %v", rsp.GetResults())
	}
	req.Desired = toState(t, "configmap", object{"apiVersion": "example.com/v1", "kind": "Bucket"})
	if rsp := run(t, req); isFatal(rsp) {
		t.Errorf("want no error for a key that the function does not use, got %v", rsp.GetResults())
	}
}
