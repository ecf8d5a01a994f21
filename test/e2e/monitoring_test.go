package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

const production = "../../example/production/"

// monitoring returns the objects of example/production/monitoring.yaml.
func monitoring(t *testing.T) (*monitoringv1.PodMonitor, *monitoringv1.PrometheusRule) {
	t.Helper()
	pods, rules := &monitoringv1.PodMonitor{}, &monitoringv1.PrometheusRule{}
	text, err := os.ReadFile(production + "monitoring.yaml")
	if err != nil {
		t.Fatal(err)
	}
	first, second, _ := strings.Cut(string(text), "\n---\n")
	if err := errors.Join(yaml.UnmarshalStrict([]byte(first), pods), yaml.UnmarshalStrict([]byte(second), rules)); err != nil {
		t.Fatal(err)
	}

	return pods, rules
}

// writeRules writes a PrometheusRule to a file for Prometheus.
func writeRules(t *testing.T, path string, r *monitoringv1.PrometheusRule) {
	t.Helper()
	content, err := yaml.Marshal(r.Spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestAlerts runs the unit tests of the alerts with promtool, and checks that each alert
// has a test in which it fires and one in which it does not, and a row in docs/metrics.md.
func TestAlerts(t *testing.T) {
	promtool, err := filepath.Abs("../../.bin/prometheus-trixie/usr/bin/promtool")
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "alerts.yaml"), tests, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check", "rules", "--lint-fatal", "rules.yaml"}, {"test", "rules", "alerts.yaml"}} {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v:\n%s", strings.Join(args, " "), err, out)
		}
	}

	file := struct {
		Tests []struct {
			Alerts []struct {
				Name  string `json:"alertname"`
				Fires []any  `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		}
	}{}
	if err := yaml.Unmarshal(tests, &file); err != nil {
		t.Fatal(err)
	}
	tested := map[string]map[bool]bool{}
	for _, test := range file.Tests {
		for _, a := range test.Alerts {
			if tested[a.Name] == nil {
				tested[a.Name] = map[bool]bool{}
			}
			tested[a.Name][len(a.Fires) > 0] = true
		}
	}
	doc, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]map[bool]bool{}
	for _, g := range rules.Spec.Groups {
		for _, r := range g.Rules {
			want[r.Alert] = map[bool]bool{true: true, false: true}
			if !strings.Contains(string(doc), "\n| `"+r.Alert+"`") {
				t.Errorf("docs/metrics.md has no row of %s", r.Alert)
			}
		}
	}
	if diff := cmp.Diff(want, tested); diff != "" {
		t.Errorf("alerts, by whether they fire in a test: -monitoring.yaml +alerts.yaml:\n%s", diff)
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
	monitor, rules := monitoring(k.T)
	p := k.prometheus(k.scraped(monitor), k.kubeStateMetrics(), rules)

	strict := k.composition("strict", kind, ours(map[string]any{"allowedImages": []any{"ghcr.io/peaceiris/mdbook"}}))
	k.apply(book("measured"))
	k.apply(book("broken", image("docker.io/peaceiris/mdbook:"+controlplane.BrokenImage)))
	k.apply(book("rejected", composedBy(strict), image("docker.io/peaceiris/mdbook:v0.5.0")))
	k.settle("measured")

	queries := k.queries(rules)
	k.eventually("alerts and queries", func() error {
		return p.check(queries,
			`FunctionMarkdownViewRejections "" "" "InvalidSpec"`,
			fmt.Sprintf(`MarkdownViewUnavailable %q "broken" ""`, k.namespace),
			fmt.Sprintf(`MarkdownViewNotReady %q "broken" ""`, k.namespace),
			fmt.Sprintf(`MarkdownViewDegraded %q "rejected" "InvalidSpec"`, k.namespace))
	})
}

// queries returns the queries of the dashboard, and the selectors of the alerts.
func (k *kit) queries(rules *monitoringv1.PrometheusRule) []string {
	k.Helper()
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
	dashboard := struct {
		Panels []struct {
			Targets []struct{ Expr string }
		}
	}{}
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
	k.Helper()
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
	k.check(equal("pods of the function that Prometheus scrapes", 2, len(targets)))

	return targets
}

// A prometheus is a Prometheus that runs until the test ends.
type prometheus struct {
	*kit
	url string
}

// prometheus starts Debian's Prometheus. It scrapes the function and kube-state-metrics,
// and evaluates the rules, every second.
func (k *kit) prometheus(function []string, kubeStateMetrics string, rules *monitoringv1.PrometheusRule) prometheus {
	k.Helper()
	u, err := url.Parse(kubeStateMetrics)
	k.must(err)
	config, err := yaml.Marshal(map[string]any{
		"global":     map[string]any{"scrape_interval": "1s", "evaluation_interval": "1s"},
		"rule_files": []any{"rules.yaml"},
		"scrape_configs": []any{
			map[string]any{"job_name": "function", "static_configs": []any{map[string]any{"targets": function}}},
			map[string]any{"job_name": "kube-state-metrics", "honor_labels": true, "static_configs": []any{map[string]any{"targets": []any{u.Host}}}},
		},
	})
	k.must(err)
	dir := filepath.Join(k.logs, "prometheus") // It is still written to when a temporary folder of the test is removed.
	k.must(os.MkdirAll(dir, 0o750))
	k.must(os.WriteFile(filepath.Join(dir, "prometheus.yaml"), config, 0o600))
	writeRules(k.T, filepath.Join(dir, "rules.yaml"), rules)
	port, err := controlplane.FreePort()
	k.must(err)
	address := fmt.Sprintf("127.0.0.1:%d", port)
	k.must(controlplane.Run(k.Context(), filepath.Join(k.Bin, "prometheus-trixie/usr/bin/prometheus"), filepath.Join(k.logs, "prometheus.log"),
		"--config.file="+filepath.Join(dir, "prometheus.yaml"), "--storage.tsdb.path="+dir, "--web.listen-address="+address))
	p := prometheus{kit: k, url: "http://" + address + "/api/v1/"}
	// Rates need a sample before the first call.
	k.eventually("metrics in Prometheus", func() error {
		return errors.Join(p.returnsData("function_markdownview_panics_total"), p.returnsData(`up{job="kube-state-metrics"} == 1`))
	})

	return p
}

// get reads the field data of a response of the API.
func (p prometheus) get(path string, data any) error {
	text, err := httpGet(p.Context(), p.url+path)
	if err != nil {
		return err
	}
	rsp := struct {
		Error string
		Data  any
	}{Data: data}
	if err := json.Unmarshal([]byte(text), &rsp); err != nil {
		return fmt.Errorf("cannot read the response of Prometheus: %w: %s", err, text)
	}
	if rsp.Error != "" {
		return errors.New(rsp.Error)
	}

	return nil
}

// returnsData returns an error unless a query returns samples, and all are numbers.
func (p prometheus) returnsData(query string) error {
	data := struct {
		Result []struct {
			Metric map[string]string
			Value  [2]any
		}
	}{}
	if err := p.get("query?query="+url.QueryEscape(query), &data); err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	if len(data.Result) == 0 {
		return fmt.Errorf("%s returns nothing", query)
	}
	for _, r := range data.Result {
		if v := r.Value[1]; v == "NaN" || v == "+Inf" || v == "-Inf" {
			return fmt.Errorf("%s returns %v for %v", query, v, r.Metric)
		}
	}

	return nil
}

// check returns an error unless all queries return data and all alerts are pending or
// firing.
func (p prometheus) check(queries []string, alerts ...string) error {
	active, err := p.alerts()
	errs := []error{err}
	for _, a := range alerts {
		if !slices.Contains(active, a) {
			errs = append(errs, fmt.Errorf("alert %s is not in %q", a, active))
		}
	}
	for _, q := range queries {
		errs = append(errs, p.returnsData(q))
	}

	return errors.Join(errs...)
}

// alerts returns the name, namespace, MarkdownView and reason of each pending or firing
// alert.
func (p prometheus) alerts() ([]string, error) {
	data := struct {
		Alerts []struct{ Labels map[string]string }
	}{}
	err := p.get("alerts", &data)
	var all []string
	for _, a := range data.Alerts {
		all = append(all, fmt.Sprintf("%s %q %q %q", a.Labels["alertname"], a.Labels["namespace"], a.Labels["name"], a.Labels["reason"]))
	}

	return all, err
}
