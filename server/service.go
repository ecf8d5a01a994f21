package server

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"runtime/debug"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
)

// The services under which Crossplane calls a function. Up to v1.16 it calls
// v1beta1, whose messages are the same on the wire: they are decoded as v1,
// without the conversion of the SDK's BetaServer.
const (
	serviceV1      = "apiextensions.fn.proto.v1.FunctionRunnerService"
	serviceV1Beta1 = "apiextensions.fn.proto.v1beta1.FunctionRunnerService"
)

// A service is the function with what stands between it and the wire.
type service struct {
	fnv1.UnimplementedFunctionRunnerServiceServer

	fn         fnv1.FunctionRunnerServiceServer
	log        Logger
	metrics    *metrics
	codec      encoding.CodecV2
	maxRequest int // MiB
}

// RunFunction runs the function. A panic ends only the call that caused it.
func (s *service) RunFunction(ctx context.Context, req *fnv1.RunFunctionRequest) (rsp *fnv1.RunFunctionResponse, err error) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		s.metrics.panics.Inc()
		xr := req.GetObserved().GetComposite().GetResource().GetFields()
		s.log.Error("Recovered from a panic of the function",
			"panic", cause,
			"stack", string(debug.Stack()),
			"kind", xr["kind"].GetStringValue(),
			"namespace", xr["metadata"].GetStructValue().GetFields()["namespace"].GetStringValue(),
			"name", xr["metadata"].GetStructValue().GetFields()["name"].GetStringValue())
		rsp, err = panicked(req, cause), nil
	}()
	return s.fn.RunFunction(ctx, req)
}

// register makes the server answer calls to the named service. It is what
// generated code does, but for receive in place of gRPC's decoding.
func (s *service) register(srv grpc.ServiceRegistrar, name string) {
	handler := func(_ any, ctx context.Context, decode func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
		info := &grpc.UnaryServerInfo{Server: s, FullMethod: "/" + name + "/RunFunction"}
		return interceptor(ctx, nil, info, func(ctx context.Context, _ any) (any, error) {
			req := &fnv1.RunFunctionRequest{}
			if err := s.receive(ctx, req, decode); err != nil {
				return nil, err
			}
			return s.RunFunction(ctx, req)
		})
	}
	srv.RegisterService(&grpc.ServiceDesc{
		ServiceName: name,
		HandlerType: (*fnv1.FunctionRunnerServiceServer)(nil),
		Methods:     []grpc.MethodDesc{{MethodName: "RunFunction", Handler: handler}},
	}, s)
}

// A frameReader is the stream below grpc-go's ServerTransportStream, as it reads
// the frames of gRPC messages.
type frameReader interface {
	ReadMessageHeader(header []byte) error
	Read(n int) (mem.BufferSlice, error)
}

// receive reads a request. It looks at the size that precedes the message and
// refuses one over the limit before it is read, as grpc-go would, but in words
// that help: grpc-go answers "received message larger than max" by itself, and
// neither an interceptor nor a codec can change that. A grpc-go whose stream
// lets nobody else read falls back to those words.
func (s *service) receive(ctx context.Context, req *fnv1.RunFunctionRequest, decode func(any) error) error {
	stream, ok := grpc.ServerTransportStreamFromContext(ctx).(frameReader)
	if !ok {
		return decode(req)
	}
	header := make([]byte, 5) // a flag for compression, and the size
	if err := stream.ReadMessageHeader(header); err != nil {
		return status.Errorf(codes.Internal, "cannot read request: %v", err)
	}
	if header[0] != 0 {
		return status.Error(codes.Unimplemented, "cannot read request: it is compressed")
	}
	size := int(binary.BigEndian.Uint32(header[1:]))
	if size > s.maxRequest<<20 {
		return status.Errorf(codes.ResourceExhausted, "cannot read request: it has %d bytes, the function accepts %d MiB: "+
			"raise its flag --max-recv-message-size or set FUNCTION_MARKDOWNVIEW_MAX_RECV_MESSAGE_SIZE", size, s.maxRequest)
	}
	data, err := stream.Read(size)
	if err != nil {
		return status.Errorf(codes.Internal, "cannot read request: %v", err)
	}
	defer data.Free()
	if err := s.codec.Unmarshal(data, req); err != nil {
		return status.Errorf(codes.Internal, "cannot decode request: %v", err)
	}
	if err := stream.ReadMessageHeader(header); !errors.Is(err, io.EOF) {
		return status.Error(codes.Internal, "cannot read request: more follows it")
	}
	return nil
}
