package server

import (
	grpcprometheus "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/crossplane-contrib/function-markdownview/fn"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
)

// metrics are the metrics of the server. A test checks that docs/metrics.md describes each
// of them.
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
			Help: "Panics that the function recovered from and returned as a fatal result.",
		}),
	}
	m.registry.MustRegister(m.grpc, m.results, m.panics, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	// PromQL's increase() does not count the first result of a new series.
	for _, r := range fn.Results() {
		m.results.WithLabelValues(r.Severity, r.Reason)
	}

	return m
}

// count counts the results of a response.
func (m *metrics) count(results []fn.Result) {
	for _, r := range results {
		m.results.WithLabelValues(r.Severity, r.Reason).Inc()
		if r.Reason == report.ReasonPanic {
			m.panics.Inc()
		}
	}
}

// watch registers the expiry of the certificates. Each scrape reads the directory, so
// the server loads new certificates, or logs an error, even if no client connects.
func (m *metrics) watch(c *certificates) {
	for _, file := range []string{certFile, caFile} {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name:        "function_markdownview_certificate_expiry_timestamp_seconds",
			Help:        "When the certificate expires, in seconds since 1970. If the file has several, the first expiry.",
			ConstLabels: prometheus.Labels{"file": file},
		}, func() float64 { return float64(c.latest().expiry[file].Unix()) }))
	}
}
