package fn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane-contrib/function-markdownview/fn"
)

type object = map[string]any

// A cluster simulates Crossplane, the API server and the controllers for one XR: it
// stores desired resources as the API server does, and creates pods in single steps.
type cluster struct {
	t testing.TB

	xr      object
	input   object
	objects map[string]object
	// applied is the desired state that was last applied to each object. It shows which
	// fields are no longer desired, and must be removed.
	applied map[string]object

	// pods maps revisions to their pods, and volumes to the volume with their book.
	pods    map[string]pods
	volumes map[string]object
	// Pods of stuck revisions never become available. With quota, no pod is created.
	stuck map[string]bool
	quota bool
	// expired is the revision whose rollout has exceeded its progress deadline.
	expired string

	// configMaps maps revisions to the names of the ConfigMaps that their pods read.
	configMaps map[string]string
	// served is the ConfigMap of the last completed rollout that the function has
	// observed, with its key and content. Pods that read it must be able to restart
	// until the next rollout is complete. It is nil if somebody deleted it.
	served object
	// calls counts the calls of the function. It is the seed of the order in which
	// resources are applied.
	calls uint64
	// interrupted is how many resources Crossplane applies before it is stopped. 0
	// means all.
	interrupted int
	// rejected has the kinds of which Kubernetes rejects every change.
	rejected map[string]bool
	// orphaned is whether somebody has deleted the Deployment without its pods.
	orphaned bool

	// shared holds the ConfigMaps of the namespace that a spec can name, by name.
	shared map[string]object
	// repositories holds the OCIRepositories of the namespace, by name.
	repositories map[string]object

	// rejection is why the Gateway rejects the route. It is empty if the Gateway
	// accepts the route.
	rejection string

	// writes counts the changes of objects and of the XR's status.
	writes int
}

// A pods holds the number of pods of a revision, and the files that each available one
// read when it started.
type pods struct {
	total, available int

	read []map[string]string
}

// setPods changes the pods of a revision. Those that become available read the files of
// their volume.
func (c *cluster) setPods(revision string, p pods) {
	for len(p.read) < p.available {
		files, err := c.read(c.volumes[revision])
		if err != nil {
			c.t.Errorf("a pod of revision %s starts: %v", revision, err)
		}
		p.read = append(p.read, files)
	}
	p.read = p.read[len(p.read)-p.available:]
	c.pods[revision] = p
}

// read returns the files of a volume, by name. With an error, kubelet cannot mount it.
func (c *cluster) read(volume object) (map[string]string, error) {
	files := map[string]string{}
	sources := []any{volume}
	if projected, ok := volume["projected"].(object); ok {
		sources = projected["sources"].([]any)
	}
	for _, source := range sources {
		v, ok := source.(object)["configMap"].(object)
		if !ok {
			continue // An image.
		}
		texts := textsIn(&fnv1.Resource{Resource: toStruct(c.t, c.configMap(v["name"].(string)))})
		items, some := v["items"].([]any)
		for _, item := range items {
			item := item.(object)
			text, ok := texts[item["key"].(string)]
			if !ok {
				return nil, fmt.Errorf("ConfigMap %s has no key %s", v["name"], item["key"])
			}
			files[item["path"].(string)] = text
		}
		if !some {
			maps.Copy(files, texts)
		}
	}

	return files, nil
}

// configMap returns a ConfigMap of the namespace, with only its files.
func (c *cluster) configMap(name string) object {
	found := c.shared[name]
	for _, o := range c.objects {
		if o["kind"] == "ConfigMap" && metadata(o)["name"] == name {
			found = o
		}
	}
	files := object{}
	for _, kind := range []string{"data", "binaryData"} {
		if found[kind] != nil {
			files[kind] = found[kind]
		}
	}

	return files
}

// checkFresh fails the test if all resources are ready, and a pod serves another text
// than that of the spec. mdBook in a pod reads a change only a minute or two after the
// ConfigMap has changed, so a pod counts with the text that it read when it started.
func (c *cluster) checkFresh(ready bool) {
	c.t.Helper()

	spec := child(clone(c.xr), "spec")
	if !ready {
		return
	}
	want := map[string]string{}
	for name, text := range child(spec, "markdowns") {
		want[name], _ = text.(string)
	}
	sources, _ := spec["markdownsFrom"].([]any)
	for _, from := range sources {
		folder, _ := from.(object)["path"].(string)
		for key, text := range textsIn(&fnv1.Resource{Resource: toStruct(c.t, c.configMap(fmt.Sprint(child(from.(object), "configMap")["name"])))}) {
			want[path.Join(folder, key)] = text
		}
	}
	for revision, p := range c.pods {
		for _, files := range p.read {
			for name := range want {
				if files[name] != want[name] {
					c.t.Errorf("ready, and a pod of revision %s serves another %s: want %.40q, got %.40q", revision, name, want[name], files[name])
				}
			}
		}
	}
}

