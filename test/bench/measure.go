package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	callers       = 8  // Parallel callers when CPU and latency are measured.
	memoryCallers = 16 // Parallel callers when memory is measured.

	// processes is how many processes of each candidate measure a case, one after another. The
	// CPU of a call differs by up to a seventh between processes of the same program.
	processes = 5
)

// A plan sets how long to measure.
type plan struct {
	rounds int
	slot   time.Duration // For each candidate in each round.
}

// figures are the measurements of one candidate in one case, by round.
type figures struct {
	cpu       []float64         // Nanoseconds per call.
	latencies [][]time.Duration // The latency of each call.
	peaks     []float64         // Peak of resident memory, in KiB.
}

// measure measures candidates side by side: each round measures all of them, in another
// order, so that other processes of the machine affect all of them.
func measure(ctx context.Context, all []*process, memory bool, p plan, out map[string]*figures) error {
	for round := range p.rounds + 1 {
		for at := range all {
			r := all[(at+round)%len(all)]
			if out[r.name] == nil {
				out[r.name] = &figures{}
			}
			f := out[r.name]
			if round == 0 {
				f = &figures{} // It fills caches and heaps, and is not kept.
			}
			if err := f.speed(ctx, r, p.slot); err != nil {
				return err
			}
			if memory && (r.name == noop || r.name == ours) {
				if err := f.memory(ctx, r, p.slot); err != nil {
					return err
				}
			}
		}
	}

	return nil
}

func (f *figures) speed(ctx context.Context, r *process, slot time.Duration) error {
	before, err := r.cpu()
	if err != nil {
		return err
	}
	latencies, err := r.load(ctx, callers, slot)
	if err != nil {
		return err
	}
	after, err := r.cpu()
	f.cpu = append(f.cpu, float64(after-before)/float64(len(latencies)))
	f.latencies = append(f.latencies, latencies)

	return err
}

func (f *figures) memory(ctx context.Context, r *process, slot time.Duration) error {
	if err := r.forgetPeak(); err != nil {
		return err
	}
	if _, err := r.load(ctx, memoryCallers, slot); err != nil {
		return err
	}
	peak, err := r.peakRSS()
	f.peaks = append(f.peaks, peak)

	return err
}

// load makes parallel calls for the duration slot, and returns the latency of each.
func (p *process) load(ctx context.Context, callers int, slot time.Duration) ([]time.Duration, error) {
	var (
		group     sync.WaitGroup
		start     = time.Now()
		latencies = make([][]time.Duration, callers)
		errs      = make([]error, callers)
	)
	for i := range callers {
		group.Go(func() {
			for errs[i] == nil && time.Since(start) < slot {
				began := time.Now()
				errs[i] = p.call(ctx, nil)
				latencies[i] = append(latencies[i], time.Since(began))
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("%d callers: %w", callers, err)
		}
	}

	return slices.Concat(latencies...), nil
}

// ratios returns the ratios of two series of measurements from the same rounds.
func ratios(of, to []float64) []float64 {
	out := make([]float64, len(of))
	for i := range of {
		out[i] = of[i] / to[i]
	}

	return out
}

// p99 returns the 99th percentile of each group of five rounds: a single round has too
// few calls.
func (f *figures) p99() []float64 {
	var out []float64
	for rounds := range slices.Chunk(f.latencies, 5) {
		sorted := slices.Sorted(slices.Values(slices.Concat(rounds...)))
		out = append(out, float64(sorted[len(sorted)*99/100]))
	}

	return out
}

func median(values []float64) float64 {
	return slices.Sorted(slices.Values(values))[len(values)/2]
}
