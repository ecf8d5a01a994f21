package server

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
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
