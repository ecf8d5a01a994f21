// Command minimum is the function of this repository written by hand for speed
// alone: the floor that the real one is measured against. It gives the same
// answers for the requests of the benchmark, and shares no code with it.
//
// It takes no Input, no XR whose name would need shortening and no cluster-scoped
// XR, since none of these is measured.
package main

import (
	"context"
	"flag"
	"log"
	"net"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/grpc"
)

func main() {
	address := flag.String("address", ":9443", "Address at which to listen for calls.")
	size := flag.Int("max-recv-message-size", 16, "Size of the largest request, in MiB.")
	flag.Bool("insecure", true, "Always so, as no other way is measured.")
	flag.Parse()

	lis, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatalf("cannot listen: %v", err)
	}
	srv := grpc.NewServer(grpc.MaxRecvMsgSize(*size << 20))
	fnv1.RegisterFunctionRunnerServiceServer(srv, function{})
	log.Fatal(srv.Serve(lis))
}

type function struct {
	fnv1.UnimplementedFunctionRunnerServiceServer
}

// RunFunction reads, validates, composes and answers.
func (function) RunFunction(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	v := readView(req.GetObserved().GetComposite().GetResource())
	if err := v.validate(); err != nil {
		return refuse(req, err), nil
	}

	revision := v.revision()
	seen := observe(req.GetObserved().GetResources())

	return respond(req, v, seen, revision), nil
}