func newCluster(t testing.TB, xr, input object) *cluster {
	t.Helper()

	c := &cluster{
		t:       t,
		xr:      clone(xr),
		input:   input,
		objects: map[string]object{},
		applied: map[string]object{},
		pods:    map[string]pods{},
		volumes: map[string]object{},
		stuck:   map[string]bool{},

		configMaps: map[string]string{},
	}
	c.stamp(c.xr, "kubectl")
	metadata(c.xr)["generation"] = 1.0
	metadata(c.xr)["finalizers"] = []any{"composite.apiextensions.crossplane.io"}
	child(c.xr, "spec")["crossplane"] = object{
		"compositionRef":          object{"name": "markdownview"},
		"compositionRevisionRef":  object{"name": "markdownview-0a1b2c3"},
		"compositionUpdatePolicy": "Automatic",
	}

	return c
}

// edit changes the spec of the XR, as a user does.
func (c *cluster) edit(change func(spec object)) {
	change(child(c.xr, "spec"))
	metadata(c.xr)["generation"] = number(metadata(c.xr)["generation"]) + 1
}

// scale changes the replicas of the Deployment, as an autoscaler does.
func (c *cluster) scale(replicas float64) { c.set("replicas", replicas) }

// stick keeps the pods of the desired revision from becoming available. The first call
// after a change of the text can return another revision.
func (c *cluster) stick() {
	c.reconcile()
	c.stuck[revisionOf(run(c.t, c.request()).GetDesired().GetResources()["deployment"].GetResource().AsMap())] = true
}

// pause pauses or resumes the Deployment, as a user does.
func (c *cluster) pause(paused bool) { c.set("paused", paused) }

func (c *cluster) set(name string, value any) {
	d := c.objects["deployment"]
	if child(d, "spec")[name] == value {
		return
	}
	child(d, "spec")[name] = value
	metadata(d)["generation"] = number(metadata(d)["generation"]) + 1
	c.touch(d)
}

// lose deletes a composed resource, and the pods of a Deployment with it.
func (c *cluster) lose(key string) {
	if c.served["key"] == key || key == "deployment" {
		c.served = nil
	}
	delete(c.objects, key)
	delete(c.applied, key)
	if key == "deployment" {
		clear(c.pods)
	}
}

// orphan deletes the Deployment without its pods, as kubectl delete --cascade=orphan does.
func (c *cluster) orphan() {
	delete(c.objects, "deployment")
	delete(c.applied, "deployment")
	c.orphaned = true
}

// drain makes all pods unavailable, as the drain of their nodes does. They start again
// if their ConfigMap still exists.
func (c *cluster) drain() {
	for revision, v := range c.pods {
		v.available = 0
		c.setPods(revision, v)
	}
	if d, ok := c.objects["deployment"]; ok {
		c.report(d, revisionOf(d), int(number(child(d, "spec")["replicas"])))
	}
}

// breaker opens or closes Crossplane's circuit breaker.
func (c *cluster) breaker(open bool) {
	status := child(c.xr, "status")
	conditions, _ := status["conditions"].([]any)
	conditions = slices.DeleteFunc(slices.Clone(conditions), func(c any) bool { return c.(object)["type"] == "Responsive" })
	status["conditions"] = append(conditions, responsive(!open))
}

// responsive returns the condition of an XR whose circuit breaker is closed or open.
func responsive(closed bool) object {
	if closed {
		return object{"type": "Responsive", "status": "True", "reason": "WatchCircuitClosed", "lastTransitionTime": "2026-01-02T03:04:05Z"}
	}

	return object{
		"type": "Responsive", "status": "False", "reason": "WatchCircuitOpen", "lastTransitionTime": "2026-01-02T03:04:05Z",
		"message": "Too many watch events from Deployment/viewer-sample (docs). Allowing events periodically.",
	}
}

