package server

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/health"

	"github.com/crossplane-contrib/function-markdownview/fn"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
)

// TestMetricsAreDocumented checks that docs/metrics.md has a row for each metric of a
// server with mTLS, and for no other, except for the metrics of the Go runtime and the
// process.
func TestMetricsAreDocumented(t *testing.T) {
	dir := t.TempDir()
	newCA(t).writeServer(t, dir)
	m := newMetrics()
	m.watch(must(loadCertificates(dir, NewLogger(io.Discard, false))))
	newGRPC(echo, m, health.NewServer(), 1, 1)
	var got []string
	for _, f := range must(m.registry.Gather()) {
		if strings.HasPrefix(f.GetName(), "go_") || strings.HasPrefix(f.GetName(), "process_") {
			continue
		}
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, "`"+l.GetName()+"`")
		}
		got = append(got, strings.Join(strings.Fields(fmt.Sprintf("| `%s` | %s | %s | %s |", f.GetName(), strings.ToLower(f.GetType().String()), strings.Join(labels, ", "), f.GetHelp())), " "))
	}

	var want []string
	for line := range strings.Lines(string(must(os.ReadFile("../docs/metrics.md")))) {
		if strings.Count(line, "|") == 5 && strings.HasPrefix(line, "| `") {
			want = append(want, strings.Join(strings.Fields(line), " "))
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics: -docs/metrics.md, +/metrics:\n%s", diff)
	}
}

func TestResultsAreCounted(t *testing.T) {
	r := serve(t, func([]byte) (fn.Response, error) {
		return fn.Response{Results: []fn.Result{{Severity: "fatal", Reason: report.ReasonPanic}, {Severity: "normal", Reason: report.ReasonAvailable}}}, nil
	}, times{})
	sample := func(severity, reason string) string {
		return fmt.Sprintf("function_markdownview_results_total{reason=%q,severity=%q}", reason, severity)
	}
	for _, result := range fn.Results() {
		if got := r.metric(t, sample(result.Severity, result.Reason)); got != 0 {
			t.Errorf("%v before the first call: want 0, got %v", result, got)
		}
	}
	for range 2 {
		if err := call(dial(t, r.address, r.ca.creds(t)), &fnv1.RunFunctionRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]float64{
		"function_markdownview_panics_total":     2,
		sample("fatal", report.ReasonPanic):      2,
		sample("normal", report.ReasonAvailable): 2,
	} {
		if got := r.metric(t, name); got != want {
			t.Errorf("%s after two calls: want %v, got %v", name, want, got)
		}
	}
}

// TestMetricsConnectionLimit checks that idle connections to the metrics port do not
// exhaust memory: their number is limited, and the next connection is served when one
// of them closes.
func TestMetricsConnectionLimit(t *testing.T) {
	r := serve(t, echo, times{})
	var idle *http.Client
	for range maxConnections {
		idle = &http.Client{Transport: &http.Transport{}}
		if _, _, err := r.get(t, idle, "/livez"); err != nil {
			t.Fatal(err)
		}
	}

	next := &http.Client{Transport: &http.Transport{}, Timeout: 200 * time.Millisecond}
	if _, _, err := r.get(t, next, "/livez"); err == nil {
		t.Errorf("/livez with %d idle connections: want no response", maxConnections)
	}
	idle.CloseIdleConnections()
	next.Timeout = patience
	if _, _, err := r.get(t, next, "/livez"); err != nil {
		t.Errorf("/livez after an idle connection closed: %v", err)
	}
}

func TestMetricsIdleTimeout(t *testing.T) {
	r := serve(t, echo, times{idle: 10 * time.Millisecond})
	conn := must(net.Dial("tcp", r.await(t, "Serving metrics and probes")))
	defer conn.Close() //nolint:errcheck // The server closes it.
	_ = conn.SetDeadline(time.Now().Add(patience))
	must(fmt.Fprint(conn, "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"))
	if rsp, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(rsp), "HTTP/1.1 200 OK") {
		t.Errorf("want a response, and then the idle connection closed, got %q, %v", rsp, err)
	}
}
