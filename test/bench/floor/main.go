// Command floor is a gRPC server that reads the bytes of each request, decodes nothing,
// and sends a response that was encoded in advance: no function can cost less.
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
)

func main() {
	address := flag.String("address", ":9443", "Address at which to listen for calls.")
	file := flag.String("response", "", "File with the encoded response.")
	size := flag.Int("max-recv-message-size", 16, "Size of the largest request, in MiB.")
	flag.Bool("insecure", true, "Ignored: the server never uses mTLS.")
	flag.Parse()

	response, err := os.ReadFile(*file)
	if err != nil {
		log.Fatalf("cannot read response: %v", err)
	}
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatalf("cannot listen for calls: %v", err)
	}
	server := grpc.NewServer(grpc.ForceServerCodecV2(codec{}), grpc.MaxRecvMsgSize(*size<<20))
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "apiextensions.fn.proto.v1.FunctionRunnerService",
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{
			MethodName: "RunFunction",
			Handler: func(_ any, _ context.Context, receive func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				return response, receive(nil)
			},
		}},
	}, nil)
	log.Fatal(server.Serve(listener))
}

// A codec ignores requests and sends encoded responses.
type codec struct{}

var _ encoding.CodecV2 = codec{}

func (codec) Name() string { return "proto" }

func (codec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func (codec) Unmarshal(mem.BufferSlice, any) error { return nil }