// request returns the request that Crossplane sends to the function.
func (c *cluster) request() *fnv1.RunFunctionRequest {
	req := &fnv1.RunFunctionRequest{
		Meta:     &fnv1.RequestMeta{Tag: "tag"},
		Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: toStruct(c.t, c.xr)}},
		Desired:  &fnv1.State{},
		Context:  &structpb.Struct{},
	}
	if c.input != nil {
		req.Input = toStruct(c.t, c.input)
	}
	for key, o := range c.objects {
		if req.Observed.Resources == nil {
			req.Observed.Resources = map[string]*fnv1.Resource{}
		}
		req.Observed.Resources[key] = &fnv1.Resource{Resource: toStruct(c.t, o)}
	}
	c.require(req)

	return req
}

// require adds the resources that the spec names, as Crossplane does when it calls
// the function again.
func (c *cluster) require(req *fnv1.RunFunctionRequest) {
	for _, source := range namedSources(req) {
		req.Meta.Capabilities = []fnv1.Capability{fnv1.Capability_CAPABILITY_CAPABILITIES, fnv1.Capability_CAPABILITY_REQUIRED_RESOURCES}
		if req.RequiredResources == nil {
			req.RequiredResources = map[string]*fnv1.Resources{}
		}
		all := c.shared
		if source.kind == "OCIRepository" {
			all = c.repositories
		}
		req.RequiredResources[source.key()] = &fnv1.Resources{}
		if o, ok := all[source.name]; ok {
			r := object{"apiVersion": source.apiVersion, "kind": source.kind, "metadata": object{"name": source.name, "namespace": namespaceOf(c.xr, c.input)}}
			mergeInto(r, o)
			req.RequiredResources[source.key()].Items = []*fnv1.Resource{{Resource: toStruct(c.t, r)}}
		}
	}
}

// A namedSource is a resource that spec.markdownsFrom names.
type namedSource struct{ apiVersion, kind, name string }

func (s namedSource) key() string { return strings.ToLower(s.kind) + "/" + s.name }

// namedSources returns the resources that spec.markdownsFrom names.
func namedSources(req *fnv1.RunFunctionRequest) []namedSource {
	var all []namedSource
	for _, from := range specOf(req).GetFields()["markdownsFrom"].GetListValue().GetValues() {
		for _, s := range []struct{ field, apiVersion, kind string }{{"configMap", "v1", "ConfigMap"}, {"ociRepository", "source.toolkit.fluxcd.io/v1", "OCIRepository"}} {
			if name := from.GetStructValue().GetFields()[s.field].GetStructValue().GetFields()["name"].GetStringValue(); name != "" {
				all = append(all, namedSource{s.apiVersion, s.kind, name})
			}
		}
	}

	return all
}

// reconcile calls the function and handles the response as Crossplane does.
func (c *cluster) reconcile() *fnv1.RunFunctionResponse {
	c.t.Helper()

	c.recordServed()
	if req := c.request(); req.RequiredResources != nil {
		// The first call, for which Crossplane has not read the ConfigMaps.
		req.RequiredResources = nil
		checkLaws(c.t, req)
	}
	rsp := checkLaws(c.t, c.request())
	if isFatal(rsp) {
		c.setConditions(rsp, "cannot compose resources", false)

		return rsp
	}

	ready := true
	var unsynced []string
	resources := rsp.GetDesired().GetResources()
	c.collect(resources)
	c.calls++
	keys := slices.Sorted(maps.Keys(resources))
	for i, n := range rand.New(rand.NewPCG(c.calls, 0)).Perm(len(keys)) {
		r := resources[keys[n]]
		ready = ready && r.GetReady() == fnv1.Ready_READY_TRUE
		desired := r.GetResource().AsMap()
		switch {
		case c.rejected[desired["kind"].(string)] && c.changes(keys[n], desired):
			unsynced = append(unsynced, keys[n])
		case c.interrupted == 0 || i < c.interrupted:
			c.apply(keys[n], desired)
		}
		c.checkServed()
	}
	if c.interrupted > 0 {
		return rsp
	}
	c.checkFresh(ready)

	status := rsp.GetDesired().GetComposite().GetResource().AsMap()["status"].(object)
	before := clone(child(c.xr, "status"))
	conditions := before["conditions"]
	delete(before, "conditions")
	if !reflect.DeepEqual(before, status) {
		c.writes++
	}
	c.xr["status"] = clone(status)
	child(c.xr, "status")["conditions"] = conditions
	message := ""
	if len(unsynced) > 0 {
		message = "Unsynced resources: " + strings.Join(unsynced, ", ")
	}
	c.setConditions(rsp, message, ready && message == "")

	return rsp
}

