package server

import (
	"context"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	fnv1beta1 "github.com/crossplane/function-sdk-go/proto/v1beta1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
)

func TestPanic(t *testing.T) {
	boom := func(ctx context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
		if req.GetMeta().GetTag() == "bad" {
			panic("boom")
		}
		return echo(ctx, req)
	}
	r := serve(t, boom, times{})
	conn := r.dial(t)
	desired := &fnv1.State{Resources: map[string]*fnv1.Resource{"other": {Resource: object("kind", "Other"), Ready: fnv1.Ready_READY_TRUE}}}
	bad := &fnv1.RunFunctionRequest{
		Meta:     &fnv1.RequestMeta{Tag: "bad"},
		Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: object("kind", "MarkdownView")}},
		Desired:  desired,
		Context:  object("key", "value"),
	}
	message := "The function failed on this resource; its log says where"
	want := &fnv1.RunFunctionResponse{
		Meta:    &fnv1.ResponseMeta{Tag: "bad"},
		Desired: desired,
		Context: object("key", "value"),
		Results: []*fnv1.Result{{
			Severity: fnv1.Severity_SEVERITY_FATAL,
			Message:  "cannot run the function: panic: boom",
			Reason:   proto.String("Panic"),
			Target:   fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum(),
		}},
		Conditions: []*fnv1.Condition{
			{Type: "Available", Status: fnv1.Status_STATUS_CONDITION_UNKNOWN, Reason: "Panic", Message: &message, Target: fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum()},
			{Type: "Degraded", Status: fnv1.Status_STATUS_CONDITION_TRUE, Reason: "Panic", Message: &message, Target: fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum()},
		},
	}

	// Others are called all the while, on the same connection.
	others := make(chan error, 100)
	for range cap(others) {
		go func() {
			_, err := fnv1.NewFunctionRunnerServiceClient(conn).RunFunction(context.Background(), &fnv1.RunFunctionRequest{})
			others <- err
		}()
	}
	got, err := fnv1.NewFunctionRunnerServiceClient(conn).RunFunction(context.Background(), bad)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("RunFunction(...) that panics: -want, +got:\n%s", diff)
	}

	beta := &fnv1beta1.RunFunctionRequest{}
	convert(t, bad, beta)
	betaRsp, err := fnv1beta1.NewFunctionRunnerServiceClient(conn).RunFunction(context.Background(), beta)
	if err != nil {
		t.Fatal(err)
	}
	got.Reset()
	convert(t, betaRsp, got)
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("v1beta1 RunFunction(...) that panics: -want, +got:\n%s", diff)
	}

	for range cap(others) {
		if err := <-others; err != nil {
			t.Errorf("RunFunction(...) beside one that panics: %v", err)
		}
	}
	line := r.log.await(t, "Recovered from a panic of the function")
	if line["level"] != "ERROR" || line["kind"] != "MarkdownView" || !strings.Contains(line["stack"].(string), "TestPanic") {
		t.Errorf("log of a panic: want an error with the XR and a stack that leads to the function, got %v", line)
	}
	metrics := r.scrape(t)
	for _, want := range []string{
		"function_markdownview_panics_total 2\n",
		`function_markdownview_results_total{reason="Panic",severity="fatal"} 2` + "\n",
		`grpc_server_handled_total{grpc_code="OK",grpc_method="RunFunction",grpc_service="apiextensions.fn.proto.v1beta1.FunctionRunnerService",grpc_type="unary"} 1` + "\n",
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("/metrics after two panics: want a line %s", want)
		}
	}
}

