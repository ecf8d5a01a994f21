package validate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

func TestValidateBudget(t *testing.T) {
	amount := func(name, value string) string {
		return "at.podDisruptionBudget." + name + `: Invalid value: "` + value + `": must be a number of pods such as 1, or a percentage from "0%" to "100%"`
	}
	for name, tc := range map[string]struct {
		reason, budget string
		want           []string
	}{
		"Zero":    {reason: "No pod can be unavailable", budget: `{maxUnavailable: 0}`},
		"Most":    {reason: "All pods can be unavailable", budget: `{maxUnavailable: "100%"}`},
		"Below":   {reason: "A number of pods must not be negative", budget: `{maxUnavailable: -1}`, want: []string{amount("maxUnavailable", "-1")}},
		"Above":   {reason: "Kubernetes rejects more than 100%", budget: `{minAvailable: "101%"}`, want: []string{amount("minAvailable", "101%")}},
		"Text":    {reason: "A text must be a percentage", budget: `{minAvailable: half}`, want: []string{amount("minAvailable", "half")}},
		"Huge":    {reason: "An integer cannot be as large", budget: `{minAvailable: "99999999999999999999%"}`, want: []string{amount("minAvailable", "99999999999999999999%")}},
		"Sign":    {reason: "A percentage has no sign", budget: `{minAvailable: "-1%"}`, want: []string{amount("minAvailable", "-1%")}},
		"NoUnits": {reason: "A text without % is not a percentage", budget: `{minAvailable: "50"}`, want: []string{amount("minAvailable", "50")}},
		"Both":    {reason: "Kubernetes rejects both fields together", budget: `{minAvailable: 1, maxUnavailable: 1}`, want: []string{"at.podDisruptionBudget.minAvailable: Forbidden: set maxUnavailable or minAvailable, not both"}},
	} {
		t.Run(name, func(t *testing.T) {
			errs := validateBudget(viewtest.Decode[v1beta1.PodDisruptionBudget](t, tc.budget), field.NewPath("at"))
			if diff := cmp.Diff(tc.want, viewtest.Messages(report.ProblemsOf("", errs))); diff != "" {
				t.Errorf("\n%s\nerrors: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