// setConditions sets the conditions of the XR. unsynced is why it is not synced.
func (c *cluster) setConditions(rsp *fnv1.RunFunctionResponse, unsynced string, ready bool) {
	all := []object{
		{"type": "Synced", "status": statusOf(unsynced == ""), "reason": "Reconcile"},
		{"type": "Ready", "status": statusOf(ready), "reason": "Composed"},
	}
	if unsynced != "" {
		all[0]["message"] = unsynced
	}
	for _, cond := range rsp.GetConditions() {
		all = append(all, object{
			"type":    cond.GetType(),
			"status":  conditionStatus[cond.GetStatus()],
			"reason":  cond.GetReason(),
			"message": cond.GetMessage(),
		})
	}
	list := make([]any, len(all))
	for i := range all {
		all[i]["lastTransitionTime"] = "2026-01-02T03:04:05Z"
		list[i] = all[i]
	}
	if !reflect.DeepEqual(child(c.xr, "status")["conditions"], list) {
		c.writes++
	}
	child(c.xr, "status")["conditions"] = list
}

// changes returns whether applying an object changes it.
func (c *cluster) changes(key string, desired object) bool {
	live, ok := c.objects[key]
	if !ok {
		return true
	}
	desired, after := sent(c.t, desired), clone(live)
	prune(after, c.applied[key], desired)
	mergeInto(after, desired)
	setDefaults(key, after)

	return !reflect.DeepEqual(clone(live), clone(after))
}

// apply stores an object as server-side apply does: fields of other owners stay.
func (c *cluster) apply(key string, desired object) {
	desired = sent(c.t, desired)
	live, ok := c.objects[key]
	if !ok {
		live = clone(desired)
		c.stamp(live, "apiextensions.crossplane.io/composed/0a1b2c3")
		metadata(live)["namespace"] = namespaceOf(c.xr, c.input)
		metadata(live)["ownerReferences"] = []any{object{
			"apiVersion": c.xr["apiVersion"], "kind": c.xr["kind"], "name": metadata(c.xr)["name"], "uid": metadata(c.xr)["uid"],
			"controller": true, "blockOwnerDeletion": true,
		}}
		if key == "deployment" || slices.Contains(optional, key) {
			metadata(live)["generation"] = 1.0
		}
		setDefaults(key, live)
		if _, ok := c.objects["service"]; key == "httproute" && !ok {
			live["status"] = object{"parents": c.parents(live, object{"type": "ResolvedRefs", "status": "False", "reason": "BackendNotFound", "message": "Service not found", "observedGeneration": 1.0, "lastTransitionTime": "2026-01-02T03:04:05Z"})}
		}
		c.objects[key], c.applied[key] = live, clone(desired)
		c.writes++

		return
	}

	before := clone(live)
	prune(live, c.applied[key], desired)
	mergeInto(live, desired)
	setDefaults(key, live)
	c.applied[key] = clone(desired)
	if reflect.DeepEqual(before, live) {
		return
	}
	if (key == "deployment" || slices.Contains(optional, key)) && !reflect.DeepEqual(before["spec"], live["spec"]) {
		metadata(live)["generation"] = number(metadata(live)["generation"]) + 1
	}
	c.touch(live)
}

// prune removes from live the fields that were desired before and are not desired now.
func prune(live, before, now object) {
	for name, was := range before {
		is, ok := now[name]
		if !ok {
			delete(live, name)

			continue
		}
		pruneValue(live[name], was, is)
	}
}

// pruneValue prunes maps field by field, and lists of the same length element by
// element.
func pruneValue(live, before, now any) {
	switch l := live.(type) {
	case object:
		w, wasMap := before.(object)
		n, nowMap := now.(object)
		if wasMap && nowMap {
			prune(l, w, n)
		}
	case []any:
		w, _ := before.([]any)
		n, _ := now.([]any)
		for i := range l {
			if len(w) == len(l) && len(n) == len(l) {
				pruneValue(l[i], w[i], n[i])
			}
		}
	}
}

// mergeInto merges maps field by field, and lists of the same length element by
// element.
func mergeInto(live, desired object) {
	for name, value := range desired {
		live[name] = merged(live[name], value)
	}
}

