package validate

import "testing"

func TestValidateBudget(t *testing.T) {
	amount := func(name, value string) string {
		return "input.podDisruptionBudget." + name + `: Invalid value: "` + value + `": must be a number of pods such as 1, or a percentage from "0%" to "100%"`
	}
	checkFields(t, map[string]fieldCase{
		"Zero":    {reason: "No pod can be unavailable", input: `{podDisruptionBudget: {maxUnavailable: 0}}`},
		"Most":    {reason: "All pods can be unavailable", input: `{podDisruptionBudget: {maxUnavailable: "100%"}}`},
		"Below":   {reason: "A number of pods must not be negative", input: `{podDisruptionBudget: {maxUnavailable: -1}}`, want: amount("maxUnavailable", "-1")},
		"Above":   {reason: "Kubernetes rejects more than 100%", input: `{podDisruptionBudget: {minAvailable: "101%"}}`, want: amount("minAvailable", "101%")},
		"Text":    {reason: "A text must be a percentage", input: `{podDisruptionBudget: {minAvailable: half}}`, want: amount("minAvailable", "half")},
		"Huge":    {reason: "An integer cannot be as large", input: `{podDisruptionBudget: {minAvailable: "99999999999999999999%"}}`, want: amount("minAvailable", "99999999999999999999%")},
		"Sign":    {reason: "A percentage has no sign", input: `{podDisruptionBudget: {minAvailable: "-1%"}}`, want: amount("minAvailable", "-1%")},
		"NoUnits": {reason: "A text without % is not a percentage", input: `{podDisruptionBudget: {minAvailable: "50"}}`, want: amount("minAvailable", "50")},
		"Both":    {reason: "Kubernetes rejects both fields together", input: `{podDisruptionBudget: {minAvailable: 1, maxUnavailable: 1}}`, want: "input.podDisruptionBudget.minAvailable: Forbidden: set maxUnavailable or minAvailable, not both"},
	})
}
