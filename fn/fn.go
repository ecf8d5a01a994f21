package fn

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/proto"
)

// A Function composes MarkdownViews.
type Function struct {
	fnv1.UnimplementedFunctionRunnerServiceServer

	log logging.Logger
	ttl time.Duration
}

// New returns a Function whose responses are valid for ttl, unless the Input sets
// another ttl. 0 means until something changes.
func New(log logging.Logger, ttl time.Duration) *Function {
	return &Function{log: log, ttl: ttl}
}

// RunFunction returns the desired ConfigMap, Deployment and Service of the
// observed MarkdownView, their readiness, and the MarkdownView's status and
// conditions. An error of the MarkdownView or of the Input is a fatal result, not
// a gRPC error.
func (f *Function) RunFunction(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	request, err := proto.Marshal(req)
	if err != nil {
		return nil, fmt.Errorf("cannot encode request: %w", err)
	}
	response, err := f.Respond(request)
	if err != nil {
		return nil, err
	}
	rsp := &fnv1.RunFunctionResponse{}
	if err := proto.Unmarshal(slices.Concat(response.Parts...), rsp); err != nil {
		return nil, fmt.Errorf("cannot decode response: %w", err)
	}

	return rsp, nil
}

// Respond is RunFunction in the wire format of protobuf. The response shares memory
// with the request. An error means that the request cannot be decoded.
func (f *Function) Respond(message []byte) (rsp Response, err error) {
	var req request
	defer func() {
		if cause := recover(); cause != nil {
			f.log.Info("Recovered from a panic", append(req.view.logValues(), "panic", cause, "stack", string(debug.Stack()))...)
			rsp, err = respond(req, nil, judgePanic(cause)), nil
		}
	}()

	req, err = read(message)
	if err != nil {
		return Response{}, fmt.Errorf("cannot decode request: %w", err)
	}
	rsp = f.respond(req)
	if size := rsp.size(); size > maxResponse {
		// The resources of other functions may be too large by themselves, so the
		// response has none.
		rsp = respond(request{tag: req.tag}, nil, judgeTooLarge(rsp.verdict, size))
	}

	return rsp, nil
}

// respond runs the steps that the package documentation lists.
func (f *Function) respond(req request) Response {
	var d *desired
	problems := validate(req)
	switch {
	case len(problems) > 0:
		problems = append(problems, templateProblems(req.view)...)
	case req.view.waits():
		return respond(req, nil, judgeWaiting(req.view, req.observed))
	default:
		d, problems = compose(req.view, req.observed)
	}
	if len(problems) == 0 {
		problems = conflicts(req, d)
	}
	if len(problems) > 0 {
		f.log.Debug("Rejected MarkdownView", append(req.view.logValues(), "errors", len(problems))...)

		return respond(req, nil, judgeInvalid(req.view, req.observed, problems))
	}
	f.log.Debug("Composed MarkdownView", req.view.logValues()...)

	return respond(req, d, judge(req.view, req.observed, d, f.ttl))
}
