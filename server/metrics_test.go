package server

import (
	"bufio"
	"errors"
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
	c, err := loadCertificates(dir, NewLogger(io.Discard, false))
	if err != nil {
		t.Fatal(err)
	}
	m := newMetrics()
	m.watch(c)
	newGRPC(echo, m, health.NewServer(), 1, 1)
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "go_") || strings.HasPrefix(f.GetName(), "process_") {
			continue
		}
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, "`"+l.GetName()+"`")
		}
		got = append(got, strings.Join(strings.Fields(fmt.Sprintf("| `%s` | %s | %s | %s |", f.GetName(), strings.ToLower(f.GetType().String()), strings.Join(labels, ", "), f.GetHelp())), " "))
	}

	page, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for line := range strings.Lines(string(page)) {
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
	sample := func(result fn.Result) string {
		return fmt.Sprintf("function_markdownview_results_total{reason=%q,severity=%q}", result.Reason, result.Severity)
	}
	for _, result := range fn.Results() {
		if got := r.metric(t, sample(result)); got != 0 {
			t.Errorf("%s before the first call: want 0, got %v", sample(result), got)
		}
	}
	for range 2 {
		if err := call(dial(t, r.address, r.creds(t)), &fnv1.RunFunctionRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]float64{
		"function_markdownview_panics_total":                                  2,
		sample(fn.Result{Severity: "fatal", Reason: report.ReasonPanic}):      2,
		sample(fn.Result{Severity: "normal", Reason: report.ReasonAvailable}): 2,
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
	var idle []net.Conn
	for range maxConnections {
		conn := r.connect(t)
		if err := livez(conn, patience); err != nil {
			t.Fatal(err)
		}
		idle = append(idle, conn)
	}

	next := r.connect(t)
	if err := livez(next, 200*time.Millisecond); err == nil {
		t.Errorf("/livez with %d idle connections: want no response", maxConnections)
	}
	_ = idle[0].Close()
	if err := livez(next, patience); err != nil {
		t.Errorf("/livez after an idle connection closed: %v", err)
	}
}

func TestMetricsIdleTimeout(t *testing.T) {
	r := serve(t, echo, times{idle: 10 * time.Millisecond})
	conn := r.connect(t)
	if err := livez(conn, patience); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("an idle connection: want it closed, got %v", err)
	}
}

// connect opens a connection to the metrics port.
func (r *testServer) connect(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", r.metrics)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })

	return conn
}

// livez gets /livez and leaves the connection open.
func livez(conn net.Conn, timeout time.Duration) error {
	if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		return err
	}
	rsp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err
	}
	defer rsp.Body.Close() //nolint:errcheck // It is read.
	_, err = io.Copy(io.Discard, rsp.Body)

	return err
}
