package main

import (
	"context"
	"fmt"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// A candidate is a pipeline that is measured, in most cases of one function.
type candidate struct {
	name  string
	steps []step
}

// A step of a pipeline.
type step struct {
	binary    string
	args      []string
	env       []string
	inputFile string
	input     *structpb.Struct
}

// A running candidate is one that answers a certain request.
type running struct {
	candidate
	processes []*process
	requests  [][]byte
	response  *fnv1.RunFunctionResponse
}

// run starts a candidate, and finds out what each of its steps is asked when the
// pipeline is asked req. Of an observed Deployment it makes one that the
// candidate itself has asked for.
func (c candidate) run(ctx context.Context, req *fnv1.RunFunctionRequest, logs string) (*running, error) {
	r := &running{candidate: c}
	for _, s := range c.steps {
		p, err := start(ctx, s.binary, append([]string{"--max-recv-message-size=16"}, s.args...), s.env, logs)
		if err != nil {
			r.stop()
			return nil, err
		}
		r.processes = append(r.processes, p)
	}

	req = proto.CloneOf(req)
	if err := r.ask(ctx, req); err != nil {
		r.stop()
		return nil, err
	}
	if observed := annotations(req.GetObserved()); observed != nil {
		observed[revision] = annotations(r.response.GetDesired())[revision]
		if err := r.ask(ctx, req); err != nil {
			r.stop()
			return nil, err
		}
	}

	return r, nil
}

// ask runs the pipeline once, and keeps the requests and the last response.
func (r *running) ask(ctx context.Context, req *fnv1.RunFunctionRequest) error {
	r.requests = nil
	req = proto.CloneOf(req)
	for i, p := range r.processes {
		req.Input = r.steps[i].input
		data, err := proto.Marshal(req)
		if err != nil {
			return fmt.Errorf("cannot encode request: %w", err)
		}
		answer, err := p.call(ctx, data)
		if err != nil {
			return fmt.Errorf("cannot call %s: %w", r.steps[i].binary, err)
		}
		r.requests = append(r.requests, data)
		r.response = &fnv1.RunFunctionResponse{}
		if err := proto.Unmarshal(answer, r.response); err != nil {
			return fmt.Errorf("cannot decode response: %w", err)
		}
		for _, result := range r.response.GetResults() {
			if result.GetSeverity() == fnv1.Severity_SEVERITY_FATAL {
				return fmt.Errorf("%s answers: %s", r.steps[i].binary, result.GetMessage())
			}
		}
		req.Desired = r.response.GetDesired()
	}

	return nil
}

// revision is the annotation by which a Deployment tells what it was asked for.
const revision = "markdownview.fn.crossplane.io/revision"

// annotations returns those of the Deployment's pod template.
func annotations(s *fnv1.State) map[string]*structpb.Value {
	at := s.GetResources()["deployment"].GetResource()
	for _, name := range []string{"spec", "template", "metadata", "annotations"} {
		at = at.GetFields()[name].GetStructValue()
	}

	return at.GetFields()
}

func (r *running) stop() {
	for _, p := range r.processes {
		p.stop()
	}
}

// call runs the pipeline once, as it was asked at the start.
func (r *running) call(ctx context.Context) error {
	for i, p := range r.processes {
		if _, err := p.call(ctx, r.requests[i]); err != nil {
			return fmt.Errorf("cannot call %s: %w", r.steps[i].binary, err)
		}
	}

	return nil
}

// cpu returns how long all processes of the pipeline have run on a CPU.
func (r *running) cpu() (time.Duration, error) {
	sum := time.Duration(0)
	for _, p := range r.processes {
		used, err := p.cpu()
		if err != nil {
			return 0, err
		}
		sum += used
	}

	return sum, nil
}

func (r *running) forgetPeak() error {
	for _, p := range r.processes {
		if err := p.forgetPeak(); err != nil {
			return fmt.Errorf("cannot reset the peak of memory: %w", err)
		}
	}

	return nil
}

// peakRSS returns the sum of what each process has had at most.
func (r *running) peakRSS() (int, error) {
	sum := 0
	for _, p := range r.processes {
		rss, err := p.peakRSS()
		if err != nil {
			return 0, err
		}
		sum += rss
	}

	return sum, nil
}
