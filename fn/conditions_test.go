package fn

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestAvailable(t *testing.T) {
	const revision = `template: {metadata: {annotations: {markdownview.fn.crossplane.io/revision: ` + settledRevision + `}}}`

	cases := map[string]struct {
		reason   string
		before   xr
		observed string
		unknown  bool
		want     condition
	}{
		"Nothing": {
			reason: "Nothing was there before, and nothing is there",
			want:   condition{"Available", "False", "Creating", "No viewer has served the book yet"},
		},
		"Starting": {
			reason:   "The first viewers start",
			before:   before(t, `[{type: Available, status: "False", reason: Creating}]`),
			observed: `{metadata: {generation: 1}, spec: {replicas: 2, ` + revision + `}, status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, unavailableReplicas: 2}}`,
			want:     condition{"Available", "False", "Creating", "No viewer has served the book yet"},
		},
		"Serving": {
			reason:   "One of two serves, none is to be replaced",
			observed: `{metadata: {generation: 1}, spec: {replicas: 2, ` + revision + `}, status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 1, unavailableReplicas: 1}}`,
			want:     condition{"Available", "True", "Available", "Viewers serve the book"},
		},
		"Changed": {
			reason:   "They serve another revision",
			observed: `{metadata: {generation: 1}, spec: {replicas: 2}, status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 2}}`,
			want:     condition{"Available", "True", "RollingOut", "Viewers serve the book while a change rolls out"},
		},
		"Rolling": {
			reason:   "One of before is left",
			observed: `{metadata: {generation: 2}, spec: {replicas: 2, ` + revision + `}, status: {observedGeneration: 2, replicas: 3, updatedReplicas: 2, availableReplicas: 2}}`,
			want:     condition{"Available", "True", "RollingOut", "Viewers serve the book while a change rolls out"},
		},
		"Lost": {
			reason:   "They served, and none does now",
			before:   before(t, `[{type: Available, status: "True", reason: Available}]`),
			observed: `{metadata: {generation: 1}, spec: {replicas: 2, ` + revision + `}, status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, unavailableReplicas: 2}}`,
			want:     condition{"Available", "False", "Unavailable", "No viewer serves the book"},
		},
		"StillLost": {
			reason: "The same, and what is known stays known",
			before: before(t, `[{type: Available, status: "False", reason: Unavailable}]`),
			want:   condition{"Available", "False", "Unavailable", "No viewer serves the book"},
		},
		"LostAfterFatal": {
			reason: "Another function failed, so the condition is Unknown, but the status knows",
			before: func() xr {
				x := before(t, `[{type: Available, status: Unknown, reason: FatalError}]`)
				x.Status.Status = "Healthy"

				return x
			}(),
			want: condition{"Available", "False", "Unavailable", "No viewer serves the book"},
		},
		"Invalid": {
			reason:   "What is wanted is not known, what serves is",
			unknown:  true,
			observed: `{metadata: {generation: 1}, spec: {replicas: 2}, status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 2}}`,
			want:     condition{"Available", "True", "Available", "Viewers serve the book"},
		},
		"InvalidWhileRolling": {
			reason:   "The rollout of before goes on",
			unknown:  true,
			observed: `{metadata: {generation: 2}, spec: {replicas: 2}, status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 2}}`,
			want:     condition{"Available", "True", "RollingOut", "Viewers serve the book while a change rolls out"},
		},
		"InvalidAtZero": {
			reason:   "None is wanted, whatever is asked for",
			unknown:  true,
			observed: `{spec: {replicas: 0}}`,
			want:     condition{"Available", "True", "ScaledToZero", "No viewer is wanted, so none serves the book"},
		},
		"DriftedToZero": {
			reason:   "Somebody scaled to zero what should be two",
			before:   before(t, `[{type: Available, status: "True", reason: Available}]`),
			observed: `{metadata: {generation: 3}, spec: {replicas: 0, ` + revision + `}, status: {observedGeneration: 3}}`,
			want:     condition{"Available", "False", "Unavailable", "No viewer serves the book"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := settledView()
			v.Status = tc.before.Status
			composed, _ := compose(v)
			want := &composed
			if tc.unknown {
				want = nil
			}

			if diff := cmp.Diff(tc.want, available(v, stateOf[deploymentState](t, tc.observed), want)); diff != "" {
				t.Errorf("\n%s\navailable(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAvailableAtZero(t *testing.T) {
	v := settledView()
	v.Spec.Replicas = nil
	want, _ := compose(v)
	d := stateOf[deploymentState](t, `{spec: {replicas: 0, template: {metadata: {annotations: {markdownview.fn.crossplane.io/revision: `+settledRevision+`}}}}}`)

	zero := condition{"Available", "True", "ScaledToZero", "No viewer is wanted, so none serves the book"}
	if diff := cmp.Diff(zero, available(v, d, &want)); diff != "" {
		t.Errorf("A MarkdownView that an autoscaler scaled to zero is as it should be: -want, +got:\n%s", diff)
	}
	v.Spec.Markdowns = map[string]string{"SUMMARY.md": "changed"}
	want, _ = compose(v)
	if diff := cmp.Diff(zero, available(v, d, &want)); diff != "" {
		t.Errorf("It stays so while another text is applied: -want, +got:\n%s", diff)
	}
}

func TestDegraded(t *testing.T) {
	const (
		revision    = `template: {metadata: {annotations: {markdownview.fn.crossplane.io/revision: ` + settledRevision + `}}}`
		progressing = `{type: Progressing, status: "False", reason: ProgressDeadlineExceeded, message: ReplicaSet "viewer-sample-1" has timed out progressing.}`
		failing     = `{type: ReplicaFailure, status: "True", reason: FailedCreate, message: pods are forbidden}`
		hint        = ": see kubectl describe pods -n default -l app.kubernetes.io/instance=sample"
	)
	asExpected := condition{"Degraded", "False", "AsExpected", "Nothing is known to be wrong"}
	paused := condition{
		"Degraded", "True", "Paused",
		"Deployment viewer-sample is paused, so no change rolls out: kubectl rollout resume deployment -n default viewer-sample",
	}
	stuck := condition{
		"Degraded", "True", "ProgressDeadlineExceeded",
		`Deployment viewer-sample cannot roll out: ReplicaSet "viewer-sample-1" has timed out progressing` + hint,
	}

	cases := map[string]struct {
		reason     string
		before     xr
		deployment string
		gone       bool
		want       condition
	}{
		"First": {
			reason: "Nothing was there, so nothing is missed",
			gone:   true,
			want:   asExpected,
		},
		"Missing": {
			reason: "What had been there is gone",
			before: before(t, `[{type: Available, status: "True", reason: Available}]`),
			gone:   true,
			want:   condition{"Degraded", "True", "Missing", "ConfigMap markdowns-sample, Deployment viewer-sample, Service viewer-sample had been there and is gone: it is created again"},
		},
		"Fine": {
			reason:     "A rollout goes on",
			deployment: `{metadata: {generation: 1}, spec: {` + revision + `}, status: {observedGeneration: 1, conditions: [{type: Progressing, status: "True"}, {type: ReplicaFailure, status: "False"}]}}`,
			want:       asExpected,
		},
		"Stuck": {
			reason:     "Pods do not become available in time",
			deployment: `{metadata: {generation: 1}, spec: {` + revision + `}, status: {observedGeneration: 1, conditions: [` + progressing + `]}}`,
			want:       stuck,
		},
		"Failing": {
			reason:     "Pods cannot be created, which is why nothing progresses",
			deployment: `{metadata: {generation: 1}, spec: {` + revision + `}, status: {observedGeneration: 1, conditions: [` + progressing + `, ` + failing + `]}}`,
			want:       condition{"Degraded", "True", "ReplicaFailure", "Deployment viewer-sample cannot roll out: pods are forbidden: see kubectl describe replicasets -n default -l app.kubernetes.io/instance=sample"},
		},
		"Mended": {
			reason:     "What was stuck is not what is asked for now",
			deployment: `{metadata: {generation: 1}, spec: {}, status: {observedGeneration: 1, conditions: [` + progressing + `]}}`,
			want:       asExpected,
		},
		"MendedNotCaughtUp": {
			reason:     "What is asked for now has been applied, the conditions are of before",
			before:     before(t, `[{type: Degraded, status: "False", reason: AsExpected}]`),
			deployment: `{metadata: {generation: 2}, spec: {` + revision + `}, status: {observedGeneration: 1, conditions: [` + progressing + `]}}`,
			want:       asExpected,
		},
		"MissingBefore": {
			reason:     "What was known is another fault",
			before:     before(t, `[{type: Degraded, status: "True", reason: Missing}]`),
			deployment: `{metadata: {generation: 2}, spec: {` + revision + `}, status: {observedGeneration: 1, conditions: [` + progressing + `]}}`,
			want:       asExpected,
		},
		"Paused": {
			reason:     "Somebody has paused the Deployment, and a change waits",
			deployment: `{metadata: {generation: 1}, spec: {paused: true, ` + revision + `}, status: {observedGeneration: 1, replicas: 1, conditions: [{type: Progressing, status: Unknown, reason: DeploymentPaused}]}}`,
			want:       paused,
		},
		"PausedFromTheStart": {
			reason:     "Or it never ran",
			deployment: `{metadata: {generation: 1}, spec: {paused: true, ` + revision + `}, status: {observedGeneration: 1}}`,
			want:       paused,
		},
		"PausedWhenDone": {
			reason:     "Nothing waits",
			deployment: `{metadata: {generation: 1}, spec: {paused: true, ` + revision + `}, status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1}}`,
			want:       asExpected,
		},
		"PausedAtZero": {
			reason:     "No viewer is wanted, so none waits",
			deployment: `{metadata: {generation: 1}, spec: {paused: true, replicas: 0, ` + revision + `}, status: {observedGeneration: 1}}`,
			want:       asExpected,
		},
		"PausedNotCaughtUp": {
			reason:     "What the status says is of before",
			deployment: `{metadata: {generation: 2}, spec: {paused: true, ` + revision + `}, status: {observedGeneration: 1, replicas: 1}}`,
			want:       asExpected,
		},
		"Changing": {
			reason:     "Nobody has paused it",
			deployment: `{metadata: {generation: 1}, spec: {` + revision + `}, status: {observedGeneration: 1, replicas: 1}}`,
			want:       asExpected,
		},
		"ScaledWhileStuck": {
			reason:     "Another number of viewers does not mend what is known to be stuck",
			before:     before(t, `[{type: Degraded, status: "True", reason: ProgressDeadlineExceeded}]`),
			deployment: `{metadata: {generation: 2}, spec: {` + revision + `}, status: {observedGeneration: 1, conditions: [` + progressing + `]}}`,
			want:       stuck,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := settledView()
			v.Status = tc.before.Status
			want, _ := compose(v)
			seen := observed{configMap: &configMapState{}, deployment: stateOf[deploymentState](t, tc.deployment), service: &serviceState{}}
			if tc.gone {
				seen = observed{}
			}

			if diff := cmp.Diff(tc.want, degraded(v, want, seen)); diff != "" {
				t.Errorf("\n%s\ndegraded(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestInvalid(t *testing.T) {
	spec := field.Required(field.NewPath("spec", "markdowns"), "add it")
	name := field.Required(field.NewPath("metadata", "name"), "add it")
	input := field.Required(field.NewPath("input", "namespace"), "add it")

	cases := map[string]struct {
		reason string
		faults field.ErrorList
		want   condition
	}{
		"Spec":  {reason: "The user mends the spec", faults: field.ErrorList{spec}, want: condition{"Degraded", "True", "InvalidSpec", "spec.markdowns: Required value: add it"}},
		"Name":  {reason: "Or the name", faults: field.ErrorList{name}, want: condition{"Degraded", "True", "InvalidSpec", "metadata.name: Required value: add it"}},
		"Input": {reason: "The platform team mends the Input", faults: field.ErrorList{input}, want: condition{"Degraded", "True", "InvalidInput", "input.namespace: Required value: add it"}},
		"Both": {
			reason: "All faults at once, in order, each once",
			faults: field.ErrorList{spec, input, spec},
			want:   condition{"Degraded", "True", "InvalidSpec", "input.namespace: Required value: add it; spec.markdowns: Required value: add it"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, invalid(tc.faults)); diff != "" {
				t.Errorf("\n%s\ninvalid(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// before is an XR that has conditions.
func before(t *testing.T, conditions string) xr {
	t.Helper()

	return *stateOf[xr](t, `{status: {conditions: `+conditions+`}}`)
}
