// Command noop is a function that does nothing, served by function-sdk-go. Its cost is
// that of function-sdk-go alone.
package main

import (
	"context"
	"flag"
	"log"

	"github.com/crossplane/function-sdk-go"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/response"
)

func main() {
	address := flag.String("address", ":9443", "Address at which to listen for calls.")
	size := flag.Int("max-recv-message-size", 16, "Size of the largest request, in MiB.")
	insecure := flag.Bool("insecure", false, "Serve without mTLS.")
	flag.Parse()

	log.Fatal(function.Serve(noop{},
		function.Listen("tcp", *address),
		function.Insecure(*insecure),
		function.MaxRecvMessageSize(*size<<20),
		// Metrics are enabled, as by default, but on a free port.
		function.WithMetricsServer("127.0.0.1:0")))
}

type noop struct {
	fnv1.UnimplementedFunctionRunnerServiceServer
}

// RunFunction returns the desired state that it received.
func (noop) RunFunction(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	return response.To(req, response.DefaultTTL), nil
}
