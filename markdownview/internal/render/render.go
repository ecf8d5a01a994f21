// Package render calls the function for the MarkdownView of a file or of a folder, without
// a cluster, and returns the book that a pod would mount.
package render

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane-contrib/function-markdownview/fn"
)

// A Call is a call of the function.
type Call struct {
	Request  *fnv1.RunFunctionRequest
	Response *fnv1.RunFunctionResponse
	Step     string // The name of the step of the pipeline.
}

// Call calls the function for the MarkdownView of a number in the file. The ConfigMaps that
// it names are in resources.
func (s Source) Call(ctx context.Context, number int, resources string) (c *Call, err error) {
	req := &fnv1.RunFunctionRequest{
		Meta:     &fnv1.RequestMeta{Capabilities: []fnv1.Capability{fnv1.Capability_CAPABILITY_REQUIRED_RESOURCES}},
		Observed: &fnv1.State{Composite: &fnv1.Resource{}},
	}
	req.Observed.Composite.Resource, err = find(s.XR, s.Path, "a MarkdownView", func(o Object) bool {
		if o.IsView() {
			number--
		}

		return number < 0
	})
	if err != nil {
		return nil, err
	}
	if m := req.Observed.Composite.Resource.Fields["metadata"].GetStructValue(); m != nil && m.Fields["namespace"] == nil {
		m.Fields["namespace"] = structpb.NewStringValue("default") // As kubectl does.
	}
	c = &Call{Request: req}
	if c.Step, err = s.readInput(req); err != nil {
		return nil, err
	}
	c.Response, err = s.run(ctx, req, resources)

	return c, err
}

// readInput adds the Input to a request, and returns the name of the step of the pipeline.
func (s Source) readInput(req *fnv1.RunFunctionRequest) (step string, err error) {
	step = "compose-markdownview"
	if s.input != "" {
		req.Input, err = find(s.input, s.Input, "an Input of function-markdownview", func(o Object) bool { return o.Kind == "Input" })
	}
	if s.composition == "" || err != nil {
		return step, err
	}
	var input map[string]any
	_, err = find(s.composition, s.Composition, "a Composition with function-markdownview in its pipeline", func(o Object) bool {
		for _, p := range o.Spec.Pipeline {
			version, _ := p.Input["apiVersion"].(string)
			if strings.HasPrefix(version, "markdownview.fn.crossplane.io/") || strings.HasSuffix(p.FunctionRef.Name, "function-markdownview") {
				step, input = p.Step, p.Input

				return true
			}
		}

		return false
	})
	if err == nil {
		req.Input, err = structpb.NewStruct(input)
	}

	return step, err
}

// run calls the function, and calls it again if it requires ConfigMaps, which are in the
// file of the MarkdownView.
func (s Source) run(ctx context.Context, req *fnv1.RunFunctionRequest, file string) (*fnv1.RunFunctionResponse, error) {
	f := fn.New(logging.NewNopLogger(), 0)
	rsp, err := f.RunFunction(ctx, req)
	if err != nil || len(rsp.GetRequirements().GetResources()) == 0 {
		return rsp, err
	}
	req.RequiredResources = map[string]*fnv1.Resources{}
	for name, selector := range rsp.GetRequirements().GetResources() {
		req.RequiredResources[name] = &fnv1.Resources{}
		cm, err := Find(file, func(o Object) bool {
			return o.APIVersion == selector.GetApiVersion() && o.Kind == selector.GetKind() && o.Metadata.Name == selector.GetMatchName()
		})
		if errors.Is(err, ErrNotFound) {
			continue // The function reports it.
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read the ConfigMaps of %s: %w", s.Path, err)
		}
		cm.Fields["metadata"].GetStructValue().Fields["namespace"] = structpb.NewStringValue(selector.GetNamespace())
		req.RequiredResources[name].Items = []*fnv1.Resource{{Resource: cm}}
	}

	return f.RunFunction(ctx, req)
}

// find returns the first document of a file that matches. what describes it in errors.
func find(text, file, what string, match func(Object) bool) (*structpb.Struct, error) {
	found, err := Find(text, match)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, fmt.Errorf("add %s to %s, or name another file", what, file)
	case err != nil:
		return nil, fmt.Errorf("cannot read %s: %w", file, err)
	default:
		return found, nil
	}
}
