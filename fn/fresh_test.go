package fn_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/test/sample"
)

// TestFresh checks that pods start with the text of their revision, if Crossplane applies
// the Deployment before the ConfigMap, or cannot apply the ConfigMap for a while. The
// simulated cluster checks that a book that is ready is the book of the spec.
func TestFresh(t *testing.T) {
	t.Parallel()

	text := func(text string) func(spec object) { return func(spec object) { spec["markdowns"] = book(text) } }
	nested := func(names ...string) object {
		files := object{"SUMMARY.md": "# Summary\n\n- [Page](page.md)\n", "page.md": "text"}
		for _, name := range names {
			files[name] = name
			files["SUMMARY.md"] = files["SUMMARY.md"].(string) + "- [More](" + name + ")\n"
		}

		return files
	}
	cases := map[string]struct {
		reason string
		spec   object
		input  object
		change func(spec object)
		// started is how many pods of another revision start while the ConfigMap cannot be
		// applied.
		started int
		// revisions is how many revisions of the Deployment exist while the ConfigMap
		// cannot be applied, and after it was: each one costs a ReplicaSet.
		revisions []int
	}{
		"Text": {
			reason: "The Deployment keeps its revision until the ConfigMap has the text",
			change: text("B"), revisions: []int{1, 2},
		},
		"Image": {
			reason: "Another change rolls out with the earlier text",
			change: func(spec object) { spec["markdowns"], spec["viewerImage"] = book("B"), "docker.io/peaceiris/mdbook:v1" }, started: 2, revisions: []int{2, 3},
		},
		"RemovedFile": {
			reason: "A file that is removed counts as a change, too",
			spec:   object{"markdowns": object{"SUMMARY.md": "- [Page](page.md)", "page.md": "A", "more.md": ""}},
			change: func(spec object) { delete(spec["markdowns"].(object), "more.md") }, revisions: []int{1, 2},
		},
		"AddedToFolder": {
			reason: "Pods wait for a file that the ConfigMap lacks",
			spec:   object{"markdowns": nested("a/b.md")}, change: func(spec object) { spec["markdowns"] = nested("a/b.md", "a/c.md") }, revisions: []int{2, 2},
		},
		"RemovedFromFolder": {
			reason: "The pod template lists the files of folders, so it changes, too",
			spec:   object{"markdowns": nested("a/b.md", "a/c.md")}, change: func(spec object) { spec["markdowns"] = nested("a/b.md") }, started: 2, revisions: []int{2, 3},
		},
		"GeneratedSummary": {
			reason: "The earlier SUMMARY.md is not used again",
			spec:   object{"markdowns": object{"page.md": "# A"}, "summary": "Auto"}, change: func(spec object) { spec["markdowns"] = object{"page.md": "# B"} }, revisions: []int{1, 2},
		},
		"SummaryGeneratedInstead": {
			reason: "SUMMARY.md of the earlier text is not taken for a generated one",
			change: func(spec object) { spec["markdowns"], spec["summary"] = object{"page.md": "A"}, "Auto" }, revisions: []int{1, 2},
		},
		"SummaryGeneratedInsteadAndImage": {
			reason: "SUMMARY.md of the earlier text is not taken for a generated one, if pods start with it",
			change: func(spec object) {
				spec["markdowns"], spec["summary"], spec["viewerImage"] = object{"page.md": "A"}, "Auto", "docker.io/peaceiris/mdbook:v1"
			},
			started: 2, revisions: []int{2, 3},
		},
		"Template": {
			reason: "A file of a template is part of the text",
			input:  inputWith(object{"templates": object{"configMap": object{"data": object{"extra.md": "extra"}}}}), change: text("B"), revisions: []int{1, 2},
		},
		"Immutable": {
			reason: "Pods wait for an immutable ConfigMap",
			input:  inputWith(object{"immutableConfigMaps": true}), change: text("B"), revisions: []int{2, 2},
		},
		"Server": {
			reason: "Pods of a web server wait for the ConfigMap of their text",
			input:  inputWith(object{"server": object{}}), change: text("B"), revisions: []int{2, 2},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			spec := object{"markdowns": book("A"), "replicas": 2.0}
			mergeInto(spec, tc.spec)
			c := newCluster(t, viewOf(spec), tc.input)
			c.settle()
			first := revisionOf(c.objects["deployment"])

			c.edit(tc.change)
			c.rejected = map[string]bool{"ConfigMap": true}
			p := c.settle()
			if slices.Contains(p.ready, true) {
				t.Errorf("\n%s\nwant not ready while the ConfigMap cannot be applied, got %v", tc.reason, p.ready)
			}
			if degraded := p.conditions["Degraded"]; !strings.HasPrefix(degraded[len(degraded)-1], "ApplyFailed: ") {
				t.Errorf("\n%s\nDegraded while the ConfigMap cannot be applied: want ApplyFailed, got %v", tc.reason, degraded)
			}
			revisions, started := []int{len(c.volumes)}, 0
			for revision, pods := range c.pods {
				if revision != first {
					started += pods.available
				}
			}
			if started != tc.started {
				t.Errorf("\n%s\npods of another revision that start while the ConfigMap cannot be applied: want %d, got %d", tc.reason, tc.started, started)
			}

			c.rejected = nil
			if p := c.settle(); p.turns() != 1 || len(p.events) > 0 {
				t.Errorf("\n%s\nwant ready once, without events, got %v and %v", tc.reason, p.ready, p.events)
			}
			created := newCluster(t, c.xr, tc.input)
			created.settle()
			if diff := cmp.Diff(created.files(), c.files()); diff != "" {
				t.Errorf("\n%s\nfiles of pods: -of a book that is created with the same spec, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.revisions, append(revisions, len(c.volumes))); diff != "" {
				t.Errorf("\n%s\nrevisions of the Deployment: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// files returns the files that each pod of the Deployment read when it started.
func (c *cluster) files() []map[string]string {
	return c.pods[revisionOf(c.objects["deployment"])].read
}

// TestFreshLives simulates random changes of books. Crossplane stops before it has applied
// all resources, or Kubernetes rejects ConfigMaps or Deployments for a while.
func TestFreshLives(t *testing.T) {
	t.Parallel()

	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s := sample.Random(2000 + seed)
			c := newCluster(t, viewOf(object{"replicas": float64(1 + s.Below(3)), "markdownsFrom": []any{object{"configMap": object{"name": "guide"}, "path": "guide"}}}), nil)
			for n := range 16 {
				// All texts differ, so that the text of a pod shows when it started.
				c.shared = map[string]object{"guide": data(object{"a.md": fmt.Sprintf("guide %d", n/3)})}
				c.edit(func(spec object) { spec["markdowns"] = book(fmt.Sprintf("text %d", n)) })
				switch s.Below(12) {
				case 0:
					c.input = nil
				case 1:
					c.input = inputWith(object{"server": object{}})
				case 2:
					c.input = inputWith(object{"immutableConfigMaps": true})
				case 3:
					c.edit(func(spec object) { spec["viewerImage"] = fmt.Sprintf("docker.io/peaceiris/mdbook:v%d", s.Below(3)) })
				case 4:
					c.edit(func(spec object) { spec["markdowns"].(object)[sample.Pick(s, "b.md", "c/d.md")] = "more" })
				case 5:
					c.edit(func(spec object) { spec["summary"] = sample.Pick(s, "Auto", "Required") })
				case 6:
					if c.objects["deployment"] != nil {
						c.orphan()
					}
				case 7:
					if len(c.objects) > 0 {
						c.lose(sample.Pick(s, slices.Sorted(maps.Keys(c.objects))...))
					}
				case 8:
					c.stick()
				case 9:
					c.drain()
				}
				c.rejected = map[string]bool{sample.Pick(s, "ConfigMap", "ConfigMap", "Deployment", "none"): true}
				c.interrupted = s.Below(4)
				for range s.Below(3) {
					c.reconcile()
					c.step()
				}
				c.rejected, c.interrupted = nil, 0
				for range s.Below(3) * 8 {
					c.reconcile()
					c.step()
				}
			}
			clear(c.stuck)
			if p := c.settle(); !p.ready[len(p.ready)-1] {
				t.Errorf("not ready at the end: %v", p)
			}
		})
	}
}

// TestOrphanedPods checks that pods can start again if somebody deletes the Deployment, but
// not its pods, while a change rolls out.
func TestOrphanedPods(t *testing.T) {
	t.Parallel()

	c := newCluster(t, viewOf(object{"markdowns": book("A"), "replicas": 3.0}), inputWith(object{"server": object{}}))
	c.settle()
	change := func(text string) {
		c.edit(func(spec object) { spec["markdowns"] = book(text) })
		c.stick()
		c.settle()
	}
	change("B")
	for _, step := range []struct {
		reason string
		change func()
		// texts lists the texts that exist when the cluster has settled.
		texts []string
	}{
		{"The Deployment is deleted", c.orphan, []string{"A", "B"}},
		{"The text changes before pods serve", func() { change("C") }, []string{"A", "B", "C"}},
		{"The Deployment is deleted, and the text changes before the next call", func() {
			c.orphan()
			c.edit(func(spec object) { spec["markdowns"] = book("D") })
		}, []string{"D"}},
	} {
		step.change()
		c.reconcile()
		c.drain()
		c.settle()
		if all, _ := c.available(""); all != 3 {
			t.Errorf("%s: want three pods that serve, got %d", step.reason, all)
		}
		if diff := cmp.Diff(step.texts, c.texts()); diff != "" {
			t.Errorf("%s: texts that exist: -want, +got:\n%s", step.reason, diff)
		}
	}
}