func merged(live, desired any) any {
	switch d := desired.(type) {
	case object:
		l, ok := live.(object)
		if !ok {
			return clone(d)
		}
		mergeInto(l, d)

		return l
	case []any:
		l, ok := live.([]any)
		if !ok || len(l) != len(d) {
			return slices.Clone(d)
		}
		for i := range d {
			l[i] = merged(l[i], d[i])
		}

		return l
	default:
		return desired
	}
}

// step simulates one action of a controller, and returns whether there was one.
func (c *cluster) step() bool {
	return c.stepService() || c.stepDeployment() || c.stepOptional()
}

// stepOptional simulates the status that the controllers of a Gateway, an Ingress and a
// PodDisruptionBudget write.
func (c *cluster) stepOptional() bool {
	for _, key := range optional {
		o, ok := c.objects[key]
		if !ok {
			continue
		}
		status := object{"observedGeneration": metadata(o)["generation"], "disruptionsAllowed": 1.0}
		switch key {
		case "ingress":
			status = object{"loadBalancer": object{"ingress": []any{object{"ip": "192.0.2.1"}}}}
		case "httproute":
			status = object{"parents": c.parents(o)}
		}
		if !reflect.DeepEqual(o["status"], status) {
			o["status"] = status
			c.touch(o)

			return true
		}
	}

	return false
}

// parents returns what the controller of a Gateway reports about a route: whether it is
// accepted, and more conditions.
func (c *cluster) parents(route object, more ...any) []any {
	var parents []any
	for _, ref := range child(route, "spec")["parentRefs"].([]any) {
		ref := clone(ref.(object))
		setDefault(ref, object{"group": "gateway.networking.k8s.io", "kind": "Gateway", "namespace": metadata(route)["namespace"]})
		accepted := object{"type": "Accepted", "status": statusOf(c.rejection == ""), "reason": "Accepted", "message": c.rejection, "observedGeneration": metadata(route)["generation"]}
		parents = append(parents, object{"parentRef": ref, "controllerName": "example.com/gateway", "conditions": append([]any{accepted}, more...)})
	}

	return parents
}

// stepService gives a LoadBalancer its address.
func (c *cluster) stepService() bool {
	s, ok := c.objects["service"]
	if !ok || child(s, "spec")["type"] != "LoadBalancer" || len(child(child(s, "status"), "loadBalancer")) > 0 {
		return false
	}
	child(s, "status")["loadBalancer"] = object{"ingress": []any{object{"ip": "192.0.2.1", "ipMode": "VIP"}}}
	c.touch(s)

	return true
}

// stepDeployment simulates the Deployment controller and the kubelet, with maxSurge 1
// and maxUnavailable 0: a pod is added and becomes available, and then an old one is
// removed.
func (c *cluster) stepDeployment() bool {
	d, ok := c.objects["deployment"]
	if !ok {
		return false
	}

	replicas := int(number(child(d, "spec")["replicas"]))
	revision := revisionOf(d)
	c.configMaps[revision], c.volumes[revision] = configMapOf(d), clone(volumeIn(d))
	current := c.pods[revision]
	old, all := pods{}, current
	for r, v := range c.pods {
		if r != revision {
			old.total += v.total
			old.available += v.available
			all.total += v.total
			all.available += v.available
		}
	}

	switch {
	case number(child(d, "status")["observedGeneration"]) != number(metadata(d)["generation"]):
	case child(d, "spec")["paused"] == true:
		// No pod is added or removed.
	case current.total > replicas:
		current.total--
		current.available = min(current.available, current.total)
	case c.restart(revision):
	case old.total > 0 && (all.available > replicas || old.available < old.total || replicas == 0):
		c.retire(revision)
	case current.total < replicas && all.total < replicas+1 && !c.quota:
		current.total++
	case current.available < current.total && c.starts(revision):
		current.available++
	}
	c.setPods(revision, current)

	return c.report(d, revision, replicas)
}

// starts returns whether a new pod of a revision becomes available: the revision must not
// be stuck, and its ConfigMap must exist, with all files of the volume.
func (c *cluster) starts(revision string) bool {
	exists := slices.ContainsFunc(slices.Collect(maps.Values(c.objects)), func(o object) bool {
		return o["kind"] == "ConfigMap" && metadata(o)["name"] == c.configMaps[revision]
	})
	_, err := c.read(c.volumes[revision])

	return !c.stuck[revision] && err == nil && (exists || c.configMaps[revision] == "")
}

