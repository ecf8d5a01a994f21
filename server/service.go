package server

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/crossplane-contrib/function-markdownview/fn"
)

// The services under which Crossplane calls a function. Up to v1.16 it calls
// v1beta1, whose messages are the same on the wire.
const (
	serviceV1      = "apiextensions.fn.proto.v1.FunctionRunnerService"
	serviceV1Beta1 = "apiextensions.fn.proto.v1beta1.FunctionRunnerService"
)

// A Responder returns the response to a RunFunctionRequest in protobuf's wire
// format, like fn.Function.Respond.
type Responder func(request []byte) (fn.Response, error)

// A service is the function as gRPC calls it.
type service struct {
	respond Responder
	metrics *metrics

	// slots has room for the requests that are in memory at a time.
	slots chan struct{}
}

// register makes the server call the service under the name, as generated code
// does, but for the messages, which stay encoded.
func (s *service) register(srv grpc.ServiceRegistrar, name string) {
	srv.RegisterService(&grpc.ServiceDesc{
		ServiceName: name,
		HandlerType: (*any)(nil),
		Methods:     []grpc.MethodDesc{{MethodName: "RunFunction", Handler: s.handle}},
	}, s)
}

// handle handles a call. It reads the request inside the interceptor, so that
// the metrics count requests that are too large.
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
