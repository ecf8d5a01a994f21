package server

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestMetricsAreDocumented checks that docs/metrics.md has a row for each metric of a
// server with mTLS, and for no other, except for the metrics of the Go runtime and the
// process.
func TestMetricsAreDocumented(t *testing.T) {
	r := serve(t, echo, times{})
	doc, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text := r.get(t, "/metrics")
	if diff := cmp.Diff(documented(string(doc)), exposed(text)); diff != "" {
		t.Errorf("metrics: -docs/metrics.md, +/metrics:\n%s", diff)
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

// A metric is a row of the table.
type metric struct{ Type, Labels, Meaning string }

// documented reads the rows of the table whose first cell names a metric.
func documented(doc string) map[string]metric {
	rows := map[string]metric{}
	for _, line := range strings.Split(doc, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`") {
			continue
		}
		name := strings.Trim(cells[1], " `")
		rows[name] = metric{Type: strings.TrimSpace(cells[2]), Labels: strings.ReplaceAll(strings.TrimSpace(cells[3]), "`", ""), Meaning: strings.TrimSpace(cells[4])}
	}

	return rows
}

// exposed reads the name, type, labels and help of each metric from the text format of
// Prometheus.
func exposed(text string) map[string]metric {
	rows := map[string]metric{}
	for _, line := range strings.Split(text, "\n") {
		word := strings.SplitN(line, " ", 4)
		switch {
		case strings.HasPrefix(line, "# HELP "):
			rows[word[2]] = metric{Meaning: word[3]}
		case strings.HasPrefix(line, "# TYPE "):
			m := rows[word[2]]
			m.Type = word[3]
			rows[word[2]] = m
		default:
			name, rest, _ := strings.Cut(line, "{")
			if m, ok := rows[name]; ok {
				m.Labels = labels(rest)
				rows[name] = m
			}
		}
	}
	for name := range rows {
		if strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_") {
			delete(rows, name)
		}
	}

	return rows
}

// labels returns the names of the labels of a sample. No value of a label has a comma.
func labels(sample string) string {
	var names []string
	for _, pair := range strings.Split(sample, ",") {
		if name, _, ok := strings.Cut(pair, "="); ok {
			names = append(names, name)
		}
	}

	return strings.Join(names, ", ")
}
