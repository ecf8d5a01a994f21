package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/crossplane-contrib/function-markdownview/fn"
)

// An object has the fields of a document by which a MarkdownView is found in a file, or
// an Input in a Composition.
type object struct {
	APIVersion string                `json:"apiVersion"`
	Kind       string                `json:"kind"`
	Metadata   struct{ Name string } `json:"metadata"`
	Spec       struct {
		Markdowns     any `json:"markdowns"`
		MarkdownsFrom any `json:"markdownsFrom"`
		Pipeline      []struct {
			Step        string                `json:"step"`
			FunctionRef struct{ Name string } `json:"functionRef"`
			Input       map[string]any        `json:"input"`
		} `json:"pipeline"`
	} `json:"spec"`
}

// isView returns whether a document is a MarkdownView. The XRD of another author may have
// another kind.
func (o object) isView() bool {
	return o.Kind == "MarkdownView" || o.Spec.Markdowns != nil || o.Spec.MarkdownsFrom != nil
}

// sources has the texts of the files, or in problem why one of them cannot be read. For a
// folder, xr is empty, and stamp changes with its files.
type sources struct{ path, stamp, xr, composition, input, problem string }

func load(path string, p policy) (s sources) {
	s.path = path
	if isFolder(path) {
		s.stamp, path = stamp(path), ""
	}
	for _, f := range []struct {
		name string
		text *string
	}{{path, &s.xr}, {p.Composition, &s.composition}, {p.Input, &s.input}} {
		if f.name == "" {
			continue
		}
		raw, err := os.ReadFile(f.name)
		if *f.text = string(raw); err != nil {
			s.problem = "cannot read files: " + err.Error()
		}
	}

	return s
}

// compose returns the book that the function composes, or nil if the function rejects
// it. It prints errors and warnings as a cluster shows them: as conditions of the
// MarkdownView, and as events.
func compose(s sources, log *log.Logger) (*volume, error) {
	if s.problem != "" {
		return nil, errors.New(s.problem)
	}
	if s.stamp != "" {
		var err error
		if s.xr, err = packFolder(s.path); err != nil {
			return nil, err
		}
	}
	c, err := s.call(0, s.xr)
	if err != nil {
		return nil, err
	}
	if rejected := report(c.rsp, c.step, log); rejected {
		return nil, nil //nolint:nilnil // The error is already printed.
	}

	return layout(c.mounted())
}

// A call is a call of the function.
type call struct {
	req  *fnv1.RunFunctionRequest
	rsp  *fnv1.RunFunctionResponse
	step string // The name of the step of the pipeline.
}

// call calls the function for the MarkdownView of a number in the file. The ConfigMaps that
// it names are in resources.
func (s sources) call(number int, resources string) (c *call, err error) {
	req := &fnv1.RunFunctionRequest{
		Meta:     &fnv1.RequestMeta{Capabilities: []fnv1.Capability{fnv1.Capability_CAPABILITY_REQUIRED_RESOURCES}},
		Observed: &fnv1.State{Composite: &fnv1.Resource{}},
	}
	req.Observed.Composite.Resource, err = find(s.xr, "a MarkdownView", func(o object) bool {
		if o.isView() {
			number--
		}

		return number < 0
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read MarkdownView: %w", err)
	}
	if m := req.Observed.Composite.Resource.Fields["metadata"].GetStructValue(); m != nil && m.Fields["namespace"] == nil {
		m.Fields["namespace"] = structpb.NewStringValue("default") // As kubectl does.
	}
	c = &call{req: req}
	if c.step, err = s.readInput(req); err != nil {
		return nil, fmt.Errorf("cannot read Input: %w", err)
	}
	c.rsp, err = run(req, resources)

	return c, err
}

// readInput adds the Input to a request, and returns the name of the step of the pipeline.
func (s sources) readInput(req *fnv1.RunFunctionRequest) (step string, err error) {
	step = "compose-markdownview"
	if s.input != "" {
		req.Input, err = find(s.input, "an Input", func(o object) bool { return o.Kind == "Input" })
	}
	if s.composition == "" || err != nil {
		return step, err
	}
	var input map[string]any
	_, err = find(s.composition, "a Composition with function-markdownview in its pipeline", func(o object) bool {
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

// mounted returns the composed resources and the ConfigMaps that they mount.
func (c *call) mounted() map[string]*fnv1.Resource {
	all := maps.Clone(c.rsp.GetDesired().GetResources())
	for name, required := range c.req.GetRequiredResources() {
		for _, item := range required.GetItems() {
			all[name] = item
		}
	}

	return all
}

// run calls the function, and calls it again if it requires ConfigMaps, which are in the
// file of the MarkdownView.
func run(req *fnv1.RunFunctionRequest, file string) (*fnv1.RunFunctionResponse, error) {
	f := fn.New(logging.NewNopLogger(), 0)
	rsp, err := f.RunFunction(context.Background(), req)
	if err != nil || len(rsp.GetRequirements().GetResources()) == 0 {
		return rsp, err
	}
	req.RequiredResources = map[string]*fnv1.Resources{}
	for name, selector := range rsp.GetRequirements().GetResources() {
		req.RequiredResources[name] = &fnv1.Resources{}
		cm, err := find(file, "a ConfigMap", func(o object) bool {
			return o.APIVersion == selector.GetApiVersion() && o.Kind == selector.GetKind() && o.Metadata.Name == selector.GetMatchName()
		})
		if errors.Is(err, errNotFound) {
			continue // The function reports it.
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read ConfigMap: %w", err)
		}
		cm.Fields["metadata"].GetStructValue().Fields["namespace"] = structpb.NewStringValue(selector.GetNamespace())
		req.RequiredResources[name].Items = []*fnv1.Resource{{Resource: cm}}
	}

	return f.RunFunction(context.Background(), req)
}

var errNotFound = errors.New("not in the file")

// find returns the first document of a YAML file that matches. what describes it.
func find(text, what string, match func(object) bool) (*structpb.Struct, error) {
	for d := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096); ; {
		var raw json.RawMessage
		var o object
		err := d.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s is %w", what, errNotFound)
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

// report prints the errors and warnings of a response, and returns whether the function
// rejected the MarkdownView.
func report(rsp *fnv1.RunFunctionResponse, step string, log *log.Logger) (rejected bool) {
	for _, c := range rsp.GetConditions() {
		switch {
		case c.GetType() == "Degraded" && c.GetStatus() == fnv1.Status_STATUS_CONDITION_TRUE:
			log.Printf("Degraded=True %s: %s", c.GetReason(), c.GetMessage())
		case c.GetType() == "BookComplete" && c.GetStatus() == fnv1.Status_STATUS_CONDITION_FALSE:
			log.Printf("BookComplete=False %s: %s", c.GetReason(), c.GetMessage())
		}
	}
	for _, r := range rsp.GetResults() {
		switch r.GetSeverity() {
		case fnv1.Severity_SEVERITY_FATAL:
			rejected = true
			log.Printf("Synced=False ReconcileError: cannot compose resources: pipeline step %q returned a fatal result: %s", step, r.GetMessage())
		case fnv1.Severity_SEVERITY_WARNING:
			log.Printf("Warning %s: Pipeline step %q: %s", r.GetReason(), step, r.GetMessage())
		default:
		}
	}

	return rejected
}
