// Package response writes a RunFunctionResponse in the wire format of protobuf.
package response

import (
	"maps"
	"slices"
	"time"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/compose"
	"github.com/crossplane-contrib/function-markdownview/internal/judge"
	"github.com/crossplane-contrib/function-markdownview/internal/objects"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
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

	requirementsResources = 2
	requirementsSchemas   = 3

	selectorAPIVersion = 1
	selectorKind       = 2
	selectorMatchName  = 3
	selectorNamespace  = 5

	readyTrue  = 1
	readyFalse = 2

	targetCompositeAndClaim = 2
)

// A Response is a RunFunctionResponse in the wire format of protobuf.
type Response struct {
	// Parts is the message in parts, which follow one another. They share memory with
	// the request.
	Parts [][]byte
	// Results are the results of the response, for metrics.
	Results []report.Result

	Verdict judge.Verdict
}

// Size returns the size of the message in bytes.
func (r Response) Size() int {
	size := 0
	for _, part := range r.Parts {
		size += len(part)
	}

	return size
}

// Write writes the response. Without desired resources, it passes on what other
// functions desire. A message is written from its end to its beginning: see package
// wire.
func Write(req request.Request, d *compose.Desired, v judge.Verdict) Response {
	var w objects.Writer
	rsp := Response{Verdict: v}

	for _, c := range slices.Backward(v.Conditions) {
		w.Message(responseConditions, func() { writeCondition(&w, c) })
	}
	if requires := req.RequiresSchema || len(request.Required(req.View)) > 0; requires && !v.Fatal() {
		w.Message(responseRequirements, func() { writeRequirements(&w, req) })
	}
	if req.Pipeline.Context != nil {
		w.Bytes(responseContext, req.Pipeline.Context)
	}
	for _, e := range slices.Backward(v.Events) {
		w.Message(responseResults, func() { writeResult(&w, e) })
		rsp.Results = append(rsp.Results, report.Result{Severity: e.Severity, Reason: e.Reason})
	}
	switch {
	case d != nil:
		w.Message(responseDesired, func() { writeDesired(&w, req, d, v) })
	case req.Pipeline.Desired != nil:
		w.Bytes(responseDesired, req.Pipeline.Desired)
	}
	w.Message(responseMeta, func() {
		w.Message(metaTTL, func() { writeDuration(&w, v.TTL) })
		w.Text(request.MetaTag, req.Tag)
	})
	rsp.Parts = w.Parts()

	return rsp
}

// writeRequirements writes what Crossplane must send: the schema of the XR, and the
// ConfigMaps and the OCIRepository of spec.markdownsFrom. These are only in the namespace of
// the pods. Crossplane reads them with its own permissions, so another namespace would let
// users read those that they have no permission to read.
//
// Crossplane calls the function again with the resources that a response requires, and
// sends them with the first call of later reconciles. Since v2.4 it also watches them:
// https://github.com/crossplane/crossplane/blob/v2.4.0/internal/xfn/required_resources.go
func writeRequirements(w *objects.Writer, req request.Request) {
	if req.RequiresSchema {
		w.Entry(requirementsSchemas, request.RequirementXR, func() {
			w.Text(selectorKind, req.View.Kind)
			w.Text(selectorAPIVersion, req.View.APIVersion)
		})
	}
	for _, r := range slices.Backward(request.Required(req.View)) {
		w.Entry(requirementsResources, r.Key(), func() {
			w.Text(selectorNamespace, req.View.Namespace())
			w.Text(selectorMatchName, r.Name)
			w.Text(selectorKind, r.Kind)
			w.Text(selectorAPIVersion, r.APIVersion)
		})
	}
}

func writeDuration(w *objects.Writer, d time.Duration) {
	if nanos := d % time.Second; nanos > 0 {
		w.Varint(durationNanos, uint64(nanos))
	}
	if seconds := d / time.Second; seconds > 0 {
		w.Varint(durationSeconds, uint64(seconds))
	}
}

func writeCondition(w *objects.Writer, c report.Condition) {
	w.Varint(conditionTarget, targetCompositeAndClaim)
	w.Text(conditionMessage, c.Message)
	w.Text(conditionReason, c.Reason)
	w.Varint(conditionStatus, map[string]uint64{report.Unknown: 1, report.True: 2, report.False: 3}[c.Status])
	w.Text(conditionType, c.Type)
}

func writeResult(w *objects.Writer, e judge.Event) {
	w.Varint(resultTarget, targetCompositeAndClaim)
	w.Text(resultReason, e.Reason)
	w.Text(resultMessage, e.Message)
	w.Varint(resultSeverity, map[string]uint64{judge.SeverityFatal: 1, judge.SeverityWarning: 2, judge.SeverityNormal: 3}[e.Severity])
}

// writeDesired writes the desired state: our resources, which replace those with the
// same keys, and the resources of other functions, unchanged.
func writeDesired(w *objects.Writer, req request.Request, d *compose.Desired, v judge.Verdict) {
	for _, r := range slices.Backward(d.Resources) {
		w.Entry(request.StateResources, r.Key, func() {
			ready := uint64(readyFalse)
			if v.Ready[r.Key] {
				ready = readyTrue
			}
			w.Varint(request.ResourceReady, ready)
			w.Message(request.ResourceObject, func() { w.Object(r.Object) })
		})
	}
	for _, e := range slices.Backward(req.Pipeline.Resources) {
		if !slices.ContainsFunc(d.Resources, func(r compose.ComposedResource) bool { return r.Key == e.Key }) {
			w.Entry(request.StateResources, e.Key, func() { w.Raw(e.Value) })
		}
	}
	w.Message(request.StateComposite, func() { writeComposite(w, req, v.Status) })
}

// writeComposite writes the desired XR with our status. It keeps what other functions
// set, including readiness and connection details.
func writeComposite(w *objects.Writer, req request.Request, s judge.Status) {
	before := req.Pipeline.Composite
	has := func(key string) bool {
		return slices.ContainsFunc(before.Fields, func(e wire.Entry) bool { return e.Key == key })
	}

	w.Message(request.ResourceObject, func() {
		w.ObjectField("status", func() { writeStatus(w, req, s) })
		for _, e := range slices.Backward(before.Fields) {
			w.Field(e.Key, objects.Value{Encoded: e.Value})
		}
		if !has("kind") {
			w.Field("kind", req.View.Kind)
		}
		if !has("apiVersion") {
			w.Field("apiVersion", req.View.APIVersion)
		}
	})
	w.Raw(before.Rest)
}

// writeStatus writes the fields of our status, and those of other functions.
func writeStatus(w *objects.Writer, req request.Request, s judge.Status) {
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(s))) {
		w.Field(string(name), s[name])
	}
	for _, e := range slices.Backward(req.Pipeline.Composite.Status) {
		if _, ours := s[v1beta1.StatusField(e.Key)]; !ours {
			w.Field(e.Key, objects.Value{Encoded: e.Value})
		}
	}
}
