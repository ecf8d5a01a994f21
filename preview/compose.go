package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/crossplane-contrib/function-markdownview/fn"
)

// An object is what must be known of a document to find the MarkdownView in a file,
// or the Input in a Composition.
type object struct {
	Kind string `json:"kind"`
	Spec struct {
		Markdowns any `json:"markdowns"`
		Pipeline  []struct {
			Step        string                `json:"step"`
			FunctionRef struct{ Name string } `json:"functionRef"`
			Input       map[string]any        `json:"input"`
		} `json:"pipeline"`
	} `json:"spec"`
}

// compose returns the book that the function composes of the texts of files. It
// prints the function's errors and warnings as they are in the cluster: conditions of
// the MarkdownView, and events.
func compose(xr, composition, input string, out io.Writer) (*book, error) {
	req := &fnv1.RunFunctionRequest{Observed: &fnv1.State{Composite: &fnv1.Resource{}}}
	var err error
	// Its kind may have another name.
	req.Observed.Composite.Resource, err = find(xr, func(o object) bool { return o.Kind == "MarkdownView" || o.Spec.Markdowns != nil })
	if err != nil {
		return nil, fmt.Errorf("cannot read MarkdownView: %w", err)
	}
	if m := req.Observed.Composite.Resource.Fields["metadata"].GetStructValue(); m != nil && m.Fields["namespace"] == nil {
		m.Fields["namespace"] = structpb.NewStringValue("default") // As kubectl does.
	}

	step := "compose-markdownview"
	if composition != "" {
		_, err = find(composition, func(o object) bool {
			for _, s := range o.Spec.Pipeline {
				version, _ := s.Input["apiVersion"].(string)
				if strings.HasPrefix(version, "markdownview.fn.crossplane.io/") || strings.HasSuffix(s.FunctionRef.Name, "function-markdownview") {
					step = s.Step
					req.Input, err = structpb.NewStruct(s.Input)
					return true
				}
			}
			return false
		})
	} else if input != "" {
		req.Input, err = find(input, func(object) bool { return true })
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read Input: %w", err)
	}

	rsp, err := fn.New(logging.NewNopLogger(), 0).RunFunction(context.Background(), req)
	if err != nil {
		return nil, err
	}
	if err := report(rsp, step, out); err != nil {
		return nil, err
	}

	return layout(rsp.GetDesired().GetResources())
}

// find returns the first document of a YAML file that matches.
func find(text string, match func(object) bool) (*structpb.Struct, error) {
	for d := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096); ; {
		var raw json.RawMessage
		var o object
		err := d.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return nil, errors.New("no document of the file has it")
		}
		if err == nil && raw != nil {
			err = json.Unmarshal(raw, &o)
		}
		if err != nil {
			return nil, err
		}
		if match(o) {
			s := &structpb.Struct{}

			return s, s.UnmarshalJSON(raw)
		}
	}
}

// report prints the errors and warnings of a response. An error of the function is
// the last that it prints.
func report(rsp *fnv1.RunFunctionResponse, step string, out io.Writer) error {
	for _, c := range rsp.GetConditions() {
		switch {
		case c.GetType() == "Degraded" && c.GetStatus() == fnv1.Status_STATUS_CONDITION_TRUE:
			fmt.Fprintf(out, "Degraded=True %s: %s\n", c.GetReason(), c.GetMessage())
		case c.GetType() == "BookComplete" && c.GetStatus() == fnv1.Status_STATUS_CONDITION_FALSE:
			fmt.Fprintf(out, "BookComplete=False %s: %s\n", c.GetReason(), c.GetMessage())
		}
	}
	for _, r := range rsp.GetResults() {
		switch r.GetSeverity() {
		case fnv1.Severity_SEVERITY_FATAL:
			return fmt.Errorf("Warning ComposeResources: cannot compose resources: pipeline step %q returned a fatal result: %s", step, r.GetMessage())
		case fnv1.Severity_SEVERITY_WARNING:
			fmt.Fprintf(out, "Warning %s: Pipeline step %q: %s\n", r.GetReason(), step, r.GetMessage())
		default:
		}
	}

	return nil
}
