package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// header of the report.
const header = `# Speed

Written by ` + "`make bench`" + `. CPU is what a call costs in all threads of the function's process, kernel included, under %d parallel callers; p50 and p99 are of calls one after another; memory is the most that was resident while %d parallel callers called, in a usual round.

- **minimum**: a function written by hand for speed alone, which gives the same answers to these requests (checked on each run, but for the value of its hash): [test/bench/minimum](../test/bench/minimum). Plain grpc-go, no metrics, no checks of an Input, and the garbage collector as Go sets it (GOGC=100). Ours sets GOGC=400 and limits the calls at a time instead, and so its memory: where ours takes less than the minimum, it is for this. **minimum GOGC=400** is the same binary with that setting too, and without that limit.
- **no-op**: a function that does nothing, served by function-sdk-go: [test/bench/noop](../test/bench/noop).
- **ours**: the binary of this repository, as it runs in a pod but for TLS.
- The others compose the same three resources with the Inputs in [test/bench/peers](../test/bench/peers). function-patch-and-transform composes no status but what it can copy. "auto-ready" is function-auto-ready as the next step of the pipeline.

All run at the same time, each in its turn, so that whatever else the machine does falls on each of them. It only ever adds, so of CPU the lower quartile of the rounds counts. A book has 1, 20 or 100 chapters. In *first* nothing has been composed yet; in *steady* the book is served, and the request holds XR and composed resources as a real API server returned them to Crossplane, managedFields included.

`

// progress returns a case in few lines.
func progress(candidates []candidate, c benchCase) string {
	t := &strings.Builder{}
	fmt.Fprintf(t, "%s:\n", c.title())
	for i, candidate := range candidates {
		f := c.figures[i]
		fmt.Fprintf(t, "  %-26s CPU %7s, one by one %7s; p50 %7s, p99 %7s; %7.0f calls/s; %4d MiB\n",
			candidate.name, rounded(typical(f.busyCPU)), rounded(typical(f.cpu)),
			rounded(quantile(f.latencies, 0.5)), rounded(quantile(f.latencies, 0.99)), f.calls(), f.rss()>>20)
	}

	return t.String()
}

// title says what is asked.
func (c benchCase) title() string {
	return c.book.Title + ", " + c.moment
}

// report returns the page that is written.
func report(candidates []candidate, cases []benchCase, p plan) string {
	t := &strings.Builder{}
	fmt.Fprintf(t, header, p.callers, p.callers)
	fmt.Fprintf(t, "Measured on %s with %d CPUs (%s) and %s, in %d rounds of %s each.\n", time.Now().Format(time.DateOnly), runtime.NumCPU(), cpuModel(), runtime.Version(), p.rounds, p.slot)

	base := slices.IndexFunc(candidates, func(c candidate) bool { return c.name == minimum })
	if base >= 0 {
		targets(t, candidates, cases)
		t.WriteString("\n## Ratios to the minimum\n\n")
		compare(t, "CPU per call", candidates, cases, func(c benchCase, i int) string {
			return fmt.Sprintf("%.2f", float64(typical(c.figures[i].busyCPU))/float64(typical(c.figures[base].busyCPU)))
		})
		compare(t, "p50", candidates, cases, func(c benchCase, i int) string {
			return fmt.Sprintf("%.2f", float64(quantile(c.figures[i].latencies, 0.5))/float64(quantile(c.figures[base].latencies, 0.5)))
		})
		compare(t, "Peak memory", candidates, cases, func(c benchCase, i int) string {
			return fmt.Sprintf("%.2f", float64(c.figures[i].rss())/float64(c.figures[base].rss()))
		})
	}

	t.WriteString("\n## As measured\n\n")
	compare(t, "CPU per call", candidates, cases, func(c benchCase, i int) string { return rounded(typical(c.figures[i].busyCPU)) })
	compare(t, "CPU per call, one by one", candidates, cases, func(c benchCase, i int) string { return rounded(typical(c.figures[i].cpu)) })
	compare(t, "p50", candidates, cases, func(c benchCase, i int) string { return rounded(quantile(c.figures[i].latencies, 0.5)) })
	compare(t, "p99", candidates, cases, func(c benchCase, i int) string { return rounded(quantile(c.figures[i].latencies, 0.99)) })
	compare(t, "Calls per second", candidates, cases, func(c benchCase, i int) string { return fmt.Sprintf("%.0f", c.figures[i].calls()) })
	compare(t, "Peak memory, MiB", candidates, cases, func(c benchCase, i int) string { return fmt.Sprint(c.figures[i].rss() >> 20) })
	compare(t, "Request, KiB", candidates, cases, func(c benchCase, i int) string { return fmt.Sprint(c.figures[i].request >> 10) })

	t.WriteString("## Binaries\n\n| | Version | Go | grpc-go | function-sdk-go |\n|---|---|---|---|---|\n")
	var listed []string
	for _, c := range candidates {
		for _, s := range c.steps {
			if slices.Contains(listed, s.binary) {
				continue
			}
			listed = append(listed, s.binary)
			fmt.Fprintf(t, "| %s | %s |\n", filepath.Base(s.binary), strings.Join(versions(s.binary), " | "))
		}
	}

	return t.String()
}

