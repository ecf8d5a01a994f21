package server

import (
	"fmt"
	"net"
	"net/http"
	"time"

	grpcprometheus "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/net/netutil"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/crossplane-contrib/function-markdownview/fn"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
)

// maxConnections is the maximum number of connections to the metrics port, which requires no
// certificate. The kubelet and Prometheus use a few.
const maxConnections = 256

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

// listenMetrics returns the listener for metrics and probes, or nil if there is none.
func listenMetrics(o Options, log Logger) (net.Listener, error) {
	if o.MetricsAddress == "" {
		return nil, nil
	}
	lis, err := net.Listen("tcp", o.MetricsAddress)
	if err != nil && o.Insecure {
		log.Warn("Cannot serve metrics and probes", "error", err.Error())
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot listen for metrics: %w", err)
	}

	return netutil.LimitListener(lis, maxConnections), nil
}

// newHTTP returns the HTTP server for Prometheus, and for the probes of the kubelet,
// which has no client certificate for the health service of gRPC.
func newHTTP(m *metrics, h healthv1.HealthServer, idle time.Duration) *http.Server {
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 8}))
	mux.HandleFunc("/livez", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "ok") //nolint:errcheck // The client is gone.
	})
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, r *http.Request) {
		rsp, err := h.Check(r.Context(), &healthv1.HealthCheckRequest{})
		if err != nil || rsp.GetStatus() != healthv1.HealthCheckResponse_SERVING {
			http.Error(w, "not serving", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok") //nolint:errcheck // The client is gone.
	})

	return &http.Server{Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: idle}
}
