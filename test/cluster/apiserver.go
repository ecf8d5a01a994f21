package cluster

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"sigs.k8s.io/yaml"
)

// Sent returns an object as the API server reads it: Crossplane sends JSON, and the API
// server decodes it as YAML.
func Sent(t testing.TB, o Object) Object {
	t.Helper()
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatalf("law 4: cannot encode %v: %v", o["kind"], err)
	}
	out := Object{}
	if err := yaml.Unmarshal(b, &out); err != nil {
		t.Errorf("law 4: the API server cannot read %v: %v", o["kind"], err)
	}

	return out
}

// Apply stores an object as server-side apply does: fields of other owners stay.
func (c *Cluster) Apply(key string, desired Object) {
	desired = Sent(c.t, desired)
	live, ok := c.Objects[key]
	after := c.after(key, desired)
	counted := key == "deployment" || At(desired, "spec") != nil && key != "service"
	switch {
	case !ok:
		c.stamp(after, "apiextensions.crossplane.io/composed/0a1b2c3")
		Metadata(after)["namespace"] = NamespaceOf(c.XR, c.Input)
		Metadata(after)["ownerReferences"] = []any{Object{
			"apiVersion": c.XR["apiVersion"], "kind": c.XR["kind"], "name": Metadata(c.XR)["name"], "uid": Metadata(c.XR)["uid"],
			"controller": true, "blockOwnerDeletion": true,
		}}
		if counted {
			Metadata(after)["generation"] = 1.0
		}
		if _, ok := c.Objects["service"]; key == "httproute" && !ok {
			notFound := Condition("ResolvedRefs", "False", "BackendNotFound", "Service not found")
			after["status"] = Object{"parents": parents(after, notFound)}
		}
		c.writes++
	case !reflect.DeepEqual(live, after):
		if counted && !reflect.DeepEqual(live["spec"], after["spec"]) {
			Metadata(after)["generation"] = Number(Metadata(after)["generation"]) + 1
		}
		c.touch(after)
	}
	c.Objects[key], c.applied[key] = after, Clone(desired)
}

// changes returns whether applying an object changes it.
func (c *Cluster) changes(key string, desired Object) bool {
	return !reflect.DeepEqual(c.Objects[key], c.after(key, Sent(c.t, desired)))
}

// after returns an object after it was applied.
func (c *Cluster) after(key string, desired Object) Object {
	after := Clone(c.Objects[key])
	prune(after, c.applied[key], desired)
	Merge(after, desired)
	setDefaults(key, after)

	return Clone(after)
}

// prune removes from live the fields that were desired before and are not desired now.
func prune(live, before, now Object) {
	for name, was := range before {
		if is, ok := now[name]; ok {
			pruneValue(live[name], was, is)
		} else {
			delete(live, name)
		}
	}
}

// pruneValue prunes maps field by field, and lists of the same length element by element.
func pruneValue(live, before, now any) {
	switch l := live.(type) {
	case Object:
		w, _ := before.(Object)
		n, _ := now.(Object) // If it is no longer a map, merged replaces it.
		prune(l, w, n)
	case []any:
		w, n := ListAt(before), ListAt(now)
		for i := range l {
			if len(w) == len(l) && len(n) == len(l) {
				pruneValue(l[i], w[i], n[i])
			}
		}
	}
}

// Merge merges maps field by field, and lists of the same length element by element.
func Merge(live, desired Object) {
	for name, value := range desired {
		live[name] = merged(live[name], value)
	}
}

func merged(live, desired any) any {
	switch d := desired.(type) {
	case Object:
		l, ok := live.(Object)
		if !ok {
			return Clone(d)
		}
		Merge(l, d)

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

// setDefaults sets the defaults of the API server that the function could take for a change.
func setDefaults(key string, o Object) {
	spec := At(o, "spec")
	switch key {
	case "httproute":
		for _, ref := range ListAt(spec, "parentRefs") {
			setDefault(ref, Object{"group": "gateway.networking.k8s.io", "kind": "Gateway"})
		}
		for _, rule := range ListAt(spec, "rules") {
			setDefault(rule, Object{"matches": []any{Object{"path": Object{"type": "PathPrefix", "value": "/"}}}})
			for _, ref := range ListAt(rule, "backendRefs") { // A redirect has none.
				setDefault(ref, Object{"group": "", "kind": "Service", "weight": 1.0})
			}
		}
	case "deployment":
		setDefault(spec, Object{"replicas": 1.0, "progressDeadlineSeconds": 600.0, "revisionHistoryLimit": 10.0})
		pod := At(spec, "template", "spec")
		setDefault(pod, Object{"dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler"})
		for _, container := range slices.Concat(ListAt(pod, "initContainers"), ListAt(pod, "containers")) {
			setDefault(container, Object{"imagePullPolicy": "IfNotPresent", "terminationMessagePolicy": "File"})
		}
		for _, volume := range ListAt(pod, "volumes") {
			setDefault(At(volume, "configMap"), Object{"defaultMode": 420.0})
			setDefault(At(volume, "projected"), Object{"defaultMode": 420.0})
		}
		setDefault(o, Object{"status": Object{}})
	case "service":
		setDefault(spec, Object{
			"clusterIP": "10.96.0.10", "clusterIPs": []any{"10.96.0.10"}, "internalTrafficPolicy": "Cluster",
			"ipFamilies": []any{"IPv4"}, "ipFamilyPolicy": "SingleStack", "sessionAffinity": "None",
		})
		setDefault(o, Object{"status": Object{"loadBalancer": Object{}}})
	}
}

// setDefault adds the defaults that an object lacks. It is nil if the API server has none.
func setDefault(o any, defaults Object) {
	for name, value := range defaults {
		if o, ok := o.(Object); ok && o[name] == nil {
			o[name] = value
		}
	}
}

// stamp sets the metadata that an API server sets.
func (c *Cluster) stamp(o Object, manager string) {
	m := Metadata(o)
	m["uid"] = fmt.Sprintf("00000000-0000-4000-8000-%012d", len(c.Objects)+1)
	m["creationTimestamp"] = "2026-01-02T03:04:05Z"
	m["resourceVersion"] = "1"
	m["managedFields"] = []any{Object{
		"apiVersion": o["apiVersion"], "fieldsType": "FieldsV1", "manager": manager, "operation": "Apply",
		"fieldsV1": Object{"f:metadata": Object{"f:labels": Object{"f:app": Object{}}}, "f:spec": Object{".": Object{}}},
	}}
}

func (c *Cluster) touch(o Object) {
	c.writes++
	Metadata(o)["resourceVersion"] = strconv.Itoa(1 + c.writes)
}
