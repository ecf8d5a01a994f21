package server

import (
	"context"
	"runtime"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"

	"github.com/crossplane-contrib/function-markdownview/fn"
)

// The services under which Crossplane calls a function. Crossplane up to v1.16 calls
// v1beta1, whose messages have the same wire format.
const (
	serviceV1      = "apiextensions.fn.proto.v1.FunctionRunnerService"
	serviceV1Beta1 = "apiextensions.fn.proto.v1beta1.FunctionRunnerService"
)

// A Responder returns the response to a RunFunctionRequest in the wire format of
// protobuf, like fn.Function.Respond.
type Responder func(request []byte) (fn.Response, error)

// A service is the gRPC service of the function.
type service struct {
	respond Responder
	metrics *metrics

	// slots has an element for each request that is in memory.
	slots chan struct{}
}

// register registers the service under a name, as generated code does, except that
// messages stay encoded.
func (s *service) register(srv grpc.ServiceRegistrar, name string) {
	srv.RegisterService(&grpc.ServiceDesc{
		ServiceName: name,
		HandlerType: (*any)(nil),
		Methods:     []grpc.MethodDesc{{MethodName: "RunFunction", Handler: s.handle}},
	}, s)
}

// handle handles a call. It reads the request inside the interceptor, so that the
// metrics include requests that are too large.
func (s *service) handle(_ any, ctx context.Context, receive func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) { //nolint:revive // gRPC sets the signature.
	method, _ := grpc.Method(ctx)
	info := &grpc.UnaryServerInfo{Server: s, FullMethod: method}

	return intercept(ctx, nil, info, func(ctx context.Context, _ any) (any, error) {
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		case <-ctx.Done():
			return nil, status.FromContextError(ctx.Err()).Err()
		}
		var req request
		if err := receive(&req); err != nil {
			return nil, err
		}
		rsp, err := s.respond(req)
		if err != nil {
			return nil, status.Errorf(codes.InvalidArgument, "cannot read RunFunctionRequest: %v", err)
		}
		s.metrics.count(rsp.Results)

		return response(rsp.Parts), nil
	})
}

// requestSlots returns how many requests the server reads and handles at a time, for a
// memory limit in bytes and a request size in MiB. Crossplane sends up to 100 at a time
// by default.
//
// A request takes three times its size: in the frames of HTTP/2, as one slice, and as
// slices of earlier requests that the garbage collector has not freed yet. More than
// two requests per CPU would only wait for each other.
func requestSlots(limit int64, maxRequest int) int {
	fit := int(limit / (3 * int64(maxRequest) << 20))
	return max(1, min(fit, 2*runtime.GOMAXPROCS(0)))
}

// A request is a RunFunctionRequest, and a response the parts of a RunFunctionResponse,
// both in the wire format of protobuf.
type (
	request  []byte
	response [][]byte
)

// A codec passes the messages of the function through as bytes. It leaves other
// messages, those of health checks, to the protobuf codec of gRPC.
type codec struct {
	encoding.CodecV2
}

// Unmarshal decodes a message.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	req, ok := v.(*request)
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	// This copies data, because the response shares the memory of the request, and gRPC
	// reuses data.
	*req = data.Materialize()

	return nil
}

// Marshal encodes a message.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	rsp, ok := v.(response)
	if !ok {
		return c.CodecV2.Marshal(v)
	}
	data := make(mem.BufferSlice, len(rsp))
	for i, part := range rsp {
		data[i] = mem.SliceBuffer(part)
	}

	return data, nil
}