// targets writes what the function shall be, and what it was in the worst case,
// beside each candidate that was measured.
func targets(t *strings.Builder, candidates []candidate, cases []benchCase) {
	cpu := func(f *figures) float64 { return float64(typical(f.busyCPU)) }
	rss := func(f *figures) float64 { return float64(f.rss()) }
	index := func(name string) int {
		return slices.IndexFunc(candidates, func(c candidate) bool { return c.name == name })
	}

	t.WriteString("\n| Target | Wanted | In the worst case |\n|---|--:|--:|\n")
	for _, target := range []struct {
		what, wanted string
		than         string
		large        bool // Only the largest book counts.
		less         bool // How many times less, rather than how many times.
		figure       func(f *figures) float64
	}{
		{what: "CPU per call, of the minimum's", wanted: "at most 1.15", than: minimum, figure: cpu},
		{what: "the same beside minimum GOGC=400", wanted: "", than: tuned, figure: cpu},
		{what: "CPU per call, how many times less than function-go-templating", wanted: "at least 5", than: templating, less: true, figure: cpu},
		{what: "the same, 900 KiB", wanted: "at least 15", than: templating, large: true, less: true, figure: cpu},
		{what: "Peak memory, 900 KiB, of the minimum's", wanted: "at most 1.20", than: minimum, large: true, figure: rss},
	} {
		we, they := index(ours), index(target.than)
		if we < 0 || they < 0 {
			continue
		}
		worst := 0.0
		for _, c := range cases {
			if !target.large || c.book.Name == "large" {
				worst = max(worst, target.figure(&c.figures[we])/target.figure(&c.figures[they]))
			}
		}
		if target.less {
			worst = 1 / worst
		}
		fmt.Fprintf(t, "| %s | %s | %.2f |\n", target.what, target.wanted, worst)
	}
}

// compare writes a table with a row for each case and a column for each
// candidate.
func compare(t *strings.Builder, what string, candidates []candidate, cases []benchCase, cell func(c benchCase, i int) string) {
	fmt.Fprintf(t, "| %s |", what)
	for _, c := range candidates {
		fmt.Fprintf(t, " %s |", c.name)
	}
	t.WriteString("\n|---|" + strings.Repeat("--:|", len(candidates)) + "\n")
	for _, c := range cases {
		fmt.Fprintf(t, "| %s |", c.title())
		for i := range candidates {
			fmt.Fprintf(t, " %s |", cell(c, i))
		}
		t.WriteString("\n")
	}
	t.WriteString("\n")
}

// rounded returns a duration with three digits that count.
func rounded(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%d µs", d.Microseconds())
	}

	return fmt.Sprintf("%.1f ms", d.Seconds()*1000)
}

// cpuModel returns what the kernel calls the CPU.
func cpuModel() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(b)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}

	return runtime.GOARCH
}

// versions returns those of a binary, of Go, grpc-go and function-sdk-go in it.
func versions(binary string) []string {
	out := make([]string, 4)
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return out
	}
	out[1] = info.GoVersion
	for _, m := range append(info.Deps, &info.Main) {
		switch m.Path {
		case info.Path:
			out[0] = m.Version
		case "google.golang.org/grpc":
			out[2] = m.Version
		case "github.com/crossplane/function-sdk-go":
			out[3] = m.Version
		}
	}
	if out[0] == "" || out[0] == "(devel)" {
		out[0] = "this commit"
	}

	return out
}
