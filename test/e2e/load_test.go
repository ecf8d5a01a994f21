package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A load is what composing many MarkdownViews takes.
type load struct {
	MarkdownViews int `json:"markdownViews"`

	// SecondsToHealthy is from the first create to the last MarkdownView being
	// healthy.
	SecondsToHealthy float64 `json:"secondsToHealthy"`

	// CallsPerMarkdownView of the function.
	CallsPerMarkdownView float64 `json:"callsPerMarkdownView"`

	// FunctionCPUSeconds that the function has used.
	FunctionCPUSeconds float64 `json:"functionCPUSeconds"`

	// FunctionPeakMiB is the most memory that the function had resident, looked
	// at each second.
	FunctionPeakMiB float64 `json:"functionPeakMiB"`
}

// Load shows that many MarkdownViews at once all end as they should, and what
// that takes. E2E_LOAD_FILE names a file for the figures.
func Load(k *kit) {
	n := 500
	if k.loopback == nil {
		n = 50 // More pods than a node takes would wait for ever.
	}
	calls, cpu := k.calls(), k.metric("process_cpu_seconds_total")
	peak, stop := k.peak("process_resident_memory_bytes")
	begin := time.Now()
	names := k.crowd(n)
	k.settleAll(5*time.Minute, n)
	l := load{MarkdownViews: n, SecondsToHealthy: time.Since(begin).Seconds()}
	stop()
	k.calm()
	l.CallsPerMarkdownView = float64(k.calls()-calls) / float64(n)
	l.FunctionCPUSeconds = k.metric("process_cpu_seconds_total") - cpu
	l.FunctionPeakMiB = *peak / (1 << 20)
	k.right(names)

	b, err := json.MarshalIndent(l, "", "  ")
	k.must(err)
	k.Logf("%s", b)
	if path := os.Getenv("E2E_LOAD_FILE"); path != "" {
		k.must(os.WriteFile(path, append(b, '\n'), 0o644))
	}
}

// metric of the function, over all of its processes.
func (k *kit) metric(name string) float64 {
	k.Helper()
	all, err := k.FunctionMetrics(k.Context())
	k.must(err)
	sum, err := metricOf(name, all)
	k.must(err)
	return sum
}

func metricOf(name string, all []string) (float64, error) {
	line := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`)
	found := line.FindAllStringSubmatch(strings.Join(all, "\n"), -1)
	if len(found) == 0 {
		return 0, fmt.Errorf("the function has no metric %s", name)
	}
	sum := 0.0
	for _, m := range found {
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// peak follows the highest value of a metric until it is stopped.
func (k *kit) peak(name string) (*float64, func()) {
	highest, stop, stopped := 0.0, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			if all, err := k.FunctionMetrics(k.Context()); err == nil {
				if now, err := metricOf(name, all); err == nil {
					highest = max(highest, now)
				}
			}
			select {
			case <-stop:
				return
			case <-time.After(time.Second):
			}
		}
	}()
	return &highest, func() { close(stop); <-stopped }
}
