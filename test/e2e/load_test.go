package e2e

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Load shows that many MarkdownViews at once all end as they should. What that
// takes goes into the file that E2E_LOAD names, as a page.
func Load(k *kit) {
	n := 500
	if k.realPods {
		n = k.many() // A node does not take as many pods.
	}
	calls, cpu := k.calls(), sum(k.metric("process_cpu_seconds_total"))
	peak, stop := k.peak("process_resident_memory_bytes")
	begin := time.Now()
	names := k.crowd(n)
	k.settleAll(10*time.Minute, n)
	healthy := time.Since(begin)
	stop()
	k.calm()
	calls, cpu = k.calls()-calls, sum(k.metric("process_cpu_seconds_total"))-cpu
	k.right(names)

	page := fmt.Sprintf(`# A crowd

Written by `+"`make e2e RUN=Load NODE=simulated`"+` on %s, with %d CPUs for Kubernetes, Crossplane and the function.

| | |
|---|--:|
| MarkdownViews created at once | %d |
| until the last one is healthy | %.0f s |
| calls of the function for each | %.1f |
| CPU that the function used | %.1f s |
| most memory that it had resident | %.0f MiB |
`, time.Now().Format(time.DateOnly), runtime.NumCPU(), n, healthy.Seconds(), float64(calls)/float64(n), cpu, *peak/(1<<20))
	k.Log("\n" + page)
	if path := os.Getenv("E2E_LOAD"); path != "" {
		k.must(os.WriteFile(path, []byte(page), 0o600))
	}
}

// metric of the function, for each of its processes.
func (k *kit) metric(name string) []float64 {
	k.Helper()
	values, err := k.tryMetric(name)
	k.must(err)

	return values
}

func (k *kit) tryMetric(name string) ([]float64, error) {
	all, err := k.FunctionMetrics(k.Context())
	if err != nil {
		return nil, err
	}

	return metricOf(name, all)
}

func metricOf(name string, all []string) ([]float64, error) {
	line := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`)
	values := []float64{}
	for _, m := range line.FindAllStringSubmatch(strings.Join(all, "\n"), -1) {
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return nil, err
		}
		values = append(values, n)
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("the function has no metric %s", name)
	}

	return values, nil
}

func sum(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}

	return total
}

// peak follows the highest value of a metric until it is stopped.
func (k *kit) peak(name string) (*float64, func()) {
	highest, stop, stopped := 0.0, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			if now, err := k.tryMetric(name); err == nil {
				highest = max(highest, sum(now))
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
