// Command bench measures the function over gRPC on loopback, together with a function
// that does nothing and with other functions, and reports ratios.
package main

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-markdownview/test/bench/book"
)

// peers has the Inputs with which other functions compose the same resources.
//
//go:embed peers
var peers embed.FS

// The candidates that every run measures.
const (
	noop = "no-op"
	ours = "function-markdownview"
)

// A candidate is a server that is measured.
type candidate struct {
	name, binary string
	args         []string

	// input is the file in peers that has the Input.
	input string

	// replays is whether the candidate gets its response as a file.
	replays bool

	// follows is whether the candidate is the next step of the pipeline.
	follows bool
}

// candidates returns the candidates in the order in which they start: floor and
// function-auto-ready need the response of function-markdownview.
func candidates() []candidate {
	return []candidate{
		{name: noop, binary: "bench-noop"},
		// Metrics are enabled, as in a pod.
		{name: ours, binary: ours, args: []string{"--metrics-address=127.0.0.1:0"}},
		{name: "floor", binary: "bench-floor", replays: true},
		{name: "function-go-templating", binary: "function-go-templating", input: "go-templating.yaml"},
		{name: "function-patch-and-transform", binary: "function-patch-and-transform", input: "patch-and-transform.yaml"},
		{name: "function-auto-ready", binary: "function-auto-ready", follows: true},
	}
}

// A benchCase is a request with which candidates are measured.
type benchCase struct {
	title   string
	large   bool
	steady  bool
	request *fnv1.RunFunctionRequest
	target  target
	figures map[string]*figures // By the name of the candidate.
}

func main() {
	bin := flag.String("bin", "../../.bin", "Folder with the binaries.")
	out := flag.String("out", "../../docs/benchmark.md", "File to write the report to when all cases are measured.")
	only := flag.String("cases", "", "Regular expression of the cases to measure, such as 900 or steady; empty for all.")
	rounds := flag.Int("rounds", 25, "Rounds in which each candidate is measured.")
	slot := flag.Duration("slot", 150*time.Millisecond, "How long a candidate is measured in each round.")
	flag.Parse()

	if err := run(context.Background(), *bin, *out, *only, plan{rounds: *rounds, slot: *slot}); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, bin, out, only string, p plan) error {
	filter, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("cannot select cases: %w", err)
	}
	var cases []benchCase
	for _, b := range book.Books() {
		first, steady, err := b.Requests()
		if err != nil {
			return err
		}
		for _, c := range []benchCase{
			{title: b.Title + ", first", request: first},
			{title: b.Title + ", steady", request: steady, steady: true},
		} {
			if filter.MatchString(c.title) {
				c.large, c.target = b.Name == "large", targets[c.title]
				cases = append(cases, c)
			}
		}
	}
	if len(cases) == 0 {
		return fmt.Errorf("no case matches %q", only)
	}

	cpu, load := machine()
	for i := range cases {
		fmt.Fprintf(os.Stderr, "Measuring %s\n", cases[i].title)
		if err := cases[i].measure(ctx, bin, p); err != nil {
			return fmt.Errorf("cannot measure %q: %w", cases[i].title, err)
		}
	}
	tables := report(cases)
	fmt.Print(tables)
	if only != "" {
		return nil
	}

	return os.WriteFile(out, []byte(header(p, cpu, load)+tables), 0o644)
}

// measure measures the candidates with several processes of each.
func (c *benchCase) measure(ctx context.Context, bin string, p plan) error {
	c.figures = map[string]*figures{}
	for n := range processes {
		if rounds := (p.rounds + n) / processes; rounds > 0 {
			if err := c.measureProcesses(ctx, bin, plan{rounds, p.slot}); err != nil {
				return err
			}
		}
	}

	return nil
}

