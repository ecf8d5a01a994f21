package main

import (
	"fmt"
	"maps"
	"strings"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
)

type condition struct {
	kind, reason, message string
	status                bool
}

func respond(req *fnv1.RunFunctionRequest, v view, seen observed, revision string) *fnv1.RunFunctionResponse {
	configMapReady, deploymentReady := seen.configMapReady(&v, revision), seen.deploymentReady(&v, revision)

	resources := maps.Clone(req.GetDesired().GetResources())
	if resources == nil {
		resources = make(map[string]*fnv1.Resource, 3)
	}
	resources["configmap"] = &fnv1.Resource{Resource: v.configMap(), Ready: ready(configMapReady)}
	resources["deployment"] = &fnv1.Resource{Resource: v.deployment(revision), Ready: ready(deploymentReady)}
	resources["service"] = &fnv1.Resource{Resource: v.service(), Ready: ready(seen.clusterIP != "")}

	available, degraded := seen.availability(&v, revision), seen.degradation(&v, revision)

	return &fnv1.RunFunctionResponse{
		Meta:    &fnv1.ResponseMeta{Tag: req.GetMeta().GetTag(), Ttl: durationpb.New(0)},
		Context: req.GetContext(),
		Desired: &fnv1.State{
			Composite: composite(req.GetDesired().GetComposite(), &v, seen.status(&v, configMapReady && deploymentReady)),
			Resources: resources,
		},
		Conditions: []*fnv1.Condition{available.proto(), degraded.proto()},
		Results:    events(&v, available, degraded),
	}
}

func refuse(req *fnv1.RunFunctionRequest, err error) *fnv1.RunFunctionResponse {
	return &fnv1.RunFunctionResponse{
		Meta:    &fnv1.ResponseMeta{Tag: req.GetMeta().GetTag(), Ttl: durationpb.New(0)},
		Context: req.GetContext(),
		Desired: req.GetDesired(),
		Results: []*fnv1.Result{{Severity: fnv1.Severity_SEVERITY_FATAL, Message: err.Error()}},
	}
}

func ready(ok bool) fnv1.Ready {
	if ok {
		return fnv1.Ready_READY_TRUE
	}

	return fnv1.Ready_READY_FALSE
}

func (o *observed) status(v *view, healthy bool) fields {
	state := "NotReady"
	switch {
	case healthy:
		state = "Healthy"
	case o.serving():
		state = "Available"
	}

	return fields{
		"status":             text(state),
		"replicas":           number(float64(o.replicas)),
		"readyReplicas":      number(float64(o.ready)),
		"selector":           text("app.kubernetes.io/created-by=function-markdownview,app.kubernetes.io/instance=" + v.name + ",app.kubernetes.io/name=mdbook"),
		"observedGeneration": number(float64(v.generation)),
		"url":                text("http://viewer-" + v.name + "." + v.namespace + ".svc"),
	}
}

// composite returns the desired XR of the other functions with our status in it.
func composite(before *fnv1.Resource, v *view, ours fields) *fnv1.Resource {
	object := maps.Clone(before.GetResource().GetFields())
	if object == nil {
		object = fields{"apiVersion": text(v.apiVersion), "kind": text(v.kind)}
	}
	if theirs := object["status"].GetStructValue().GetFields(); theirs != nil {
		both := maps.Clone(theirs)
		maps.Copy(both, ours)
		ours = both
	}
	object["status"] = of(ours)

	return &fnv1.Resource{
		Resource:          &structpb.Struct{Fields: object},
		ConnectionDetails: before.GetConnectionDetails(),
		Ready:             before.GetReady(),
	}
}

func (o *observed) availability(v *view, revision string) condition {
	switch asked := o.asked(v, revision); {
	case o.serving() && asked && o.rolledOut():
		return condition{"Available", "Available", "Viewers serve the book", true}
	case o.serving():
		return condition{"Available", "RollingOut", "Viewers serve the book while a change rolls out", true}
	case asked && o.wanted == 0:
		return condition{"Available", "ScaledToZero", "No viewer is wanted, so none serves the book", true}
	case v.settled():
		return condition{"Available", "Unavailable", "No viewer serves the book", false}
	default:
		return condition{"Available", "Creating", "No viewer has served the book yet", false}
	}
}

func (o *observed) degradation(v *view, revision string) condition {
	if v.settled() && (!o.configMap || !o.deployment || !o.service) {
		var gone []string
		if !o.configMap {
			gone = append(gone, "ConfigMap markdowns-"+v.name)
		}
		if !o.deployment {
			gone = append(gone, "Deployment viewer-"+v.name)
		}
		if !o.service {
			gone = append(gone, "Service viewer-"+v.name)
		}

		return condition{"Degraded", "Missing", strings.Join(gone, ", ") + " had been there and is gone: it is created again", true}
	}
	known := v.wasDegraded && v.degradedReason == o.failure
	if o.failure != "" && o.revision == revision && (o.observedGeneration >= o.generation || known) {
		where := "pods"
		if o.failure == "ReplicaFailure" {
			where = "replicasets"
		}

		return condition{"Degraded", o.failure, fmt.Sprintf("Deployment viewer-%s cannot roll out: %s: see kubectl describe %s -n %s -l %s=%s",
			v.name, strings.TrimSuffix(o.failureMessage, "."), where, v.namespace, labelInstance, v.name), true}
	}

	return condition{"Degraded", "AsExpected", "Nothing is known to be wrong", false}
}

func (c *condition) proto() *fnv1.Condition {
	status := fnv1.Status_STATUS_CONDITION_FALSE
	if c.status {
		status = fnv1.Status_STATUS_CONDITION_TRUE
	}

	return &fnv1.Condition{
		Type: c.kind, Status: status, Reason: c.reason, Message: &c.message,
		Target: fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum(),
	}
}

// events are for what became true with this call.
func events(v *view, available, degraded condition) []*fnv1.Result {
	var results []*fnv1.Result
	if available.status && !v.wasAvailable {
		results = append(results, available.event(fnv1.Severity_SEVERITY_NORMAL))
	}
	if degraded.status && !v.wasDegraded {
		results = append(results, degraded.event(fnv1.Severity_SEVERITY_WARNING))
	}

	return results
}

func (c *condition) event(severity fnv1.Severity) *fnv1.Result {
	return &fnv1.Result{
		Severity: severity, Reason: &c.reason, Message: c.message,
		Target: fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum(),
	}
}
