package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/prometheus/client_golang/api"
	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const production = "../../example/production/"

// monitoring returns the objects of example/production/monitoring.yaml.
func monitoring(t testing.TB) (*monitoringv1.PodMonitor, *monitoringv1.PrometheusRule) {
	t.Helper()
	pods, rules := &monitoringv1.PodMonitor{}, &monitoringv1.PrometheusRule{}
	text, err := os.ReadFile(production + "monitoring.yaml")
	must(t, err)
	first, second, _ := strings.Cut(string(text), "\n---\n")
	must(t, errors.Join(yaml.UnmarshalStrict([]byte(first), pods), yaml.UnmarshalStrict([]byte(second), rules)))

	return pods, rules
}

// writeRules writes a PrometheusRule to a file for Prometheus.
func writeRules(t testing.TB, path string, r *monitoringv1.PrometheusRule) {
	t.Helper()
	content, err := yaml.Marshal(r.Spec)
	must(t, err)
	must(t, os.WriteFile(path, content, 0o600))
}

// TestAlerts runs the unit tests of the alerts with promtool, and checks that each alert
// has a test in which it fires and one in which it does not, and a row in docs/metrics.md.
func TestAlerts(t *testing.T) {
	promtool, err := filepath.Abs("../../.bin/prometheus-trixie/usr/bin/promtool")
	must(t, err)
	if _, err := os.Stat(promtool); err != nil {
		if os.Getenv("NODE") == "real" { // make e2e has unpacked it.
			t.Fatal(err)
		}
		t.Skip("promtool of Debian is not here: run the test with NODE=real")
	}
	_, rules := monitoring(t)
	dir := t.TempDir()
	writeRules(t, filepath.Join(dir, "rules.yaml"), rules)
	tests, err := os.ReadFile("testdata/alerts.yaml")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "alerts.yaml"), tests, 0o600))
	for _, args := range [][]string{{"check", "rules", "--lint-fatal", "rules.yaml"}, {"test", "rules", "alerts.yaml"}} {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v:\n%s", strings.Join(args, " "), err, out)
		}
	}

	var file struct {
		Tests []struct {
			Alerts []struct {
				Name  string `json:"alertname"`
				Fires []any  `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		}
	}
	must(t, yaml.Unmarshal(tests, &file))
	tested := map[string]bool{}
	for _, test := range file.Tests {
		for _, a := range test.Alerts {
			tested[fmt.Sprintf("%s fires: %t", a.Name, len(a.Fires) > 0)] = true
		}
	}
	doc, err := os.ReadFile("../../docs/metrics.md")
	must(t, err)
	want := map[string]bool{}
	for _, g := range rules.Spec.Groups {
		for _, r := range g.Rules {
			want[r.Alert+" fires: true"], want[r.Alert+" fires: false"] = true, true
			if !strings.Contains(string(doc), "\n| `"+r.Alert+"`") {
				t.Errorf("docs/metrics.md has no row of %s", r.Alert)
			}
		}
	}
	if diff := cmp.Diff(want, tested); diff != "" {
		t.Errorf("tests of alerts: -monitoring.yaml +alerts.yaml:\n%s", diff)
	}
}

// selector matches the selectors of series in a query.
var selector = regexp.MustCompile(`\b(?:function_markdownview|grpc_server|markdownview|process)_\w+(?:\{[^}]*\})?`)

// Monitoring checks with Prometheus that every query of the dashboard returns data, that
// the alerts select series that exist, and that those about a MarkdownView without pods
// and about a rejected one become pending. Prometheus scrapes the pods that the PodMonitor
// selects.
func Monitoring(k *kit) {
	k.needsNode()
	monitor, rules := monitoring(k)
	p := k.prometheus(k.scraped(monitor), k.kubeStateMetrics(), rules)

	strict := k.given("strict", "allowedImages: [ghcr.io/peaceiris/mdbook]")
	k.apply(book("measured"), book("broken", brokenImage))
	k.apply(book("rejected", strict, image("docker.io/peaceiris/mdbook:v0.5.0")))
	k.settle("measured")

	queries := k.queries(rules)
	k.eventually("alerts and queries", func(k *kit) {
		result, err := p.Alerts(k.Context())
		k.must(err)
		var alerts []string
		for _, a := range result.Alerts {
			l := a.Labels
			alerts = append(alerts, fmt.Sprintf("%s %q %q %q", l["alertname"], l["namespace"], l["name"], l["reason"]))
		}
		for _, want := range []string{
			`FunctionMarkdownViewRejections "" "" "InvalidSpec"`,
			fmt.Sprintf(`MarkdownViewUnavailable %q "broken" ""`, k.namespace),
			fmt.Sprintf(`MarkdownViewNotReady %q "broken" ""`, k.namespace),
			fmt.Sprintf(`MarkdownViewDegraded %q "rejected" "InvalidSpec"`, k.namespace),
		} {
			if !slices.Contains(alerts, want) {
				k.Errorf("alert %s is not in %q", want, alerts)
			}
		}
		for _, q := range queries {
			k.returnsData(p, q)
		}
	})
}

// queries returns the queries of the dashboard, and the selectors of the alerts.
func (k *kit) queries(rules *monitoringv1.PrometheusRule) []string {
	var all []string
	for _, g := range rules.Spec.Groups {
		for _, r := range g.Rules {
			selectors := selector.FindAllString(r.Expr.String(), -1)
			if len(selectors) == 0 {
				k.Errorf("%s selects no series", r.Alert)
			}
			all = append(all, selectors...)
		}
	}
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	k.must(json.Unmarshal([]byte(k.read(production+"dashboard.json")), &dashboard))
	variables := strings.NewReplacer("$namespace", k.namespace, "$__rate_interval", "1m", "$__range_s", "600", "$__range", "10m")
	for _, panel := range dashboard.Panels {
		for _, t := range panel.Targets {
			all = append(all, variables.Replace(t.Expr))
		}
	}

	return all
}

// scraped returns the addresses of the pods that a PodMonitor selects.
func (k *kit) scraped(m *monitoringv1.PodMonitor) []string {
	pods := &corev1.PodList{}
	k.must(k.List(k.Context(), pods, client.InNamespace(m.Namespace), client.MatchingLabels(m.Spec.Selector.MatchLabels)))
	var targets []string
	for _, p := range pods.Items {
		for _, c := range p.Spec.Containers {
			for _, port := range c.Ports {
				if port.Name == *m.Spec.PodMetricsEndpoints[0].Port {
					targets = append(targets, net.JoinHostPort(p.Status.PodIP, fmt.Sprint(port.ContainerPort)))
				}
			}
		}
	}
	k.equal("pods of the function that Prometheus scrapes", 2, len(targets))

	return targets
}

// prometheus starts Debian's Prometheus. It scrapes the function and kube-state-metrics,
// and evaluates the rules, every second.
func (k *kit) prometheus(function []string, kubeStateMetrics string, rules *monitoringv1.PrometheusRule) promv1.API {
	u, err := url.Parse(kubeStateMetrics)
	k.must(err)
	dir := filepath.Join(k.logs, "prometheus") // It is still written to when a temporary folder of the test is removed.
	k.must(os.MkdirAll(dir, 0o750))
	k.must(os.WriteFile(filepath.Join(dir, "prometheus.yaml"), fmt.Appendf(nil, `
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [rules.yaml]
scrape_configs:
- {job_name: function, static_configs: [{targets: [%s]}]}
- {job_name: kube-state-metrics, honor_labels: true, static_configs: [{targets: [%s]}]}
`, strings.Join(function, ", "), u.Host), 0o600))
	writeRules(k, filepath.Join(dir, "rules.yaml"), rules)
	address := "127.0.0.1:" + k.freePort()
	k.start("prometheus-trixie/usr/bin/prometheus", "--config.file="+filepath.Join(dir, "prometheus.yaml"),
		"--storage.tsdb.path="+dir, "--web.listen-address="+address)
	c, err := api.NewClient(api.Config{Address: "http://" + address})
	k.must(err)
	p := promv1.NewAPI(c)
	// Rates need a sample before the first call.
	k.eventually("metrics in Prometheus", func(k *kit) {
		k.returnsData(p, "function_markdownview_panics_total")
		k.returnsData(p, `up{job="kube-state-metrics"} == 1`)
	})

	return p
}

// returnsData reports an error unless a query returns samples, and all are numbers.
func (k *kit) returnsData(p promv1.API, query string) {
	data, _, err := p.Query(k.Context(), query, time.Now())
	vector, ok := data.(model.Vector)
	if err != nil || !ok || len(vector) == 0 {
		k.Errorf("%s returns no samples, but %v: %v", query, data, err)
		return
	}
	for _, s := range vector {
		if v := float64(s.Value); math.IsNaN(v) || math.IsInf(v, 0) {
			k.Errorf("%s returns %v for %v", query, v, s.Metric)
		}
	}
}
