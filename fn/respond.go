package fn

import (
	"fmt"
	"maps"
	"slices"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
)

// readiness of the composed resources.
type readiness struct {
	configMap, deployment, service bool
}

// respond returns the answer for a view without faults. The request stays as it
// is: what changes is copied, what does not is shared.
func respond(req *fnv1.RunFunctionRequest, v view, want desired, seen observed, ttl time.Duration) *fnv1.RunFunctionResponse {
	ready := readiness{
		configMap:  seen.configMap.ready(want, seen.deployment),
		deployment: seen.deployment.ready(want),
		service:    seen.service.ready(want),
	}
	conditions := []condition{available(v, seen.deployment, &want), degraded(v, want, seen)}

	resources := maps.Clone(req.GetDesired().GetResources())
	if resources == nil {
		resources = map[string]*fnv1.Resource{}
	}
	resources[keyConfigMap] = &fnv1.Resource{Resource: encode(want.configMap), Ready: readyOf(ready.configMap)}
	resources[keyDeployment] = &fnv1.Resource{Resource: encode(want.deployment), Ready: readyOf(ready.deployment)}
	resources[keyService] = &fnv1.Resource{Resource: encode(want.service), Ready: readyOf(ready.service)}

	return &fnv1.RunFunctionResponse{
		Meta:    meta(req, ttl),
		Context: req.GetContext(),
		Desired: &fnv1.State{
			Composite: composite(req.GetDesired().GetComposite(), v, statusOf(v, want, seen, ready)),
			Resources: resources,
		},
		Conditions: toProto(conditions),
		Results:    events(v, conditions),
	}
}

// refuse returns the answer for faults: one fatal result, which stops the
// pipeline before anything is changed or deleted, and conditions that say why.
func refuse(req *fnv1.RunFunctionRequest, v view, seen observed, faults field.ErrorList) *fnv1.RunFunctionResponse {
	why := invalid(faults)

	return &fnv1.RunFunctionResponse{
		Meta:       meta(req, 0),
		Context:    req.GetContext(),
		Desired:    req.GetDesired(),
		Conditions: toProto([]condition{available(v, seen.deployment, nil), why}),
		Results: []*fnv1.Result{{
			Severity: fnv1.Severity_SEVERITY_FATAL,
			Reason:   &why.Reason,
			Message:  fmt.Sprintf("cannot compose %s %q: %s", line(v.Kind), short(v.Metadata.Name), why.Message),
			Target:   fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum(),
		}},
	}
}

func meta(req *fnv1.RunFunctionRequest, ttl time.Duration) *fnv1.ResponseMeta {
	return &fnv1.ResponseMeta{Tag: req.GetMeta().GetTag(), Ttl: durationpb.New(ttl)}
}

// composite returns the desired XR with our status in it. What other functions
// set, readiness and connection details included, stays.
func composite(before *fnv1.Resource, v view, ours status) *fnv1.Resource {
	object := &structpb.Struct{Fields: map[string]*structpb.Value{
		"apiVersion": structpb.NewStringValue(v.APIVersion),
		"kind":       structpb.NewStringValue(v.Kind),
	}}
	maps.Copy(object.GetFields(), before.GetResource().GetFields())

	fields := maps.Clone(before.GetResource().GetFields()["status"].GetStructValue().GetFields())
	if fields == nil {
		fields = map[string]*structpb.Value{}
	}
	for name, value := range encode(&ours).GetFields() {
		if v.input.StatusFields == nil || slices.Contains(v.input.StatusFields, v1beta1.StatusField(name)) {
			fields[name] = value
		}
	}
	object.Fields["status"] = structpb.NewStructValue(&structpb.Struct{Fields: fields})

	return &fnv1.Resource{
		Resource:          object,
		ConnectionDetails: before.GetConnectionDetails(),
		Ready:             before.GetReady(),
	}
}

// conflicts returns a fault for every resource of another function that has the
// key of one of ours, and is not the same one. One of them would be lost.
func conflicts(req *fnv1.RunFunctionRequest, v view) field.ErrorList {
	var faults field.ErrorList
	for key, ours := range map[string][3]string{
		keyConfigMap:  {"v1", "ConfigMap", v.configMapName()},
		keyDeployment: {"apps/v1", "Deployment", v.viewerName()},
		keyService:    {"v1", "Service", v.viewerName()},
	} {
		theirs, ok := req.GetDesired().GetResources()[key]
		namespace := theirs.GetResource().GetFields()["metadata"].GetStructValue().GetFields()["namespace"].GetStringValue()
		if ok && (identityOf(theirs.GetResource().GetFields()) != ours || namespace != "" && namespace != v.namespace()) {
			faults = append(faults, field.Forbidden(field.NewPath("desired", "resources").Key(key),
				"another function of the pipeline gives this name to another resource: rename it there"))
		}
	}

	return faults
}

// identityOf returns the apiVersion, kind and name of an object.
func identityOf(object map[string]*structpb.Value) [3]string {
	return [3]string{
		object["apiVersion"].GetStringValue(),
		object["kind"].GetStringValue(),
		object["metadata"].GetStructValue().GetFields()["name"].GetStringValue(),
	}
}

// events returns a result for each condition that turns true in a way a person
// wants to hear of. A steady state has none.
func events(v view, now []condition) []*fnv1.Result {
	severities := map[string]fnv1.Severity{
		TypeAvailable: fnv1.Severity_SEVERITY_NORMAL,
		TypeDegraded:  fnv1.Severity_SEVERITY_WARNING,
	}

	var results []*fnv1.Result
	for _, c := range now {
		if c.Status == statusTrue && v.condition(c.Type).Status != statusTrue {
			results = append(results, &fnv1.Result{
				Severity: severities[c.Type],
				Reason:   &c.Reason,
				Message:  c.Message,
				Target:   fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum(),
			})
		}
	}

	return results
}

func toProto(conditions []condition) []*fnv1.Condition {
	out := make([]*fnv1.Condition, len(conditions))
	for i, c := range conditions {
		out[i] = &fnv1.Condition{
			Type:    c.Type,
			Status:  fnv1.Status_STATUS_CONDITION_FALSE,
			Reason:  c.Reason,
			Message: &c.Message,
			Target:  fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum(),
		}
		if c.Status == statusTrue {
			out[i].Status = fnv1.Status_STATUS_CONDITION_TRUE
		}
	}

	return out
}

func readyOf(ready bool) fnv1.Ready {
	if ready {
		return fnv1.Ready_READY_TRUE
	}

	return fnv1.Ready_READY_FALSE
}
