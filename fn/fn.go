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

	"github.com/crossplane-contrib/function-markdownview/internal/compose"
	"github.com/crossplane-contrib/function-markdownview/internal/judge"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/response"
	"github.com/crossplane-contrib/function-markdownview/internal/validate"
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

// A Response is a RunFunctionResponse in the wire format of protobuf.
type Response = response.Response

// A Result is the severity and the reason of a result.
type Result = report.Result

// Results returns every severity and reason that a result can have.
func Results() []Result { return judge.Results() }

// RunFunction returns the desired ConfigMap, Deployment and Service of the
// observed MarkdownView, their readiness, and the MarkdownView's status and
// conditions. An error of the MarkdownView or of the Input is a fatal result, not
// a gRPC error.
func (f *Function) RunFunction(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	message, err := proto.Marshal(req)
	if err != nil {
		return nil, fmt.Errorf("cannot encode request: %w", err)
	}
	encoded, err := f.Respond(message)
	if err != nil {
		return nil, err
	}
	rsp := &fnv1.RunFunctionResponse{}
	if err := proto.Unmarshal(slices.Concat(encoded.Parts...), rsp); err != nil {
		return nil, fmt.Errorf("cannot decode response: %w", err)
	}

	return rsp, nil
}

// Respond is RunFunction in the wire format of protobuf. The response shares memory
// with the request. An error means that the request cannot be decoded.
func (f *Function) Respond(message []byte) (rsp Response, err error) {
	var req request.Request
	defer func() {
		if cause := recover(); cause != nil {
			f.log.Info("Recovered from a panic", append(req.View.LogValues(), "panic", cause, "stack", string(debug.Stack()))...)
			rsp, err = response.Write(req, nil, judge.Panic(cause)), nil
		}
	}()

	req, err = request.Read(message)
	if err != nil {
		return Response{}, fmt.Errorf("cannot decode request: %w", err)
	}
	rsp = f.respond(req)
	if size := rsp.Size(); size > judge.MaxResponse {
		// The resources of other functions may be too large by themselves, so the
		// response has none.
		rsp = response.Write(request.Request{Tag: req.Tag}, nil, judge.TooLarge(rsp.Verdict, size))
	}

	return rsp, nil
}

// respond runs the steps that the package documentation lists.
func (f *Function) respond(req request.Request) Response {
	var d *compose.Desired
	problems := validate.Request(req)
	switch {
	case len(problems) > 0:
		problems = append(problems, compose.TemplateProblems(req.View)...)
	case request.Waits(req.View):
		return response.Write(req, nil, judge.Waiting(req.View, req.Observed))
	default:
		d, problems = compose.Compose(req.View, req.Observed)
	}
	if len(problems) == 0 {
		problems = compose.Conflicts(req, d)
	}
	if len(problems) > 0 {
		f.log.Debug("Rejected MarkdownView", append(req.View.LogValues(), "errors", len(problems))...)

		return response.Write(req, nil, judge.Invalid(req.View, req.Observed, problems))
	}
	f.log.Debug("Composed MarkdownView", req.View.LogValues()...)

	return response.Write(req, d, judge.Judge(req.View, req.Observed, d, f.ttl))
}
