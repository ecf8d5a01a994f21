package cluster

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// Request returns the request that Crossplane sends to the function.
func (c *Cluster) Request() *fnv1.RunFunctionRequest {
	req := &fnv1.RunFunctionRequest{
		Meta:     &fnv1.RequestMeta{Tag: "tag"},
		Observed: &fnv1.State{Resources: map[string]*fnv1.Resource{}},
		Desired:  &fnv1.State{},
		Context:  &structpb.Struct{},
	}
	req.Observed.Composite = &fnv1.Resource{Resource: Struct(c.t, c.XR)}
	if c.Input != nil {
		req.Input = Struct(c.t, c.Input)
	}
	for key, o := range c.Objects {
		req.Observed.Resources[key] = &fnv1.Resource{Resource: Struct(c.t, o)}
	}
	c.require(req)

	return req
}

// require adds the resources that the spec names, as Crossplane does when it calls
// the function again.
func (c *Cluster) require(req *fnv1.RunFunctionRequest) {
	for _, source := range Sources(Child(c.XR, "spec")) {
		req.Meta.Capabilities = []fnv1.Capability{
			fnv1.Capability_CAPABILITY_CAPABILITIES, fnv1.Capability_CAPABILITY_REQUIRED_RESOURCES,
		}
		if req.RequiredResources == nil {
			req.RequiredResources = map[string]*fnv1.Resources{}
		}
		all := c.Shared
		if source.Kind == "OCIRepository" {
			all = c.Repositories
		}
		req.RequiredResources[source.Key()] = &fnv1.Resources{}
		if o, ok := all[source.Name]; ok {
			r := Object{
				"apiVersion": source.APIVersion, "kind": source.Kind,
				"metadata": Object{"name": source.Name, "namespace": NamespaceOf(c.XR, c.Input)},
			}
			Merge(r, o)
			req.RequiredResources[source.Key()].Items = []*fnv1.Resource{{Resource: Struct(c.t, r)}}
		}
	}
}

// A Source is a resource that spec.markdownsFrom names.
type Source struct{ APIVersion, Kind, Name string }

// Key returns the name of the requirement.
func (s Source) Key() string { return strings.ToLower(s.Kind) + "/" + s.Name }

// Sources returns the resources that spec.markdownsFrom names.
func Sources(spec Object) []Source {
	var all []Source
	for _, from := range ListAt(spec, "markdownsFrom") {
		if name := TextAt(from, "configMap", "name"); name != "" {
			all = append(all, Source{"v1", "ConfigMap", name})
		}
		if name := TextAt(from, "ociRepository", "name"); name != "" {
			all = append(all, Source{"source.toolkit.fluxcd.io/v1", "OCIRepository", name})
		}
	}

	return all
}

// Reconcile calls the function and handles the response as Crossplane does.
func (c *Cluster) Reconcile() *fnv1.RunFunctionResponse {
	c.t.Helper()

	c.recordServed()
	if req := c.Request(); req.RequiredResources != nil {
		// The first call, for which Crossplane has not read the ConfigMaps.
		req.RequiredResources = nil
		c.call(c.t, req)
	}
	rsp := c.call(c.t, c.Request())
	if IsFatal(rsp) {
		c.setConditions(rsp, "cannot compose resources", false)

		return rsp
	}

	ready := true
	var unsynced []string
	resources := rsp.GetDesired().GetResources()
	c.collect(resources)
	c.Order++
	keys := slices.Sorted(maps.Keys(resources))
	for i, n := range rand.New(rand.NewPCG(c.Order, 0)).Perm(len(keys)) {
		r := resources[keys[n]]
		ready = ready && r.GetReady() == fnv1.Ready_READY_TRUE
		desired := r.GetResource().AsMap()
		switch {
		case c.Rejected[TextAt(desired, "kind")] && c.changes(keys[n], desired):
			unsynced = append(unsynced, keys[n])
		case c.Interrupted == 0 || i < c.Interrupted:
			c.Apply(keys[n], desired)
		}
		c.checkServed()
	}
	if c.Interrupted > 0 {
		return rsp
	}
	if ready {
		c.checkFresh()
	}

	c.setStatus(rsp.GetDesired().GetComposite().GetResource().AsMap()["status"].(Object))
	message := ""
	if len(unsynced) > 0 {
		message = "Unsynced resources: " + strings.Join(unsynced, ", ")
	}
	c.setConditions(rsp, message, ready && message == "")

	return rsp
}

// setStatus sets the status of the XR, except for the conditions.
func (c *Cluster) setStatus(status Object) {
	before := Clone(Child(c.XR, "status"))
	conditions := before["conditions"]
	delete(before, "conditions")
	if !reflect.DeepEqual(before, status) {
		c.writes++
	}
	c.XR["status"] = Clone(status)
	Child(c.XR, "status")["conditions"] = conditions
}

// IsFatal returns whether a response has a fatal result.
func IsFatal(rsp *fnv1.RunFunctionResponse) bool {
	return slices.ContainsFunc(rsp.GetResults(), func(r *fnv1.Result) bool {
		return r.GetSeverity() == fnv1.Severity_SEVERITY_FATAL
	})
}

// setConditions sets the conditions of the XR. unsynced is why it is not synced.
func (c *Cluster) setConditions(rsp *fnv1.RunFunctionResponse, unsynced string, ready bool) {
	list := []any{
		Condition("Synced", statusOf(unsynced == ""), "Reconcile", unsynced),
		Condition("Ready", statusOf(ready), "Composed", ""),
	}
	for _, cond := range rsp.GetConditions() {
		list = append(list, Condition(cond.GetType(), Status(cond), cond.GetReason(), cond.GetMessage()))
	}
	if !reflect.DeepEqual(At(c.XR, "status", "conditions"), list) {
		c.writes++
	}
	Child(c.XR, "status")["conditions"] = list
}

// collect deletes resources that are no longer desired, as Crossplane does before it
// applies the others.
func (c *Cluster) collect(resources map[string]*fnv1.Resource) {
	c.t.Helper()

	texts := 0
	for key := range resources {
		if strings.HasPrefix(key, "configmap") {
			texts++
		}
	}
	if texts > 2 && !c.orphaned {
		c.t.Errorf("law 5: %d ConfigMaps are desired, want two at most", texts)
	}
	for key := range c.Objects {
		if resources[key] != nil {
			continue
		}
		if key == "deployment" || key == "service" {
			c.t.Errorf("%s is no longer desired: Crossplane would delete it", key)
		}
		delete(c.Objects, key)
		delete(c.applied, key)
		c.writes++
	}
	c.checkServed()
}