// restart makes an unavailable pod of another revision available again, and returns
// whether there was one.
func (c *cluster) restart(revision string) bool {
	for _, r := range slices.Sorted(maps.Keys(c.pods)) {
		if v := c.pods[r]; r != revision && v.available < v.total && c.starts(r) {
			v.available++
			c.setPods(r, v)

			return true
		}
	}

	return false
}

// recordServed sets served.
func (c *cluster) recordServed() {
	read := map[string]bool{}
	for revision, v := range c.pods {
		read[c.configMaps[revision]] = read[c.configMaps[revision]] || v.total > 0
	}
	if c.served != nil && !read[metadata(c.served)["name"].(string)] {
		c.served = nil
	}
	d, ok := c.objects["deployment"]
	if !ok || !complete(d) {
		return
	}
	c.served = nil
	for key, o := range c.objects {
		if o["kind"] == "ConfigMap" && metadata(o)["name"] == configMapOf(d) {
			c.served = clone(o)
			c.served["key"] = key
		}
	}
}

// checkServed fails the test if served has been deleted or changed, unless the
// ConfigMap changes in place by design.
func (c *cluster) checkServed() {
	c.t.Helper()

	key, _ := c.served["key"].(string)
	if key == "configmap" && !isImmutable(c.input) {
		c.served = nil // It changes in place.
	}
	if c.served == nil {
		return
	}
	for _, name := range []string{"data", "binaryData"} {
		if diff := cmp.Diff(c.served[name], c.objects[key][name]); diff != "" {
			c.t.Errorf("law 5: %s of ConfigMap %s, which pods serve: -want, +got:\n%s", name, key, diff)
		}
	}
}

// collect deletes resources that are no longer desired, as Crossplane does before it
// applies the others.
func (c *cluster) collect(resources map[string]*fnv1.Resource) {
	c.t.Helper()

	texts := 0
	for key := range resources {
		if isText(key) {
			texts++
		}
	}
	if texts > 2 && !c.orphaned {
		c.t.Errorf("law 5: %d ConfigMaps are desired, want two at most", texts)
	}
	for key := range c.objects {
		if _, ok := resources[key]; ok {
			continue
		}
		if !isText(key) && !slices.Contains(optional, key) {
			c.t.Errorf("%s is no longer desired: Crossplane would delete it", key)
		}
		delete(c.objects, key)
		delete(c.applied, key)
		c.writes++
	}
	c.checkServed()
}

// complete returns whether a Deployment has rolled out.
func complete(d object) bool {
	status, replicas := child(d, "status"), number(child(d, "spec")["replicas"])

	return number(status["observedGeneration"]) == number(metadata(d)["generation"]) && number(status["replicas"]) == replicas &&
		number(status["updatedReplicas"]) == replicas && number(status["availableReplicas"]) == replicas
}

// configMapOf returns the name of our ConfigMap that the pods of a Deployment read. It
// is empty if an image holds the book.
func configMapOf(d object) string {
	v := volumeIn(d)
	if projected, ok := v["projected"].(object); ok {
		v = projected["sources"].([]any)[0].(object)
	}
	cm, _ := v["configMap"].(object)
	name, _ := cm["name"].(string)

	return name
}

// volumeIn returns the volume of a Deployment with the book.
func volumeIn(d object) object {
	for _, item := range child(child(child(d, "spec"), "template"), "spec")["volumes"].([]any) {
		if v := item.(object); v["name"] == "markdowns" {
			return v
		}
	}

	return nil
}

// retire removes one pod of an old revision, if possible an unavailable one.
func (c *cluster) retire(revision string) {
	old := slices.DeleteFunc(slices.Sorted(maps.Keys(c.pods)), func(r string) bool { return r == revision || c.pods[r].total == 0 })
	r := old[0]
	if i := slices.IndexFunc(old, func(r string) bool { return c.pods[r].available < c.pods[r].total }); i >= 0 {
		r = old[i]
	}
	v := c.pods[r]
	v.total--
	v.available = min(v.available, v.total)
	c.setPods(r, v)
}

