package fn

import (
	"context"
	"fmt"
	"strings"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/proto"
)

// This file is a stand-in until the function reads the wire format.

// Reasons of fatal results.
const (
	ReasonPanic            = "Panic"
	ReasonResponseTooLarge = "ResponseTooLarge"
)

// A Response is a RunFunctionResponse in protobuf's wire format.
type Response struct {
	// Parts are to be written one after the other. They share memory with the request.
	Parts [][]byte
	// Results of the response, for metrics.
	Results []Result
}

// A Result of a response, without its message.
type Result struct{ Severity, Reason string }

// Results returns every pair of severity and reason that a response can have.
func Results() []Result {
	return []Result{
		{"fatal", ReasonInvalidSpec}, {"fatal", ReasonInvalidInput}, {"fatal", ReasonPanic}, {"fatal", ReasonResponseTooLarge},
		{"warning", ReasonMissing}, {"warning", ReasonPaused}, {"warning", ReasonReplicaFailure}, {"warning", ReasonProgressDeadlineExceeded},
		{"normal", ReasonAvailable}, {"normal", ReasonRollingOut}, {"normal", ReasonScaledToZero},
	}
}

// Respond returns the response to a RunFunctionRequest, both in protobuf's wire format.
func (f *Function) Respond(request []byte) (out Response, err error) {
	req := &fnv1.RunFunctionRequest{}
	if err := proto.Unmarshal(request, req); err != nil {
		return Response{}, err
	}
	fatal := func(reason, message string) {
		out, err = encodeResponse(&fnv1.RunFunctionResponse{Meta: meta(req, 0), Results: []*fnv1.Result{{Severity: fnv1.Severity_SEVERITY_FATAL, Reason: &reason, Message: message}}})
	}
	defer func() {
		if cause := recover(); cause != nil {
			fatal(ReasonPanic, fmt.Sprint(cause))
		}
	}()
	rsp, err := f.RunFunction(context.Background(), req)
	if err != nil {
		return Response{}, err
	}
	if size := proto.Size(rsp); size > 4<<20 {
		fatal(ReasonResponseTooLarge, fmt.Sprint(size))
		return out, err
	}
	return encodeResponse(rsp)
}

func encodeResponse(rsp *fnv1.RunFunctionResponse) (Response, error) {
	b, err := proto.Marshal(rsp)
	out := Response{Parts: [][]byte{b}}
	for _, r := range rsp.GetResults() {
		out.Results = append(out.Results, Result{Severity: strings.ToLower(strings.TrimPrefix(r.GetSeverity().String(), "SEVERITY_")), Reason: r.GetReason()})
	}
	return out, err
}
