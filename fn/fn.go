package fn

import (
	"context"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// A Function composes MarkdownViews.
type Function struct {
	fnv1.UnimplementedFunctionRunnerServiceServer

	log logging.Logger
	ttl time.Duration
}

// New returns a Function whose answers stand for ttl unless the Input says
// otherwise. 0 means until something changes.
func New(log logging.Logger, ttl time.Duration) *Function {
	return &Function{log: log, ttl: ttl}
}

// RunFunction answers with the desired ConfigMap, Deployment and Service of the
// observed MarkdownView, their readiness, and the MarkdownView's status and
// conditions. A fault of the MarkdownView or of the Input is a fatal result, not
// an error.
func (f *Function) RunFunction(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	v, faults := read(req)
	want, more := compose(v)
	seen := observe(req)

	faults = slices.Concat(faults, v.validate(), more, seen.moved(v), conflicts(req, v))
	if len(faults) > 0 {
		f.log.Debug("Refused MarkdownView", "namespace", v.Metadata.Namespace, "name", v.Metadata.Name, "faults", len(faults))

		return refuse(req, v, seen, faults), nil
	}

	ttl := f.ttl
	if v.input.TTL != nil {
		ttl = v.input.TTL.Duration
	}
	f.log.Debug("Composed MarkdownView", "namespace", v.Metadata.Namespace, "name", v.Metadata.Name)

	return respond(req, v, want, seen, ttl), nil
}