// report writes the status of the Deployment, and returns whether it changed.
func (c *cluster) report(d object, revision string, replicas int) bool {
	current, all := c.pods[revision], pods{}
	for _, v := range c.pods {
		all.total += v.total
		all.available += v.available
	}

	status := object{"observedGeneration": metadata(d)["generation"]}
	for name, n := range map[string]int{
		"replicas":            all.total,
		"updatedReplicas":     current.total,
		"readyReplicas":       all.available,
		"availableReplicas":   all.available,
		"unavailableReplicas": max(0, max(replicas, all.total)-all.available),
	} {
		// Kubernetes omits zeros.
		if n != 0 {
			status[name] = float64(n)
		}
	}

	conditions := []any{
		deploymentCondition("Available", all.available >= replicas, "MinimumReplicasAvailable", "Deployment has minimum availability."),
	}
	done := current.total == replicas && current.available == replicas && all.total == replicas
	// A rollout that timed out keeps that status until it makes progress.
	stuck := c.stuck[revision] && !done && current.total > 0 &&
		(c.expired == revision || number(child(d, "status")["observedGeneration"]) == number(metadata(d)["generation"]))
	c.expired = ""
	if stuck {
		c.expired = revision
	}
	switch {
	case child(d, "spec")["paused"] == true:
		paused := deploymentCondition("Progressing", false, "DeploymentPaused", "Deployment is paused")
		paused["status"] = "Unknown"
		conditions = append(conditions, paused)
	case c.quota && current.total < replicas:
		conditions = append(conditions,
			deploymentCondition("ReplicaFailure", true, "FailedCreate", `pods "viewer" is forbidden: exceeded quota: pods.`),
			deploymentCondition("Progressing", true, "ReplicaSetUpdated", "ReplicaSet is progressing."))
	case stuck:
		conditions = append(conditions,
			deploymentCondition("Progressing", false, "ProgressDeadlineExceeded", `ReplicaSet "viewer-0a1b2c3" has timed out progressing.`))
	case done:
		conditions = append(conditions, deploymentCondition("Progressing", true, "NewReplicaSetAvailable", "ReplicaSet has successfully progressed."))
	default:
		conditions = append(conditions, deploymentCondition("Progressing", true, "ReplicaSetUpdated", "ReplicaSet is progressing."))
	}
	status["conditions"] = conditions

	if reflect.DeepEqual(d["status"], status) {
		return false
	}
	d["status"] = status
	metadata(d)["annotations"] = merged(metadata(d)["annotations"], object{"deployment.kubernetes.io/revision": "1"})
	c.touch(d)

	return true
}

var conditionStatus = map[fnv1.Status]string{
	fnv1.Status_STATUS_CONDITION_UNKNOWN: "Unknown",
	fnv1.Status_STATUS_CONDITION_TRUE:    "True",
	fnv1.Status_STATUS_CONDITION_FALSE:   "False",
}

func deploymentCondition(kind string, status bool, reason, message string) object {
	return object{
		"type": kind, "status": statusOf(status), "reason": reason, "message": message,
		"lastTransitionTime": "2026-01-02T03:04:05Z", "lastUpdateTime": "2026-01-02T03:04:05Z",
	}
}

// stamp sets the metadata that an API server sets.
func (c *cluster) stamp(o object, manager string) {
	m := metadata(o)
	m["uid"] = fmt.Sprintf("00000000-0000-4000-8000-%012d", len(c.objects)+1)
	m["creationTimestamp"] = "2026-01-02T03:04:05Z"
	m["resourceVersion"] = "1"
	m["managedFields"] = []any{object{
		"apiVersion": o["apiVersion"], "fieldsType": "FieldsV1", "manager": manager, "operation": "Apply", "time": "2026-01-02T03:04:05Z",
		"fieldsV1": object{"f:metadata": object{"f:labels": object{"f:app.kubernetes.io/name": object{}}}, "f:spec": object{".": object{}}},
	}}
}

func (c *cluster) touch(o object) {
	c.writes++
	rv, err := strconv.Atoi(metadata(o)["resourceVersion"].(string))
	if err != nil {
		c.t.Fatalf("cannot read resourceVersion: %v", err)
	}
	metadata(o)["resourceVersion"] = strconv.Itoa(rv + 1)
}

