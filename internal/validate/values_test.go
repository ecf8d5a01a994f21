package validate

import (
	"strings"
	"testing"
)

// TestValues checks the rules for values of several fields.
func TestValues(t *testing.T) {
	long := strings.Repeat("x", 128<<10)
	checkFields(t, map[string]fieldCase{
		"Resources": {
			reason: "Requests and limits must be supported, not negative and consistent",
			spec:   `resources: {requests: {cpu: 2, memory: -1, nvidia.com/gpu: 1}, limits: {cpu: 1, pods: 1}}`,
			want: strings.Join([]string{
				`spec.resources.limits: Unsupported value: "pods": supported values: "cpu", "memory", "ephemeral-storage"`,
				`spec.resources.requests: Unsupported value: "nvidia.com/gpu": supported values: "cpu", "memory", "ephemeral-storage"`,
				`spec.resources.requests[cpu]: Invalid value: "2": must not be above the limit 1`,
				`spec.resources.requests[memory]: Invalid value: "-1": must not be negative`,
			}, "\n"),
		},
		"Many": {
			reason: "Too many resources are not listed", spec: "resources: {limits: {a: 1, b: 1, c: 1, d: 1}}",
			want: `spec.resources.limits: Unsupported value: supported values: "cpu", "memory", "ephemeral-storage"`,
		},
		"Equal":       {reason: "A request can equal its limit, and zero is valid", spec: `resources: {requests: {cpu: 1, memory: 0, ephemeral-storage: 1}, limits: {cpu: 1}}`},
		"Secrets":     {reason: "Server-side apply rejects duplicate names", input: `{imagePullSecrets: [{name: a}, {name: b}, {name: a}]}`, want: `input.imagePullSecrets[2].name: Duplicate value: "a"`},
		"Control":     {reason: "The API server changes a control character", input: `{annotations: {note: "a\u0080b"}}`, want: "input.annotations[note]: Invalid value: remove the control character, which the API server would reject or change"},
		"Annotations": {reason: "The annotations of a resource have at most 256 KiB", input: `{annotations: {a: ` + long + `}, service: {annotations: {b: ` + long + `}}}`, want: "input.service.annotations: Forbidden: shorten them: together with input.annotations, annotations size 262146 is larger than limit 262144"},
	})
}