func TestResponseSize(t *testing.T) {
	// The text and what protobuf needs around it make a response of that size.
	sized := func(size int) *fnv1.RunFunctionResponse {
		rsp := &fnv1.RunFunctionResponse{
			Meta:       &fnv1.ResponseMeta{Tag: "tag"},
			Conditions: []*fnv1.Condition{{Type: "Available", Status: fnv1.Status_STATUS_CONDITION_TRUE, Reason: "Available"}},
			Desired:    &fnv1.State{Resources: map[string]*fnv1.Resource{"a": {Resource: object("text", strings.Repeat("x", 4<<20-200))}}},
		}
		rsp.Results = []*fnv1.Result{{Severity: fnv1.Severity_SEVERITY_NORMAL, Message: "x"}}
		rsp.Results[0].Message += strings.Repeat("x", size-proto.Size(rsp))
		if got := proto.Size(rsp); got != size {
			t.Fatalf("made a response of %d bytes, want %d", got, size)
		}
		return rsp
	}
	tooLargeMessage := "The composed resources of the pipeline are larger than the 4 MiB that Crossplane accepts from a function"
	cases := map[string]struct {
		reason string
		rsp    *fnv1.RunFunctionResponse
		want   *fnv1.RunFunctionResponse
	}{
		"Largest": {
			reason: "A response that Crossplane just accepts is sent as it is.",
			rsp:    sized(4 << 20),
			want:   sized(4 << 20),
		},
		"OneByteMore": {
			reason: "A response that Crossplane would not read is replaced by one that says so, and keeps what is known of availability.",
			rsp:    sized(4<<20 + 1),
			want: &fnv1.RunFunctionResponse{
				Meta: &fnv1.ResponseMeta{Tag: "tag"},
				Results: []*fnv1.Result{{
					Severity: fnv1.Severity_SEVERITY_FATAL,
					Message:  "cannot return desired state: the response has 4194305 bytes, Crossplane accepts 4194304",
					Reason:   proto.String("ResponseTooLarge"),
					Target:   fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum(),
				}},
				Conditions: []*fnv1.Condition{
					{Type: "Available", Status: fnv1.Status_STATUS_CONDITION_TRUE, Reason: "Available"},
					{Type: "Degraded", Status: fnv1.Status_STATUS_CONDITION_TRUE, Reason: "ResponseTooLarge", Message: &tooLargeMessage, Target: fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum()},
				},
			},
		},
		"WithoutConditions": {
			reason: "Available is in each response, also where the function did not come to it.",
			rsp: &fnv1.RunFunctionResponse{
				Meta:    &fnv1.ResponseMeta{Tag: "tag"},
				Context: object("text", strings.Repeat("x", 5<<20)),
			},
			want: &fnv1.RunFunctionResponse{
				Meta: &fnv1.ResponseMeta{Tag: "tag"},
				Results: []*fnv1.Result{{
					Severity: fnv1.Severity_SEVERITY_FATAL,
					Message:  "cannot return desired state: the response has 5242913 bytes, Crossplane accepts 4194304",
					Reason:   proto.String("ResponseTooLarge"),
					Target:   fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum(),
				}},
				Conditions: []*fnv1.Condition{
					{Type: "Available", Status: fnv1.Status_STATUS_CONDITION_UNKNOWN, Reason: "ResponseTooLarge", Message: &tooLargeMessage, Target: fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum()},
					{Type: "Degraded", Status: fnv1.Status_STATUS_CONDITION_TRUE, Reason: "ResponseTooLarge", Message: &tooLargeMessage, Target: fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum()},
				},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := serve(t, func(context.Context, *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) { return tc.rsp, nil }, times{})
			got, err := r.call(t, &fnv1.RunFunctionRequest{})
			if err != nil {
				t.Fatal(err)
			}
			if !proto.Equal(tc.want, got) {
				// Not a diff of 4 MiB of text.
				t.Errorf("%s\nRunFunction(...): want a response of %d bytes, got %d with %v and %v",
					tc.reason, proto.Size(tc.want), proto.Size(got), got.GetResults(), got.GetConditions())
			}
		})
	}
}

func TestReceive(t *testing.T) {
	s := &service{maxRequest: 1}
	want := &fnv1.RunFunctionRequest{Meta: &fnv1.RequestMeta{Tag: "tag"}}
	decode := func(v any) error {
		proto.Merge(v.(proto.Message), want)
		return nil
	}
	got := &fnv1.RunFunctionRequest{}
	if err := s.receive(context.Background(), got, decode); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("receive(...) from a stream that only gRPC can read: -want, +got:\n%s", diff)
	}
}

func TestErrorOfTheFunction(t *testing.T) {
	want := status.Error(codes.Unavailable, "not now")
	r := serve(t, func(context.Context, *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) { return nil, want }, times{})
	_, got := r.call(t, &fnv1.RunFunctionRequest{})
	if diff := cmp.Diff(want.Error(), got.Error()); diff != "" {
		t.Errorf("RunFunction(...) that returns an error: -want, +got:\n%s", diff)
	}
}

func object(key, value string) *structpb.Struct {
	return &structpb.Struct{Fields: map[string]*structpb.Value{key: structpb.NewStringValue(value)}}
}

// convert copies a message into one of another version, the way the wire does.
func convert(t *testing.T, from, to proto.Message) {
	t.Helper()
	b, err := proto.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := proto.Unmarshal(b, to); err != nil {
		t.Fatal(err)
	}
}
