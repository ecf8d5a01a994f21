package judge

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/internal/compose"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// verdictOf returns the verdict for a view whose resources are ready, with a change of its
// Deployment.
func verdictOf(t *testing.T, v view.View, deployment string, ttl time.Duration) Verdict {
	t.Helper()
	o := request.Observed{
		ConfigMaps: map[string]*view.ConfigMap{view.KeyConfigMap: {Data: v.Spec.Markdowns}},
		Deployment: viewtest.Decode[request.ObservedDeployment](t, settledDeployment, deployment),
		Service:    viewtest.Decode[request.ObservedService](t, `{spec: {clusterIP: 10.0.0.1}}`),
		Identities: map[string]view.Identity{view.KeyConfigMap: {}, view.KeyDeployment: {}, view.KeyService: {}},
	}
	d, problems := compose.Compose(v, o)
	if len(problems) > 0 {
		t.Fatal(problems)
	}

	return Judge(v, o, d, ttl)
}

func TestTransitions(t *testing.T) {
	conditions := func(available, degraded, complete string) []report.Condition {
		return []report.Condition{
			{Type: "Available", Status: available, Reason: "A", Message: "a"},
			{Type: "Degraded", Status: degraded, Reason: "D", Message: "d"},
			{Type: "BookComplete", Status: complete, Reason: "B", Message: "b"},
		}
	}
	served, broken, incomplete := Event{"normal", "A", "a"}, Event{"warning", "D", "d"}, Event{"warning", "B", "b"}
	for name, tc := range map[string]struct {
		reason, status string
		before, now    []report.Condition
		want           []Event
	}{
		"First":     {"Nothing was reported before", "", nil, conditions("True", "True", "False"), []Event{served, broken, incomplete}},
		"Same":      {"A steady state has no events", "", conditions("True", "True", "False"), conditions("True", "True", "False"), nil},
		"Fixed":     {"The end of an error is no event", "", conditions("True", "True", "False"), conditions("False", "False", "True"), nil},
		"Fatal":     {"Another function failed, and pods kept serving", "Available", conditions("Unknown", "Unknown", "False"), conditions("True", "True", "False"), []Event{broken}},
		"FirstOnly": {"Another function failed before pods served", "NotReady", conditions("Unknown", "False", "False"), conditions("True", "False", "False"), []Event{served}},
	} {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Last.Status.Status, v.Last.Status.Conditions = &tc.status, tc.before
			if diff := cmp.Diff(tc.want, transitions(v, tc.now)); diff != "" {
				t.Errorf("\n%s\ntransitions(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
