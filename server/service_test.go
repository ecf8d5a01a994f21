package server

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	fnv1beta1 "github.com/crossplane/function-sdk-go/proto/v1beta1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane-contrib/function-markdownview/fn"
)

// TestVersions calls both versions of the service, whose messages have the same wire format:
// Crossplane up to v1.16 calls v1beta1.
func TestVersions(t *testing.T) {
	r := serve(t, echo, times{})
	conn := dial(t, r.address, r.ca.creds(t))
	req := newRequest("tag", 5000)
	want := &fnv1.RunFunctionResponse{Meta: &fnv1.ResponseMeta{Tag: "tag"}, Desired: req.GetObserved()}
	for _, method := range []string{fnv1.FunctionRunnerService_RunFunction_FullMethodName, fnv1beta1.FunctionRunnerService_RunFunction_FullMethodName} {
		got := &fnv1.RunFunctionResponse{}
		if err := conn.Invoke(t.Context(), method, req, got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", method, diff)
		}
	}
	if got := r.metric(t, `grpc_server_handled_total{grpc_code="OK",grpc_method="RunFunction",grpc_service="apiextensions.fn.proto.v1beta1.FunctionRunnerService",grpc_type="unary"}`); got != 1 {
		t.Errorf("v1beta1 calls in the metrics: want 1, got %v", got)
	}
}

func TestErrors(t *testing.T) {
	cases := map[string]struct {
		reason string
		size   int
		err    error
		want   error
	}{
		"TooLarge":    {reason: "gRPC rejects a request that is one byte larger.", size: 1<<20 + 1, want: status.Error(codes.ResourceExhausted, "grpc: received message larger than max (1048577 vs. 1048576)")},
		"NotARequest": {reason: "An error of the function means that the bytes are not a request.", size: 100, err: errors.New("truncated"), want: status.Error(codes.InvalidArgument, "cannot read RunFunctionRequest: truncated")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := serve(t, func([]byte) (fn.Response, error) { return fn.Response{}, tc.err }, times{})
			err := call(dial(t, r.address, r.ca.creds(t)), sized(tc.size))
			if diff := cmp.Diff(fmt.Sprint(tc.want), fmt.Sprint(err)); diff != "" {
				t.Errorf("%s\nRunFunction(...): -want, +got:\n%s", tc.reason, diff)
			}
			sample := fmt.Sprintf(`grpc_server_handled_total{grpc_code=%q,grpc_method="RunFunction",grpc_service=%q,grpc_type="unary"}`, status.Code(tc.want), serviceV1)
			if got := r.metric(t, sample); got != 1 {
				t.Errorf("%s\n%s: want 1, got %v", tc.reason, sample, got)
			}
		})
	}
}

// TestCallsWaitForASlot checks that a call waits while all slots are in use, without
// its request being read, and that health checks do not wait.
func TestCallsWaitForASlot(t *testing.T) {
	slots := requestSlots(debug.SetMemoryLimit(-1), 1)
	entered, release := make(chan struct{}, 10*slots), make(chan struct{})
	r := serve(t, func(request []byte) (fn.Response, error) {
		entered <- struct{}{}
		<-release

		return echo(request)
	}, times{})
	conn := dial(t, r.address, r.ca.creds(t))
	l := startLoad(t, conn, 2*slots, newRequest("slots", 400_000))
	for range slots {
		<-entered
	}

	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := fnv1.NewFunctionRunnerServiceClient(conn).RunFunction(ctx, newRequest("late", 10)); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("RunFunction(...) while all slots are in use: want DeadlineExceeded, got %v", err)
	}
	if rsp, err := healthv1.NewHealthClient(conn).Check(t.Context(), &healthv1.HealthCheckRequest{}); err != nil || rsp.GetStatus() != healthv1.HealthCheckResponse_SERVING {
		t.Errorf("Check(...) while all slots are in use: want SERVING, got %v, %v", rsp, err)
	}
	if n := len(entered); n != 0 {
		t.Errorf("calls in addition to the %d slots: want 0, got %d", slots, n)
	}
	close(release)
	l.end()
	if err := call(conn, newRequest("late", 10)); err != nil {
		t.Errorf("RunFunction(...) after the slots are free: %v", err)
	}
}

func TestRequestSlots(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	for _, tc := range []struct {
		reason     string
		limit      int64
		maxRequest int
		want       int
	}{
		{"As many as fit into 80 % of 256 MiB", 204 << 20, 16, 4},
		{"There is always one slot", 204 << 20, 2047, 1},
		{"Without a limit, there are two slots for each CPU", math.MaxInt64, 16, 16},
	} {
		if got := requestSlots(tc.limit, tc.maxRequest); got != tc.want {
			t.Errorf("%s: requestSlots(...): want %d, got %d", tc.reason, tc.want, got)
		}
	}
}

// sized returns a request of exactly size bytes.
func sized(size int) *fnv1.RunFunctionRequest {
	req := &fnv1.RunFunctionRequest{Meta: &fnv1.RequestMeta{}}
	for n := size; proto.Size(req) != size; n-- {
		text := structpb.NewStringValue(string(make([]byte, n)))
		req.Context = &structpb.Struct{Fields: map[string]*structpb.Value{"a": text}}
	}

	return req
}
