package fn_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/test/cluster"
)

// TestFresh checks that pods start with the text of their revision, if Crossplane applies
// the Deployment before the ConfigMap, or cannot apply the ConfigMap for a while. The
// simulated cluster checks that a book that is ready is the book of the spec.
func TestFresh(t *testing.T) {
	t.Parallel()

	text := func(spec object) { spec["markdowns"] = book("B") }
	nested := func(names ...string) func(spec object) {
		files := book("text")
		for _, name := range names {
			files[name] = name
			files["SUMMARY.md"] = files["SUMMARY.md"].(string) + "- [More](" + name + ")\n"
		}

		return func(spec object) { spec["markdowns"] = files }
	}
	auto := func(text string) func(spec object) {
		return func(spec object) { spec["markdowns"], spec["summary"] = object{"page.md": text}, "Auto" }
	}
	and := func(change func(spec object)) func(spec object) {
		return func(spec object) {
			change(spec)
			spec["viewerImage"] = "docker.io/peaceiris/mdbook:v1"
		}
	}
	extra := object{"templates": object{"configMap": data(object{"extra.md": "extra"})}}
	for name, tc := range map[string]struct {
		reason string
		// before changes the spec of a small book. It is nil if it changes nothing.
		before, change func(spec object)
		input          object
		// started is how many pods of another revision start while the ConfigMap cannot be
		// applied.
		started int
		// revisions is how many revisions of the Deployment exist while the ConfigMap
		// cannot be applied, and after it was: each one costs a ReplicaSet.
		revisions [2]int
	}{
		"Text": {
			reason: "The Deployment keeps its revision until the ConfigMap has the text",
			change: text, revisions: [2]int{1, 2},
		},
		"Image": {
			reason: "Another change rolls out with the earlier text",
			change: and(text), started: 2, revisions: [2]int{2, 3},
		},
		"RemovedFile": {
			reason: "A file that is removed counts as a change, too",
			before: nested("more.md"), change: nested(), revisions: [2]int{1, 2},
		},
		"AddedToFolder": {
			reason: "Pods wait for a file that the ConfigMap lacks",
			before: nested("a/b.md"), change: nested("a/b.md", "a/c.md"), revisions: [2]int{2, 2},
		},
		"RemovedFromFolder": {
			reason: "The pod template lists the files of folders, so it changes, too",
			before: nested("a/b.md", "a/c.md"), change: nested("a/b.md"), started: 2, revisions: [2]int{2, 3},
		},
		"GeneratedSummary": {
			reason: "The earlier SUMMARY.md is not used again",
			before: auto("# A"), change: auto("# B"), revisions: [2]int{1, 2},
		},
		"GeneratedInstead": {
			reason: "SUMMARY.md of the earlier text is not taken for a generated one",
			change: auto("A"), revisions: [2]int{1, 2},
		},
		"GeneratedInsteadAndImage": {
			reason: "SUMMARY.md of the earlier text is not taken for a generated one, if pods start with it",
			change: and(auto("A")), started: 2, revisions: [2]int{2, 3},
		},
		"Template": {
			reason: "A file of a template is part of the text",
			input:  inputWith(extra), change: text, revisions: [2]int{1, 2},
		},
		"Immutable": {
			reason: "Pods wait for an immutable ConfigMap",
			input:  inputWith(object{"immutableConfigMaps": true}), change: text, revisions: [2]int{2, 2},
		},
		"Server": {
			reason: "Pods of a web server wait for the ConfigMap of their text",
			input:  inputWith(object{"server": object{}}), change: text, revisions: [2]int{2, 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			spec := object{"markdowns": book("A"), "replicas": 2.0}
			if tc.before != nil {
				tc.before(spec)
			}
			c := newCluster(t, viewOf(spec), tc.input)
			c.Settle()
			first := revisionOf(c.Objects["deployment"])

			c.Edit(tc.change)
			c.Rejected = map[string]bool{"ConfigMap": true}
			if p := c.Settle(); p.EverReady() || !strings.HasPrefix(p.Condition("Degraded"), "ApplyFailed: ") {
				t.Errorf("%s: want ApplyFailed, and not ready, while the ConfigMap cannot be applied, got %v", tc.reason, p)
			}
			revisions, started := [2]int{len(c.Volumes)}, 0
			for revision, pods := range c.Pods {
				if revision != first {
					started += pods.Available
				}
			}
			if started != tc.started {
				t.Errorf("%s: pods that start meanwhile: want %d, got %d", tc.reason, tc.started, started)
			}

			c.Rejected = nil
			if p := c.Settle(); p.Turns() != 1 || len(p.Events) > 0 {
				t.Errorf("%s: want ready once, without events, got %v", tc.reason, p)
			}
			if revisions[1] = len(c.Volumes); revisions != tc.revisions {
				t.Errorf("%s: revisions of the Deployment: want %v, got %v", tc.reason, tc.revisions, revisions)
			}
			created := newCluster(t, c.XR, tc.input)
			created.Settle()
			if diff := cmp.Diff(read(created), read(c)); diff != "" {
				t.Errorf("%s: files of pods: -of a book that is created with the same spec, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// read returns the files that each pod of the Deployment read when it started.
func read(c *cluster.Cluster) []map[string]string {
	return c.Pods[revisionOf(c.Objects["deployment"])].Read
}
