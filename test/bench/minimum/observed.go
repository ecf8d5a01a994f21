package main

import (
	"encoding/base64"
	"slices"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// observed is what is read of the composed resources.
type observed struct {
	configMap, deployment, service bool // There at all.

	data      fields
	binary    fields
	clusterIP string

	revision                       string
	generation, observedGeneration int64
	wanted                         int32
	replicas, updated, ready       int32
	available, unavailable         int32
	failure, failureMessage        string
}

func observe(resources map[string]*fnv1.Resource) observed {
	o := observed{}

	cm, ok := resources["configmap"]
	o.configMap = ok
	o.data = object(cm.GetResource().GetFields()["data"])
	o.binary = object(cm.GetResource().GetFields()["binaryData"])

	s, ok := resources["service"]
	o.service = ok
	o.clusterIP = object(s.GetResource().GetFields()["spec"])["clusterIP"].GetStringValue()

	d, ok := resources["deployment"]
	if !ok {
		return o
	}
	o.deployment = true
	top := d.GetResource().GetFields()
	spec, status := object(top["spec"]), object(top["status"])
	o.generation = int64(object(top["metadata"])["generation"].GetNumberValue())
	o.revision = object(object(object(spec["template"])["metadata"])["annotations"])[annotationRevision].GetStringValue()
	o.wanted = 1
	if n, ok := spec["replicas"]; ok {
		o.wanted = int32(n.GetNumberValue())
	}
	o.observedGeneration = int64(status["observedGeneration"].GetNumberValue())
	o.replicas = int32(status["replicas"].GetNumberValue())
	o.updated = int32(status["updatedReplicas"].GetNumberValue())
	o.ready = int32(status["readyReplicas"].GetNumberValue())
	o.available = int32(status["availableReplicas"].GetNumberValue())
	o.unavailable = int32(status["unavailableReplicas"].GetNumberValue())
	for _, c := range status["conditions"].GetListValue().GetValues() {
		c := object(c)
		switch kind, status := c["type"].GetStringValue(), c["status"].GetStringValue(); {
		case kind == "ReplicaFailure" && status == "True":
			o.failure, o.failureMessage = "ReplicaFailure", c["message"].GetStringValue()
		case kind == "Progressing" && status == "False" && o.failure == "":
			o.failure, o.failureMessage = "ProgressDeadlineExceeded", c["message"].GetStringValue()
		}
	}

	return o
}

func (o *observed) serving() bool { return o.deployment && o.available > 0 }

// asked returns whether the Deployment holds what is asked for now.
func (o *observed) asked(v *view, revision string) bool {
	return o.deployment && o.revision == revision && (v.replicas == 0 || v.replicas == o.wanted)
}

func (o *observed) rolledOut() bool {
	return o.observedGeneration >= o.generation && o.updated == o.wanted && o.replicas == o.wanted
}

func (o *observed) configMapReady(v *view, revision string) bool {
	others := o.deployment && o.revision == revision
	if !o.configMap || !others && len(o.data)+len(o.binary) != len(v.files) {
		return false
	}
	for name, text := range v.files {
		want, there := text.GetStringValue(), o.data[name]
		if slices.Contains(v.odd, name) {
			want, there = base64.StdEncoding.EncodeToString([]byte(want)), o.binary[name]
		}
		if s, ok := there.GetKind().(*structpb.Value_StringValue); !ok || s.StringValue != want {
			return false
		}
	}

	return true
}

func (o *observed) deploymentReady(v *view, revision string) bool {
	return o.asked(v, revision) && o.rolledOut() && o.available == o.wanted && o.unavailable == 0
}
