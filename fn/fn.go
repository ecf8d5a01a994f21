// Package fn is the composition function.
package fn

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/response"
)

// Function composes MarkdownViews.
type Function struct {
	fnv1.UnimplementedFunctionRunnerServiceServer

	log logging.Logger
	ttl time.Duration
}

// New returns a Function whose answers live for ttl unless the Input says
// otherwise.
func New(log logging.Logger, ttl time.Duration) *Function {
	return &Function{log: log, ttl: ttl}
}

// RunFunction is a stub.
func (f *Function) RunFunction(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	return response.To(req, f.ttl), nil
}
