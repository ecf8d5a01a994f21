package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A plan says how long is measured.
type plan struct {
	rounds  int
	slot    time.Duration // For each candidate in each round.
	callers int
}

// figures of one candidate for one case.
type figures struct {
	latencies []time.Duration // Of calls one after another, sorted.
	cpu       []time.Duration // Per call, for each round of calls one after another.
	busyCPU   []time.Duration // Per call, for each round of parallel calls.
	rate      []float64       // Calls per second, for each round of parallel calls.
	peaks     []int           // Most memory in bytes, for each round of parallel calls.
	request   int             // Size in bytes.
}

// measure measures candidates side by side: each round gives each of them a
// slot, in another order, so that whatever else the machine does is shared.
func measure(ctx context.Context, all []*running, p plan) ([]figures, error) {
	out := make([]figures, len(all))
	for i, r := range all {
		out[i].request = len(r.requests[0])
	}
	// The first round is for caches and heaps, and is not kept.
	for round := range p.rounds + 1 {
		for at := range all {
			i := (at + round) % len(all)
			f := &out[i]
			if err := f.oneByOne(ctx, all[i], p); err != nil {
				return nil, err
			}
			if err := f.parallel(ctx, all[i], p); err != nil {
				return nil, err
			}
			if round == 0 {
				out[i] = figures{request: f.request}
			}
		}
	}
	for i := range all {
		slices.Sort(out[i].latencies)
	}

	return out, nil
}

func (f *figures) oneByOne(ctx context.Context, r *running, p plan) error {
	before, err := r.cpu()
	if err != nil {
		return err
	}
	calls := 0
	for start := time.Now(); time.Since(start) < p.slot || calls < 3; calls++ {
		began := time.Now()
		if err := r.call(ctx); err != nil {
			return err
		}
		f.latencies = append(f.latencies, time.Since(began))
	}
	after, err := r.cpu()
	f.cpu = append(f.cpu, (after-before)/time.Duration(calls))

	return err
}

func (f *figures) parallel(ctx context.Context, r *running, p plan) error {
	if err := r.forgetPeak(); err != nil {
		return err
	}
	before, err := r.cpu()
	if err != nil {
		return err
	}
	var (
		group sync.WaitGroup
		calls atomic.Int64
		fault atomic.Pointer[error]
		start = time.Now()
	)
	for range p.callers {
		group.Go(func() {
			for time.Since(start) < p.slot {
				if err := r.call(ctx); err != nil {
					fault.Store(&err)
					return
				}
				calls.Add(1)
			}
		})
	}
	group.Wait()
	took := time.Since(start)
	if err := fault.Load(); err != nil {
		return fmt.Errorf("%d callers: %w", p.callers, *err)
	}
	after, err := r.cpu()
	if err != nil {
		return err
	}
	peak, err := r.peakRSS()
	f.peaks = append(f.peaks, peak)
	f.busyCPU = append(f.busyCPU, (after-before)/time.Duration(calls.Load()))
	f.rate = append(f.rate, float64(calls.Load())/took.Seconds())

	return err
}

// calls returns how many calls per second there were in a good round.
func (f *figures) calls() float64 {
	return quantile(slices.Sorted(slices.Values(f.rate)), 0.75)
}

// rss returns the peak of memory of a usual round. A single round in which the
// machine kept the garbage collector waiting says nothing of the function.
func (f *figures) rss() int {
	return quantile(slices.Sorted(slices.Values(f.peaks)), 0.5)
}

// quantile returns the value below which a share of sorted values is.
func quantile[T any](sorted []T, share float64) T {
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

// typical returns the lower quartile of what was measured in each round:
// whatever else the machine does in the meantime only ever adds.
func typical(values []time.Duration) time.Duration {
	return quantile(slices.Sorted(slices.Values(values)), 0.25)
}
