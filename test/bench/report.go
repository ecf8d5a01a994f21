package main

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// A target is the maximum cost of the function, in multiples of the no-op.
type target struct {
	cpu, p99 float64
}

// targets are the targets by the title of the case.
var targets = map[string]target{
	"2 files, first":  {cpu: 0.8, p99: 1.5},
	"2 files, steady": {cpu: 0.35, p99: 1.5},
	"100 KiB, first":  {cpu: 1.1, p99: 1.5},
	"100 KiB, steady": {cpu: 0.65, p99: 1.5},
	"900 KiB, first":  {cpu: 1.3, p99: 1.8},
	"900 KiB, steady": {cpu: 1.0, p99: 1.5},
}

// memoryTarget is the target for peak memory with the largest book.
const memoryTarget = 1.0

// header returns the text before the tables of the report. load is the load average
// before the measurement.
func header(p plan, cpu, load string) string {
	return fmt.Sprintf(`# Speed

`+"`make bench`"+` writes this page. Every number is a multiple of the CPU, latency or memory of *no-op*, a function that does nothing and uses function-sdk-go ([test/bench/noop](../test/bench/noop)). The target is in the column *at most*. **Bold** numbers miss their target.

- *floor* is a gRPC server that reads the request, decodes nothing, and sends a response of function-markdownview that was encoded beforehand ([test/bench/floor](../test/bench/floor)).
- In *first*, there are no composed resources yet. In *steady*, the MarkdownView is healthy, and the request has the XR and its composed resources as an API server returns them, with managedFields.
- function-auto-ready is the next step of the pipeline, after function-markdownview.
- function-go-templating and function-patch-and-transform compose the same resources ([test/bench/peers](../test/bench/peers)). They are measured only if their binaries are in `+"`.bin`"+`, because they cannot be built from Go modules everywhere.

All functions run side by side and are called in turn: each round calls each of them for %s over gRPC on loopback, without TLS, and after each fifth of the rounds new processes start. Measured on %s with %d CPUs (%s, load average %s) and %s. The numbers are medians of %d rounds. A busy machine distorts the p99 latency most.

`, p.slot, time.Now().Format(time.DateOnly), runtime.NumCPU(), cpu, load, runtime.Version(), p.rounds)
}

// report returns the tables.
func report(cases []benchCase) string {
	t := &strings.Builder{}
	columns := []string{"floor", noop, ours, "at most"}
	for _, c := range candidates() {
		if c.input != "" || c.follows {
			if _, ok := cases[0].figures[c.name]; ok {
				columns = append(columns, c.name)
			}
		}
	}
	fmt.Fprintf(t, "| CPU per call, %d callers | %s |\n|---|%s\n", callers, strings.Join(columns, " | "), strings.Repeat("--:|", len(columns)))
	for _, c := range cases {
		fmt.Fprintf(t, "| %s |", c.title)
		for _, column := range columns {
			switch column {
			case noop:
				fmt.Fprint(t, " 1 |")
			case "at most":
				fmt.Fprintf(t, " %.2f |", c.target.cpu)
			default:
				ratio := median(ratios(c.figures[column].cpu, c.figures[noop].cpu))
				if column != ours {
					fmt.Fprintf(t, " %.2f |", ratio)
					continue
				}
				fmt.Fprintf(t, " %s |", format(ratio, c.target.cpu))
			}
		}
		fmt.Fprintln(t)
	}

	fmt.Fprintf(t, "\n| | %s | at most |\n|---|--:|--:|\n", ours)
	for _, c := range cases {
		ratio := median(ratios(c.figures[ours].p99(), c.figures[noop].p99()))
		fmt.Fprintf(t, "| p99 latency, %d callers; %s | %s | %.2f |\n", callers, c.title, format(ratio, c.target.p99), c.target.p99)
	}
	for _, c := range cases {
		if c.large {
			ratio := median(c.figures[ours].peaks) / median(c.figures[noop].peaks)
			fmt.Fprintf(t, "| peak memory, %d callers; %s | %s | %.2f |\n", memoryCallers, c.title, format(ratio, memoryTarget), memoryTarget)
		}
	}

	return t.String()
}

// format returns a ratio, in bold if it misses its target.
func format(ratio, most float64) string {
	if ratio > most {
		return fmt.Sprintf("**%.2f**", ratio)
	}

	return fmt.Sprintf("%.2f", ratio)
}

// machine returns the name of the CPU, or its architecture, and the load average of the last
// minute.
func machine() (cpu, load string) {
	cpu, load = runtime.GOARCH, "unknown"
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return cpu, load
	}
	if all, err := fs.CPUInfo(); err == nil && len(all) > 0 && all[0].ModelName != "" {
		cpu = all[0].ModelName
	}
	if l, err := fs.LoadAvg(); err == nil {
		load = fmt.Sprintf("%.2f", l.Load1)
	}

	return cpu, load
}
