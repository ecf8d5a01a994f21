package fn

import (
	"maps"
	"slices"
	"time"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/objects"
	"github.com/crossplane-contrib/function-markdownview/internal/wire"
)

// The numbers of the fields that are written, from run_function.proto of
// function-sdk-go.
const (
	responseMeta         = 1
	responseDesired      = 2
	responseResults      = 3
	responseContext      = 4
	responseRequirements = 5
	responseConditions   = 6

	metaTTL = 2

	durationSeconds = 1
	durationNanos   = 2

	resultSeverity = 1
	resultMessage  = 2
	resultReason   = 3
	resultTarget   = 4

	conditionType    = 1
	conditionStatus  = 2
	conditionReason  = 3
	conditionMessage = 4
	conditionTarget  = 5

	readyTrue  = 1
	readyFalse = 2

	targetCompositeAndClaim = 2
)

// maxResponse is the size in bytes of the largest response that Crossplane
// reads. It sets no limit of its own, so grpc-go's default applies:
// https://github.com/crossplane/crossplane/blob/v2.4.0/internal/xfn/function_runner.go
const maxResponse = 4 << 20

// A Response is a RunFunctionResponse in the wire format of protobuf.
type Response struct {
	// Parts is the message in parts, which follow one another. They share memory with
	// the request.
	Parts [][]byte
	// Results are the results of the response, for metrics.
	Results []Result

	verdict verdict
}

// A Result is the severity (fatal, warning or normal) and the reason of a result.
type Result struct{ Severity, Reason string }

func (r Response) size() int {
	size := 0
	for _, part := range r.Parts {
		size += len(part)
	}

	return size
}

// respond writes the response. Without desired resources, it passes on what other
// functions desire. A message is written from its end to its beginning: see package
// wire.
func respond(req request, d *desired, v verdict) Response {
	var w objects.Writer
	rsp := Response{verdict: v}

	for _, c := range slices.Backward(v.conditions) {
		w.Message(responseConditions, func() { writeCondition(&w, c) })
	}
	if requires := req.requiresSchema || len(req.view.required()) > 0; requires && !v.fatal() {
		w.Message(responseRequirements, func() { writeRequirements(&w, req) })
	}
	if req.pipeline.context != nil {
		w.Bytes(responseContext, req.pipeline.context)
	}
	for _, e := range slices.Backward(v.events) {
		w.Message(responseResults, func() { writeResult(&w, e) })
		rsp.Results = append(rsp.Results, Result{e.severity, e.reason})
	}
	switch {
	case d != nil:
		w.Message(responseDesired, func() { writeDesired(&w, req, d, v) })
	case req.pipeline.desired != nil:
		w.Bytes(responseDesired, req.pipeline.desired)
	}
	w.Message(responseMeta, func() {
		w.Message(metaTTL, func() { writeDuration(&w, v.ttl) })
		w.Text(metaTag, req.tag)
	})
	rsp.Parts = w.Parts()

	return rsp
}

// writeRequirements writes what Crossplane must send.
func writeRequirements(w *objects.Writer, req request) {
	if req.requiresSchema {
		writeSchema(w, req.view)
	}
	writeRequired(w, req.view)
}

func writeDuration(w *objects.Writer, d time.Duration) {
	if nanos := d % time.Second; nanos > 0 {
		w.Varint(durationNanos, uint64(nanos))
	}
	if seconds := d / time.Second; seconds > 0 {
		w.Varint(durationSeconds, uint64(seconds))
	}
}

func writeCondition(w *objects.Writer, c condition) {
	w.Varint(conditionTarget, targetCompositeAndClaim)
	w.Text(conditionMessage, c.Message)
	w.Text(conditionReason, c.Reason)
	w.Varint(conditionStatus, map[string]uint64{statusUnknown: 1, statusTrue: 2, statusFalse: 3}[c.Status])
	w.Text(conditionType, c.Type)
}

func writeResult(w *objects.Writer, e event) {
	w.Varint(resultTarget, targetCompositeAndClaim)
	w.Text(resultReason, e.reason)
	w.Text(resultMessage, e.message)
	w.Varint(resultSeverity, map[string]uint64{severityFatal: 1, severityWarning: 2, severityNormal: 3}[e.severity])
}

// writeDesired writes the desired state: our resources, which replace those with the
// same keys, and the resources of other functions, unchanged.
func writeDesired(w *objects.Writer, req request, d *desired, v verdict) {
	for _, r := range slices.Backward(d.resources) {
		w.Entry(stateResources, r.key, func() {
			ready := uint64(readyFalse)
			if v.ready[r.key] {
				ready = readyTrue
			}
			w.Varint(resourceReady, ready)
			w.Message(resourceObject, func() { w.Object(r.object) })
		})
	}
	for _, e := range slices.Backward(req.pipeline.resources) {
		if !slices.ContainsFunc(d.resources, func(r composedResource) bool { return r.key == e.Key }) {
			w.Entry(stateResources, e.Key, func() { w.Raw(e.Value) })
		}
	}
	w.Message(stateComposite, func() { writeComposite(w, req, v.status) })
}

// writeComposite writes the desired XR with our status. It keeps what other functions
// set, including readiness and connection details.
func writeComposite(w *objects.Writer, req request, s status) {
	before := req.pipeline.composite
	has := func(key string) bool {
		return slices.ContainsFunc(before.fields, func(e wire.Entry) bool { return e.Key == key })
	}

	w.Message(resourceObject, func() {
		w.ObjectField("status", func() { writeStatus(w, req, s) })
		for _, e := range slices.Backward(before.fields) {
			w.Field(e.Key, objects.Value{Encoded: e.Value})
		}
		if !has("kind") {
			w.Field("kind", req.view.Kind)
		}
		if !has("apiVersion") {
			w.Field("apiVersion", req.view.APIVersion)
		}
	})
	w.Raw(before.rest)
}

// writeStatus writes the fields of our status, and those of other functions.
func writeStatus(w *objects.Writer, req request, s status) {
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(s))) {
		w.Field(string(name), s[name])
	}
	for _, e := range slices.Backward(req.pipeline.composite.status) {
		if _, ours := s[v1beta1.StatusField(e.Key)]; !ours {
			w.Field(e.Key, objects.Value{Encoded: e.Value})
		}
	}
}
