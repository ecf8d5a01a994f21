package server

import (
	"strings"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	grpcprometheus "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// metrics are what /metrics shows. docs/metrics.md explains each of them; a test
// holds the two together.
type metrics struct {
	registry *prometheus.Registry
	grpc     *grpcprometheus.ServerMetrics
	results  *prometheus.CounterVec
	panics   prometheus.Counter
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		grpc:     grpcprometheus.NewServerMetrics(),
		results: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "function_markdownview_results_total",
			Help: "Results that the function returned, by severity (fatal, warning, normal) and reason.",
		}, []string{"severity", "reason"}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "function_markdownview_panics_total",
			Help: "Panics that were turned into a fatal result.",
		}),
	}
	m.registry.MustRegister(m.grpc, m.results, m.panics, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// countResults counts each result of a response. Reasons are few constants of
// the function, so that they will do as a label.
func (m *metrics) countResults(rsp *fnv1.RunFunctionResponse) {
	for _, r := range rsp.GetResults() {
		severity := strings.ToLower(strings.TrimPrefix(r.GetSeverity().String(), "SEVERITY_"))
		m.results.WithLabelValues(severity, r.GetReason()).Inc()
	}
}

// watch registers the expiry of the certificates. Each scrape looks at the
// directory, so that a rotation is noticed, or complained about, even where no
// client connects.
func (m *metrics) watch(c *certificates) {
	for _, file := range []string{certFile, caFile} {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name:        "function_markdownview_certificate_expiry_timestamp_seconds",
			Help:        "When the certificate in use expires, in seconds since 1970; of several in the file the first to expire.",
			ConstLabels: prometheus.Labels{"file": file},
		}, func() float64 { return float64(c.latest().expiry[file].Unix()) }))
	}
}