// measureProcesses starts the candidates and measures them.
func (c *benchCase) measureProcesses(ctx context.Context, bin string, p plan) error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return fmt.Errorf("cannot create a temporary folder: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // It is temporary.

	var running []*process
	defer func() {
		for _, r := range running {
			r.stop()
		}
	}()
	var response *fnv1.RunFunctionResponse // Of function-markdownview.
	for _, candidate := range candidates() {
		binary := filepath.Join(bin, candidate.binary)
		if _, err := os.Stat(binary); err != nil && candidate.input != "" {
			continue // Some functions cannot be built everywhere, and are then not measured.
		}
		req, args, err := candidate.prepare(c.request, response, dir)
		if err != nil {
			return err
		}
		r, err := start(ctx, candidate.name, binary, args, dir)
		if err != nil {
			return err
		}
		running = append(running, r)
		rsp, err := r.settle(ctx, req)
		if err != nil {
			return err
		}
		if candidate.name == ours {
			response = rsp
		}
	}
	status := response.GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue().GetFields()["status"].GetStringValue()
	if c.steady != (status == "Healthy") {
		return fmt.Errorf("%s reports the status %q", ours, status)
	}

	return measure(ctx, running, c.large, p, c.figures)
}

// prepare returns the request and the arguments for a candidate. response is that of
// function-markdownview.
func (c candidate) prepare(req *fnv1.RunFunctionRequest, response *fnv1.RunFunctionResponse, dir string) (*fnv1.RunFunctionRequest, []string, error) {
	req = proto.CloneOf(req)
	if c.follows {
		req.Desired = response.GetDesired()
	}
	if c.input != "" {
		data, err := peers.ReadFile("peers/" + c.input)
		if err != nil {
			return nil, nil, fmt.Errorf("cannot read Input: %w", err)
		}
		object := map[string]any{}
		if err := yaml.Unmarshal(data, &object); err != nil {
			return nil, nil, fmt.Errorf("cannot decode Input %q: %w", c.input, err)
		}
		if req.Input, err = structpb.NewStruct(object); err != nil {
			return nil, nil, fmt.Errorf("cannot convert Input %q: %w", c.input, err)
		}
	}
	if !c.replays {
		return req, c.args, nil
	}
	data, err := proto.Marshal(response)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot encode response: %w", err)
	}
	file := filepath.Join(dir, "response")

	return req, []string{"--response=" + file}, os.WriteFile(file, data, 0o644)
}

// settle calls the function with a request, and keeps the request for measured calls.
// It changes the revision of the observed Deployment to that of the function, because
// each function computes another hash of the content.
func (p *process) settle(ctx context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	rsp, err := p.run(ctx, req)
	if err != nil {
		return nil, err
	}
	observed, desired := annotations(req.GetObserved()), annotations(rsp.GetDesired())
	if observed == nil || desired[revision] == nil {
		return rsp, nil
	}
	observed[revision] = desired[revision]

	return p.run(ctx, req)
}

// run calls the function, and keeps the request.
func (p *process) run(ctx context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	var err error
	if p.request, err = proto.Marshal(req); err != nil {
		return nil, fmt.Errorf("cannot encode request: %w", err)
	}
	var data []byte
	if err := p.call(ctx, &data); err != nil {
		return nil, err
	}
	rsp := &fnv1.RunFunctionResponse{}
	if err := proto.Unmarshal(data, rsp); err != nil {
		return nil, fmt.Errorf("cannot decode the response of %s: %w", p.name, err)
	}
	for _, result := range rsp.GetResults() {
		if result.GetSeverity() == fnv1.Severity_SEVERITY_FATAL {
			return nil, fmt.Errorf("%s responds: %s", p.name, result.GetMessage())
		}
	}

	return rsp, nil
}

// revision is the annotation with the hash of the content.
const revision = "markdownview.fn.crossplane.io/revision"

// annotations returns the annotations of the pod template of the Deployment.
func annotations(s *fnv1.State) map[string]*structpb.Value {
	at := s.GetResources()["deployment"].GetResource()
	for _, name := range []string{"spec", "template", "metadata", "annotations"} {
		at = at.GetFields()[name].GetStructValue()
	}

	return at.GetFields()
}
