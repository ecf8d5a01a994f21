// Package cluster simulates a cluster with one MarkdownView: Crossplane, the API server and the
// controllers. It shows what the function does over time, in milliseconds and in any order.
package cluster

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
)

// A Cluster stores desired resources as the API server does, and creates pods in single steps.
type Cluster struct {
	t    testing.TB
	call func(testing.TB, *fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse

	// XR is the MarkdownView, and Input the Input of its Composition.
	XR, Input Object
	// Objects holds the composed resources by their keys.
	Objects map[string]Object
	// applied is the desired state that was last applied to each object. It shows which
	// fields are no longer desired, and must be removed.
	applied map[string]Object
	// Shared holds the ConfigMaps of the namespace that a spec can name, and Repositories the
	// OCIRepositories, by name.
	Shared, Repositories map[string]Object

	// Pods and Volumes map revisions to their pods, and to the volume with their book.
	Pods    map[string]Pods
	Volumes map[string]Object
	// Pods of Stuck revisions never become available. With Quota, no pod is created.
	Stuck map[string]bool
	Quota bool
	// expired is the revision whose rollout has exceeded its progress deadline.
	expired string

	// served is the ConfigMap of the last completed rollout that the function has
	// observed, with its key and content. Pods that read it must be able to restart
	// until the next rollout is complete. It is nil if somebody deleted it.
	served Object
	// Order is the seed of the order in which resources are applied. Each call has another.
	Order uint64
	// Interrupted is how many resources Crossplane applies before it is stopped. 0 means all.
	Interrupted int
	// Rejected has the kinds of which Kubernetes rejects every change.
	Rejected map[string]bool
	// orphaned is whether somebody has deleted the Deployment without its pods.
	orphaned bool
	// writes counts the changes of objects and of the XR's status.
	writes int
}

// Pods are the pods of a revision, and the files that each available one read when it started.
type Pods struct {
	Total, Available int
	Read             []map[string]string
}

// New returns a cluster with an XR, for which it uses call to call the function.
func New(
	t testing.TB, xr, input Object, call func(testing.TB, *fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse,
) *Cluster {
	t.Helper()
	c := &Cluster{
		t: t, call: call, XR: Clone(xr), Input: input,
		Objects: map[string]Object{}, applied: map[string]Object{},
		Pods: map[string]Pods{}, Volumes: map[string]Object{}, Stuck: map[string]bool{},
	}
	c.stamp(c.XR, "kubectl")
	Metadata(c.XR)["generation"] = 1.0
	Metadata(c.XR)["finalizers"] = []any{"composite.apiextensions.crossplane.io"}
	Child(c.XR, "spec")["crossplane"] = Object{
		"compositionRef":          Object{"name": "markdownview"},
		"compositionRevisionRef":  Object{"name": "markdownview-0a1b2c3"},
		"compositionUpdatePolicy": "Automatic",
	}

	return c
}

// Edit changes the spec of the XR, as a user does.
func (c *Cluster) Edit(change func(spec Object)) {
	change(Child(c.XR, "spec"))
	Metadata(c.XR)["generation"] = Number(Metadata(c.XR)["generation"]) + 1
}

// Scale changes the replicas of the Deployment, as an autoscaler does.
func (c *Cluster) Scale(replicas float64) { c.set("replicas", replicas) }

// Pause pauses or resumes the Deployment, as a user does.
func (c *Cluster) Pause(paused bool) { c.set("paused", paused) }

func (c *Cluster) set(name string, value any) {
	d := c.Objects["deployment"]
	if Child(d, "spec")[name] == value {
		return
	}
	Child(d, "spec")[name] = value
	Metadata(d)["generation"] = Number(Metadata(d)["generation"]) + 1
	c.touch(d)
}

// Stick keeps the pods of the desired revision from becoming available. The first call
// after a change of the text can return another revision.
func (c *Cluster) Stick() {
	c.Reconcile()
	c.Stuck[RevisionOf(c.call(c.t, c.Request()).GetDesired().GetResources()["deployment"].GetResource().AsMap())] = true
}

// Lose deletes a composed resource, and the pods of a Deployment with it.
func (c *Cluster) Lose(key string) {
	if c.served["key"] == key || key == "deployment" {
		c.served = nil
	}
	delete(c.Objects, key)
	delete(c.applied, key)
	if key == "deployment" {
		clear(c.Pods)
	}
}

// Orphan deletes the Deployment without its pods, as kubectl delete --cascade=orphan does.
func (c *Cluster) Orphan() {
	delete(c.Objects, "deployment")
	delete(c.applied, "deployment")
	c.orphaned = true
}

// Drain makes all pods unavailable, as the drain of their nodes does. They start again
// if their ConfigMap still exists.
func (c *Cluster) Drain() {
	for revision, v := range c.Pods {
		v.Available = 0
		c.setPods(revision, v)
	}
	if d, ok := c.Objects["deployment"]; ok {
		c.report(d, RevisionOf(d), int(Number(At(d, "spec", "replicas"))))
	}
}

// read returns the files of a volume, by name. With an error, kubelet cannot mount it.
func (c *Cluster) read(volume Object) (map[string]string, error) {
	files := map[string]string{}
	sources := []any{volume}
	if volume["projected"] != nil {
		sources = ListAt(volume, "projected", "sources")
	}
	for _, source := range sources {
		if At(source, "configMap") == nil {
			continue // An image.
		}
		name := TextAt(source, "configMap", "name")
		texts := TextsIn(c.configMap(name))
		items := ListAt(source, "configMap", "items")
		for _, item := range items {
			text, ok := texts[TextAt(item, "key")]
			if !ok {
				return nil, fmt.Errorf("ConfigMap %s has no key %s", name, TextAt(item, "key"))
			}
			files[TextAt(item, "path")] = text
		}
		if len(items) == 0 {
			maps.Copy(files, texts)
		}
	}

	return files, nil
}

// configMap returns a ConfigMap of the namespace, or nil.
func (c *Cluster) configMap(name string) Object {
	for _, o := range c.Objects {
		if o["kind"] == "ConfigMap" && Metadata(o)["name"] == name {
			return o
		}
	}

	return c.Shared[name]
}

// checkFresh fails the test if a pod serves another text than that of the spec, while all
// resources are ready. mdBook in a pod reads a change only a minute or two after the
// ConfigMap has changed, so a pod counts with the text that it read when it started.
func (c *Cluster) checkFresh() {
	c.t.Helper()

	want := map[string]string{}
	for name := range Child(Clone(Child(c.XR, "spec")), "markdowns") {
		want[name] = TextAt(c.XR, "spec", "markdowns", name)
	}
	for _, from := range ListAt(c.XR, "spec", "markdownsFrom") {
		for key, text := range TextsIn(c.configMap(TextAt(from, "configMap", "name"))) {
			want[path.Join(TextAt(from, "path"), key)] = text
		}
	}
	for revision, p := range c.Pods {
		for _, files := range p.Read {
			for name := range want {
				if files[name] != want[name] {
					c.t.Errorf("ready, and a pod of revision %s serves another %s: want %.40q, got %.40q",
						revision, name, want[name], files[name])
				}
			}
		}
	}
}

// recordServed sets served.
func (c *Cluster) recordServed() {
	read := map[string]bool{}
	for revision, v := range c.Pods {
		read[configMapOf(c.Volumes[revision])] = read[configMapOf(c.Volumes[revision])] || v.Total > 0
	}
	if c.served != nil && !read[TextAt(c.served, "metadata", "name")] {
		c.served = nil
	}
	d, ok := c.Objects["deployment"]
	if !ok || !complete(d) {
		return
	}
	c.served = nil
	for key, o := range c.Objects {
		if o["kind"] == "ConfigMap" && Metadata(o)["name"] == configMapOf(VolumeIn(d)) {
			c.served = Clone(o)
			c.served["key"] = key
		}
	}
}

// checkServed fails the test if served has been deleted or changed, unless the
// ConfigMap changes in place by design.
func (c *Cluster) checkServed() {
	c.t.Helper()

	key := TextAt(c.served, "key")
	if key == "configmap" && c.Input["immutableConfigMaps"] != true && c.Input["server"] == nil {
		c.served = nil // It changes in place.
	}
	if c.served == nil {
		return
	}
	for _, name := range []string{"data", "binaryData"} {
		if diff := cmp.Diff(c.served[name], c.Objects[key][name]); diff != "" {
			c.t.Errorf("law 5: %s of ConfigMap %s, which pods serve: -want, +got:\n%s", name, key, diff)
		}
	}
}

// Texts returns the text of a file in each of our ConfigMaps that exist.
func (c *Cluster) Texts(file string) []string {
	var out []string
	for _, o := range c.Objects {
		if o["kind"] == "ConfigMap" {
			out = append(out, TextAt(o, "data", file))
		}
	}
	slices.Sort(out)

	return out
}