// setDefaults sets the defaults of the API server in a composed resource.
func setDefaults(key string, o object) {
	switch key {
	case "httproute":
		spec := child(o, "spec")
		for _, ref := range spec["parentRefs"].([]any) {
			setDefault(ref.(object), object{"group": "gateway.networking.k8s.io", "kind": "Gateway"})
		}
		for _, rule := range spec["rules"].([]any) {
			setDefault(rule.(object), object{"matches": []any{object{"path": object{"type": "PathPrefix", "value": "/"}}}})
			for _, ref := range rule.(object)["backendRefs"].([]any) {
				setDefault(ref.(object), object{"group": "", "kind": "Service", "weight": 1.0})
			}
		}
	case "deployment":
		spec := child(o, "spec")
		setDefault(spec, object{"replicas": 1.0, "progressDeadlineSeconds": 600.0, "revisionHistoryLimit": 10.0})
		pod := child(child(spec, "template"), "spec")
		setDefault(pod, object{"dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler"})
		for _, name := range []string{"initContainers", "containers"} {
			list, _ := pod[name].([]any)
			for _, item := range list {
				setContainerDefaults(item.(object))
			}
		}
		for _, item := range pod["volumes"].([]any) {
			for _, kind := range []string{"configMap", "projected"} {
				if source, ok := item.(object)[kind].(object); ok {
					setDefault(source, object{"defaultMode": 420.0})
				}
			}
		}
		setDefault(o, object{"status": object{}})
	case "service":
		setDefault(child(o, "spec"), object{
			"clusterIP": "10.96.0.10", "clusterIPs": []any{"10.96.0.10"}, "internalTrafficPolicy": "Cluster",
			"ipFamilies": []any{"IPv4"}, "ipFamilyPolicy": "SingleStack", "sessionAffinity": "None",
		})
		setDefault(o, object{"status": object{"loadBalancer": object{}}})
	}
}

func setContainerDefaults(container object) {
	setDefault(container, object{
		"imagePullPolicy":        "IfNotPresent",
		"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
	})
	for _, name := range []string{"startupProbe", "readinessProbe", "livenessProbe"} {
		probe, ok := container[name].(object)
		if !ok {
			continue
		}
		setDefault(probe, object{"timeoutSeconds": 1.0, "periodSeconds": 10.0, "successThreshold": 1.0, "failureThreshold": 3.0})
		if get, ok := probe["httpGet"].(object); ok {
			setDefault(get, object{"scheme": "HTTP"})
		}
	}
}

func setDefault(o, defaults object) {
	for name, value := range defaults {
		if _, ok := o[name]; !ok {
			o[name] = value
		}
	}
}

func run(t testing.TB, req *fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse {
	t.Helper()

	rsp, err := fn.New(logging.NewNopLogger(), 0).RunFunction(context.Background(), req)
	if err != nil {
		t.Fatalf("RunFunction(...): %v", err)
	}

	return rsp
}

func isFatal(rsp *fnv1.RunFunctionResponse) bool {
	return slices.ContainsFunc(rsp.GetResults(), func(r *fnv1.Result) bool { return r.GetSeverity() == fnv1.Severity_SEVERITY_FATAL })
}

func toState(t testing.TB, key string, o object) *fnv1.State {
	t.Helper()

	return &fnv1.State{Resources: map[string]*fnv1.Resource{key: {Resource: toStruct(t, o)}}}
}

func toStruct(t testing.TB, o object) *structpb.Struct {
	t.Helper()

	s, err := structpb.NewStruct(o)
	if err != nil {
		t.Fatalf("cannot create a Struct: %v", err)
	}

	return s
}

func namespaceOf(xr, input object) string {
	claim, _ := child(xr, "spec")["claimRef"].(object)
	for _, o := range []object{metadata(xr), claim, input} {
		if ns, ok := o["namespace"].(string); ok {
			return ns
		}
	}

	return ""
}

func revisionOf(deployment object) string {
	template := child(child(deployment, "spec"), "template")
	revision, _ := child(metadata(template), "annotations")["markdownview.fn.crossplane.io/revision"].(string)

	return revision
}

func metadata(o object) object { return child(o, "metadata") }

// child returns the object in a field, and creates it if it is absent.
func child(o object, name string) object {
	if existing, ok := o[name].(object); ok {
		return existing
	}
	made := object{}
	o[name] = made

	return made
}

func number(v any) float64 {
	n, _ := v.(float64)

	return n
}

func statusOf(status bool) string {
	if status {
		return "True"
	}

	return "False"
}

func clone(o object) object {
	b, err := json.Marshal(o)
	if err != nil {
		panic(fmt.Sprintf("cannot encode an object: %v", err))
	}
	out := object{}
	if err := json.Unmarshal(b, &out); err != nil {
		panic(fmt.Sprintf("cannot decode an object: %v", err))
	}

	return out
}
