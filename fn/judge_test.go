package fn

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/internal/judge"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/response"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// A brokenLogger panics when the function writes its debug log, and keeps what the
// function then logs.
type brokenLogger struct {
	logging.Logger

	info []any
}

func (l *brokenLogger) Debug(string, ...any) { panic(errors.New("one\ntwo")) }

func (l *brokenLogger) Info(message string, values ...any) {
	l.info = append([]any{message}, values...)
}

func TestPanic(t *testing.T) {
	const message = "See the log of the function, which panicked"

	req := settledRequest(t)
	req.Context = viewtest.Object(t, `{a: b}`)
	req.Desired = &fnv1.State{Resources: map[string]*fnv1.Resource{"other": viewtest.Resource(t, `{kind: Other}`)}}
	log := &brokenLogger{Logger: logging.NewNopLogger()}
	got, err := New(log, 0).RunFunction(t.Context(), req)
	if err != nil {
		t.Fatalf("A panic is a result, not a gRPC error: %v", err)
	}

	want := &fnv1.RunFunctionResponse{
		Meta:    &fnv1.ResponseMeta{Tag: "tag", Ttl: durationpb.New(0)},
		Desired: req.GetDesired(),
		Context: req.GetContext(),
		Conditions: []*fnv1.Condition{
			conditionProto("Available", fnv1.Status_STATUS_CONDITION_UNKNOWN, "Panic", message),
			conditionProto("Degraded", fnv1.Status_STATUS_CONDITION_TRUE, "Panic", message),
			conditionProto("BookComplete", fnv1.Status_STATUS_CONDITION_UNKNOWN, "Panic", message),
		},
		Results: []*fnv1.Result{{
			Severity: fnv1.Severity_SEVERITY_FATAL,
			Reason:   ptr.To("Panic"),
			Message:  "cannot run the function: panic: one two",
			Target:   fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum(),
		}},
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("A panic changes nothing: -want, +got:\n%s", diff)
	}
	if !slices.Contains(log.info, any("sample")) || !slices.ContainsFunc(log.info, func(v any) bool {
		s, ok := v.(string)

		return ok && strings.Contains(s, "fn.(*Function).respond")
	}) {
		t.Errorf("want a log with the name of the XR and a stack, got %v", log.info)
	}
}

func TestTooLarge(t *testing.T) {
	large := func(size int) *fnv1.RunFunctionRequest {
		req := settledRequest(t)
		req.Desired = &fnv1.State{Resources: map[string]*fnv1.Resource{
			"other": {Resource: &structpb.Struct{Fields: map[string]*structpb.Value{"text": structpb.NewStringValue(strings.Repeat("x", size))}}},
		}}

		return req
	}
	respondTo := func(req *fnv1.RunFunctionRequest) response.Response {
		rsp, err := New(logging.NewNopLogger(), 0).Respond(viewtest.Encode(t, req))
		if err != nil {
			t.Fatal(err)
		}

		return rsp
	}
	most := 3<<20 + judge.MaxResponse - respondTo(large(3<<20)).Size()

	if got := respondTo(large(most)); len(got.Results) > 0 || got.Size() != judge.MaxResponse {
		t.Errorf("A response of %d bytes is not too large: got %d bytes and results %v", judge.MaxResponse, got.Size(), got.Results)
	}

	got := respondTo(large(most + 1))
	if diff := cmp.Diff([]report.Result{{Severity: "fatal", Reason: "ResponseTooLarge"}}, got.Results); diff != "" {
		t.Errorf("A response that is too large for Crossplane is a fatal result: -want, +got:\n%s", diff)
	}
	rsp := &fnv1.RunFunctionResponse{}
	if err := proto.Unmarshal(slices.Concat(got.Parts...), rsp); err != nil {
		t.Fatal(err)
	}
	want := &fnv1.RunFunctionResponse{
		Meta: &fnv1.ResponseMeta{Tag: "tag", Ttl: durationpb.New(0)},
		Conditions: []*fnv1.Condition{
			conditionProto("Available", fnv1.Status_STATUS_CONDITION_TRUE, "Available", "The book is served"),
			conditionProto("Degraded", fnv1.Status_STATUS_CONDITION_TRUE, "ResponseTooLarge", "Compose fewer or smaller resources in the pipeline: together they are larger than the 4 MiB that Crossplane accepts from a function"),
			conditionProto("BookComplete", fnv1.Status_STATUS_CONDITION_TRUE, "Complete", "No problems found in the book"),
		},
		Results: []*fnv1.Result{{
			Severity: fnv1.Severity_SEVERITY_FATAL,
			Reason:   ptr.To("ResponseTooLarge"),
			Message:  "cannot return desired state: the response has 4194305 bytes, and Crossplane accepts at most 4194304",
			Target:   fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum(),
		}},
	}
	if diff := cmp.Diff(want, rsp, protocmp.Transform()); diff != "" {
		t.Errorf("The response keeps Available and has no desired state: -want, +got:\n%s", diff)
	}
}

// TestRespondErrors checks that bytes that are not a request give a gRPC error.
func TestRespondErrors(t *testing.T) {
	whole := viewtest.Encode(t, settledRequest(t))
	for name, message := range map[string][]byte{"Truncated": whole[:len(whole)-1], "InvalidUTF8": []byte("\x0a\x03\x0a\x01\xff"), "NoMessage": []byte("text")} {
		if rsp, err := New(logging.NewNopLogger(), 0).Respond(message); err == nil || !strings.HasPrefix(err.Error(), "cannot decode request: ") {
			t.Errorf("%s: want an error, got %v and %v", name, err, rsp)
		}
	}
}
