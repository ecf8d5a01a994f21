package server

import (
	"context"
	"os"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
)

// docs/metrics.md has a row for each metric that a server with mTLS shows, and
// for no other. Those of the Go runtime and the process are not ours to explain.
func TestMetricsAreDocumented(t *testing.T) {
	r := serve(t, func(context.Context, *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
		return &fnv1.RunFunctionResponse{Results: []*fnv1.Result{fatal("Reason", "message")}}, nil
	}, times{})
	if _, err := r.call(t, &fnv1.RunFunctionRequest{}); err != nil {
		t.Fatal(err)
	}

	doc, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(documented(string(doc)), exposed(r.scrape(t))); diff != "" {
		t.Errorf("metrics: -docs/metrics.md, +/metrics:\n%s", diff)
	}
}

// A metric as the table has it.
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

// exposed reads name, type, labels and help from the text that Prometheus reads.
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

// labels returns the names in the braces of a sample. No value has a comma.
func labels(sample string) string {
	var names []string
	for _, pair := range strings.Split(sample, ",") {
		if name, _, ok := strings.Cut(pair, "="); ok {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
