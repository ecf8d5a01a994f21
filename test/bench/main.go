// Command bench measures the function beside a function that does nothing, one
// written by hand for speed alone, and others of the ecosystem, over gRPC on
// loopback, and writes a report.
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-markdownview/test/bench/book"
)

// peers holds the Inputs that make other functions compose the same.
//
//go:embed peers
var peers embed.FS

// The names of the candidates that the targets are about.
const (
	ours       = "ours"
	minimum    = "minimum"
	tuned      = "minimum GOGC=400"
	noop       = "no-op"
	templating = "go-templating"
)

// A benchCase is a request that candidates are measured with.
type benchCase struct {
	book    book.Book
	moment  string
	request *fnv1.RunFunctionRequest
	figures []figures // One for each candidate.
}

func main() {
	p := plan{}
	bin := flag.String("bin", "../../.bin", "Folder with the binaries.")
	out := flag.String("out", "../../docs/benchmark.md", "File to write the report to.")
	logs := flag.String("logs", os.TempDir(), "Folder for the logs of the functions.")
	only := flag.String("only", "", "Comma-separated candidates to measure; empty for all there are.")
	name := flag.String("book", "", "Name of the only book to measure; empty for all.")
	flag.IntVar(&p.rounds, "rounds", 25, "Rounds in which each candidate has its turn.")
	flag.DurationVar(&p.slot, "slot", 50*time.Millisecond, "How long a turn takes, of calls one by one and of parallel ones each.")
	flag.IntVar(&p.callers, "callers", 16, "Parallel callers.")
	flag.Parse()

	if err := run(context.Background(), *bin, *out, *logs, *only, *name, p); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, bin, out, logs, only, name string, p plan) error {
	candidates, err := candidatesIn(bin, only)
	if err != nil {
		return err
	}

	var cases []benchCase
	for _, b := range book.Books() {
		if name != "" && name != b.Name {
			continue
		}
		first, steady, err := b.Requests()
		if err != nil {
			return err
		}
		cases = append(cases, benchCase{book: b, moment: "first", request: first}, benchCase{book: b, moment: "steady", request: steady})
	}
	for i := range cases {
		if err := cases[i].measure(ctx, candidates, logs, p); err != nil {
			return fmt.Errorf("cannot measure %s, %s: %w", cases[i].book.Title, cases[i].moment, err)
		}
		fmt.Print(progress(candidates, cases[i]))
	}

	return os.WriteFile(out, []byte(report(candidates, cases, p)), 0o644)
}

// candidatesIn returns the candidates whose binaries there are.
func candidatesIn(bin, only string) ([]candidate, error) {
	template := step{binary: "function-go-templating", inputFile: "go-templating.yaml"}
	all := []candidate{
		{name: noop, steps: []step{{binary: "bench-noop"}}},
		{name: minimum, steps: []step{{binary: "bench-minimum"}}},
		{name: tuned, steps: []step{{binary: "bench-minimum", env: []string{"GOGC=400"}}}},
		// Metrics are on, as they are in a pod.
		{name: ours, steps: []step{{binary: "function-markdownview", args: []string{"--metrics-address=127.0.0.1:0"}}}},
		{name: "patch-and-transform", steps: []step{{binary: "function-patch-and-transform", inputFile: "patch-and-transform.yaml"}}},
		{name: templating, steps: []step{template}},
		{name: "go-templating, auto-ready", steps: []step{template, {binary: "function-auto-ready"}}},
	}

	var found []candidate
	for _, c := range all {
		if only != "" && !slices.Contains(strings.Split(only, ","), c.name) {
			continue
		}
		ok, err := c.resolve(bin)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, c)
		}
	}

	return found, nil
}

// resolve finds the binaries and Inputs of the steps, and returns whether there
// are all.
func (c candidate) resolve(bin string) (bool, error) {
	for i := range c.steps {
		s := &c.steps[i]
		s.binary = filepath.Join(bin, s.binary)
		if _, err := os.Stat(s.binary); err != nil {
			fmt.Printf("%s is left out: %v\n", c.name, err)

			return false, nil
		}
		if s.inputFile == "" {
			continue
		}
		data, err := peers.ReadFile("peers/" + s.inputFile)
		if err != nil {
			return false, fmt.Errorf("cannot read Input: %w", err)
		}
		input := map[string]any{}
		if err := yaml.Unmarshal(data, &input); err != nil {
			return false, fmt.Errorf("cannot decode Input %q: %w", s.inputFile, err)
		}
		if s.input, err = structpb.NewStruct(input); err != nil {
			return false, fmt.Errorf("cannot convert Input %q: %w", s.inputFile, err)
		}
	}

	return true, nil
}

// measure starts the candidates anew, so that each case has its own peak of
// memory, and measures them.
func (c *benchCase) measure(ctx context.Context, candidates []candidate, logs string, p plan) error {
	var all []*running
	defer func() {
		for _, r := range all {
			r.stop()
		}
	}()
	responses := map[string]*fnv1.RunFunctionResponse{}
	for _, candidate := range candidates {
		r, err := candidate.run(ctx, c.request, logs)
		if err != nil {
			return err
		}
		all = append(all, r)
		responses[candidate.name] = r.response
	}
	if err := same(responses[minimum], responses[ours]); err != nil {
		return err
	}

	var err error
	c.figures, err = measure(ctx, all, p)

	return err
}

// same returns an error where the answers differ, but for the hash: a floor is
// one only if it does the same.
func same(minimum, ours *fnv1.RunFunctionResponse) error {
	if minimum == nil || ours == nil {
		return nil
	}
	for _, r := range []*fnv1.RunFunctionResponse{minimum, ours} {
		if annotations(r.GetDesired())[revision].GetStringValue() == "" {
			return errors.New("an answer has no revision")
		}
	}
	minimum, ours = proto.CloneOf(minimum), proto.CloneOf(ours)
	delete(annotations(minimum.GetDesired()), revision)
	delete(annotations(ours.GetDesired()), revision)
	if diff := cmp.Diff(ours, minimum, protocmp.Transform()); diff != "" {
		return fmt.Errorf("the minimum does something else: -ours, +minimum:\n%s", diff)
	}

	return nil
}
