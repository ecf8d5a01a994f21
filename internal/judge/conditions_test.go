package judge

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/compose"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

func TestAvailable(t *testing.T) {
	const revision = `template: {metadata: {annotations: {markdownview.fn.crossplane.io/revision: ` + viewtest.Revision + `}}}`

	cases := map[string]struct {
		reason   string
		before   view.LastStatus
		observed string
		unknown  bool
		want     report.Condition
	}{
		"Nothing": {
			reason: "Nothing existed before, and nothing exists now",
			want:   report.Condition{Type: "Available", Status: "False", Reason: "Creating", Message: "The book is not served yet: no pod is available"},
		},
		"Starting": {
			reason:   "The first pods start",
			before:   before(t, `[{type: Available, status: "False", reason: Creating}]`),
			observed: `{metadata: {generation: 1}, spec: {replicas: 2, ` + revision + `}, status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, unavailableReplicas: 2}}`,
			want:     report.Condition{Type: "Available", Status: "False", Reason: "Creating", Message: "The book is not served yet: no pod is available"},
		},
		"Serving": {
			reason:   "One of two pods serves the book, and none is replaced",
			observed: `{metadata: {generation: 1}, spec: {replicas: 2, ` + revision + `}, status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 1, unavailableReplicas: 1}}`,
			want:     report.Condition{Type: "Available", Status: "True", Reason: "Available", Message: "The book is served"},
		},
		"Changed": {
			reason:   "The pods serve another revision",
			observed: `{metadata: {generation: 1}, spec: {replicas: 2}, status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 2}}`,
			want:     report.Condition{Type: "Available", Status: "True", Reason: "RollingOut", Message: "The book is served while a change rolls out"},
		},
		"Rolling": {
			reason:   "A pod of the previous revision is left",
			observed: `{metadata: {generation: 2}, spec: {replicas: 2, ` + revision + `}, status: {observedGeneration: 2, replicas: 3, updatedReplicas: 2, availableReplicas: 2}}`,
			want:     report.Condition{Type: "Available", Status: "True", Reason: "RollingOut", Message: "The book is served while a change rolls out"},
		},
		"Lost": {
			reason:   "Pods served the book before, and none serves it now",
			before:   before(t, `[{type: Available, status: "True", reason: Available}]`),
			observed: `{metadata: {generation: 1}, spec: {replicas: 2, ` + revision + `}, status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, unavailableReplicas: 2}}`,
			want:     report.Condition{Type: "Available", Status: "False", Reason: "Unavailable", Message: "The book is no longer served: no pod is available"},
		},
		"StillLost": {
			reason: "The condition stays while nothing changes",
			before: before(t, `[{type: Available, status: "False", reason: Unavailable}]`),
			want:   report.Condition{Type: "Available", Status: "False", Reason: "Unavailable", Message: "The book is no longer served: no pod is available"},
		},
		"LostAfterFatal": {
			reason: "Another function failed, so the condition is Unknown, but the status shows that the book was served",
			before: func() view.LastStatus {
				x := before(t, `[{type: Available, status: Unknown, reason: FatalError}]`)
				x.Status.Status = ptr.To("Healthy")

				return x
			}(),
			want: report.Condition{Type: "Available", Status: "False", Reason: "Unavailable", Message: "The book is no longer served: no pod is available"},
		},
		"Invalid": {
			reason:   "The desired state is unknown, but a pod serves the book",
			unknown:  true,
			observed: `{metadata: {generation: 1}, spec: {replicas: 2}, status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 2}}`,
			want:     report.Condition{Type: "Available", Status: "True", Reason: "Available", Message: "The book is served"},
		},
		"InvalidWhileRolling": {
			reason:   "The previous rollout continues",
			unknown:  true,
			observed: `{metadata: {generation: 2}, spec: {replicas: 2}, status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 2}}`,
			want:     report.Condition{Type: "Available", Status: "True", Reason: "RollingOut", Message: "The book is served while a change rolls out"},
		},
		"InvalidAtZero": {
			reason:   "The Deployment is scaled to zero, whatever the spec requests",
			unknown:  true,
			observed: `{spec: {replicas: 0}}`,
			want:     report.Condition{Type: "Available", Status: "True", Reason: "ScaledToZero", Message: "The book is not served: the Deployment is scaled to zero"},
		},
		"DriftedToZero": {
			reason:   "Somebody scaled the Deployment to zero, and the spec requests two replicas",
			before:   before(t, `[{type: Available, status: "True", reason: Available}]`),
			observed: `{metadata: {generation: 3}, spec: {replicas: 0, ` + revision + `}, status: {observedGeneration: 3}}`,
			want:     report.Condition{Type: "Available", Status: "False", Reason: "Unavailable", Message: "The book is no longer served: no pod is available"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Last = tc.before
			d, _ := compose.Compose(v, request.Observed{})
			if tc.unknown {
				d = nil
			}

			if diff := cmp.Diff(tc.want, available(v, viewtest.Decode[request.ObservedDeployment](t, tc.observed), d)); diff != "" {
				t.Errorf("\n%s\navailable(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAvailableAtZero(t *testing.T) {
	v := viewtest.View()
	v.Spec.Replicas = nil
	d, _ := compose.Compose(v, request.Observed{})
	o := viewtest.Decode[request.ObservedDeployment](t, `{spec: {replicas: 0, template: {metadata: {annotations: {markdownview.fn.crossplane.io/revision: `+viewtest.Revision+`}}}}}`)

	zero := report.Condition{Type: "Available", Status: "True", Reason: "ScaledToZero", Message: "The book is not served: the Deployment is scaled to zero"}
	if diff := cmp.Diff(zero, available(v, o, d)); diff != "" {
		t.Errorf("An autoscaler may scale a MarkdownView to zero: -want, +got:\n%s", diff)
	}
	v.Spec.Markdowns = map[string]string{"SUMMARY.md": "- [B](a.md)", "a.md": ""}
	d, _ = compose.Compose(v, request.Observed{})
	if diff := cmp.Diff(zero, available(v, o, d)); diff != "" {
		t.Errorf("The condition stays while a changed text is applied: -want, +got:\n%s", diff)
	}
}

// TestDegradedRoute checks when a Service that a Gateway does not find is an error.
func TestDegradedRoute(t *testing.T) {
	const (
		service  = `{metadata: {creationTimestamp: "2026-01-02T03:04:05Z"}}`
		notFound = `ResolvedRefs, reason: BackendNotFound, message: no Service, lastTransitionTime: `
	)
	asExpected := report.Condition{Type: "Degraded", Status: "False", Reason: "AsExpected", Message: "No errors found"}
	rejected := func(why string) report.Condition {
		return report.Condition{Type: "Degraded", Status: "True", Reason: "RouteNotAccepted", Message: "Run kubectl describe httproute -n default viewer-sample: a Gateway rejected it: " + why}
	}
	cases := map[string]struct {
		reason, service, status string
		want                    report.Condition
	}{
		"NoService":   {reason: "The Service does not exist yet", status: notFound + `"2026-01-02T03:04:05Z"`, want: asExpected},
		"Before":      {reason: "The Gateway reported before the Service existed", service: service, status: notFound + `"2026-01-02T03:04:04Z"`, want: asExpected},
		"SameSecond":  {reason: "The Gateway may have reported before the Service existed", service: service, status: notFound + `"2026-01-02T03:04:05Z"`, want: asExpected},
		"After":       {reason: "The Service exists, and the Gateway does not find it", service: service, status: notFound + `"2026-01-02T03:04:06Z"`, want: rejected("no Service")},
		"NotAllowed":  {reason: "Another reason does not depend on the Service", status: "ResolvedRefs, reason: RefNotPermitted", want: rejected("RefNotPermitted")},
		"NotAccepted": {reason: "The Gateway rejects the route", status: "Accepted, reason: NotAllowedByListeners", want: rejected("NotAllowedByListeners")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Input = *viewtest.Decode[v1beta1.Input](t, `{route: {host: a.b, parentRefs: [{name: a}]}}`)
			// The route was added to the Input later, so it is not missing.
			v.Last = before(t, `[{type: Available, status: "True", reason: Available}]`)
			d, _ := compose.Compose(v, request.Observed{})
			o := request.Observed{
				Service:    viewtest.Decode[request.ObservedService](t, tc.service),
				Route:      viewtest.Decode[request.ObservedRoute](t, `{status: {parents: [{parentRef: {name: a}, conditions: [{status: "False", type: `+tc.status+`}]}]}}`),
				Identities: map[string]view.Identity{view.KeyConfigMap: {}, view.KeyDeployment: {}, view.KeyService: {}},
			}
			if diff := cmp.Diff(tc.want, degraded(v, o, d)); diff != "" {
				t.Errorf("\n%s\ndegraded(): -want, +got:\n%s", tc.reason, diff)
			}
			v.Input.Route = nil
			if diff := cmp.Diff(asExpected, degraded(v, o, d)); diff != "" {
				t.Errorf("The Input has no route any more: degraded(): -want, +got:\n%s", diff)
			}
		})
	}
}

func TestDegraded(t *testing.T) {
	const (
		revision    = `template: {metadata: {annotations: {markdownview.fn.crossplane.io/revision: ` + viewtest.Revision + `}}}`
		progressing = `{type: Progressing, status: "False", reason: ProgressDeadlineExceeded, message: ReplicaSet "viewer-sample-1" has timed out progressing.}`
		failing     = `{type: ReplicaFailure, status: "True", reason: FailedCreate, message: pods are forbidden}`
		describe    = "Run kubectl describe pods -n default -l app.kubernetes.io/instance=sample: "
	)
	asExpected := report.Condition{Type: "Degraded", Status: "False", Reason: "AsExpected", Message: "No errors found"}
	paused := report.Condition{
		Type: "Degraded", Status: "True", Reason: "Paused",
		Message: "Run kubectl rollout resume deployment -n default viewer-sample: it is paused, so no change rolls out",
	}
	stuck := report.Condition{
		Type: "Degraded", Status: "True", Reason: "ProgressDeadlineExceeded",
		Message: describe + `Deployment viewer-sample cannot roll out: ReplicaSet "viewer-sample-1" has timed out progressing`,
	}

	cases := map[string]struct {
		reason     string
		before     view.LastStatus
		deployment string
		gone       bool
		want       report.Condition
	}{
		"First": {
			reason: "Nothing existed before, so nothing is missing",
			gone:   true,
			want:   asExpected,
		},
		"Missing": {
			reason: "Resources that existed are gone",
			before: before(t, `[{type: Available, status: "True", reason: Available}]`),
			gone:   true,
			want:   report.Condition{Type: "Degraded", Status: "True", Reason: "Missing", Message: "Deleted resources are created again: ConfigMap markdowns-sample, Deployment viewer-sample, Service viewer-sample"},
		},
		"Fine": {
			reason:     "A rollout is in progress",
			deployment: `{metadata: {generation: 1}, spec: {` + revision + `}, status: {observedGeneration: 1, conditions: [{type: Progressing, status: "True"}, {type: ReplicaFailure, status: "False"}]}}`,
			want:       asExpected,
		},
		"Stuck": {
			reason:     "Pods do not become available in time",
			deployment: `{metadata: {generation: 1}, spec: {` + revision + `}, status: {observedGeneration: 1, conditions: [` + progressing + `]}}`,
			want:       stuck,
		},
		"Failing": {
			reason:     "Pods cannot be created, which is the cause of the missing progress",
			deployment: `{metadata: {generation: 1}, spec: {` + revision + `}, status: {observedGeneration: 1, conditions: [` + progressing + `, ` + failing + `]}}`,
			want:       report.Condition{Type: "Degraded", Status: "True", Reason: "ReplicaFailure", Message: "Run kubectl describe replicasets -n default -l app.kubernetes.io/instance=sample: Deployment viewer-sample cannot roll out: pods are forbidden"},
		},
		"Fixed": {
			reason:     "The revision that was stuck is not the desired one",
			deployment: `{metadata: {generation: 1}, spec: {}, status: {observedGeneration: 1, conditions: [` + progressing + `]}}`,
			want:       asExpected,
		},
		"FixedNotCaughtUp": {
			reason:     "The desired revision is applied, and the conditions still describe the previous one",
			before:     before(t, `[{type: Degraded, status: "False", reason: AsExpected}]`),
			deployment: `{metadata: {generation: 2}, spec: {` + revision + `}, status: {observedGeneration: 1, conditions: [` + progressing + `]}}`,
			want:       asExpected,
		},
		"MissingBefore": {
			reason:     "The previous condition was about another error",
			before:     before(t, `[{type: Degraded, status: "True", reason: Missing}]`),
			deployment: `{metadata: {generation: 2}, spec: {` + revision + `}, status: {observedGeneration: 1, conditions: [` + progressing + `]}}`,
			want:       asExpected,
		},
		"Paused": {
			reason:     "Somebody paused the Deployment while a change rolls out",
			deployment: `{metadata: {generation: 1}, spec: {paused: true, ` + revision + `}, status: {observedGeneration: 1, replicas: 1, conditions: [{type: Progressing, status: Unknown, reason: DeploymentPaused}]}}`,
			want:       paused,
		},
		"PausedFromTheStart": {
			reason:     "Somebody paused the Deployment before its first pod was created",
			deployment: `{metadata: {generation: 1}, spec: {paused: true, ` + revision + `}, status: {observedGeneration: 1}}`,
			want:       paused,
		},
		"PausedWhenDone": {
			reason:     "Somebody paused the Deployment, and no change rolls out",
			deployment: `{metadata: {generation: 1}, spec: {paused: true, ` + revision + `}, status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1}}`,
			want:       asExpected,
		},
		"PausedAtZero": {
			reason:     "No replica is requested, so no change rolls out",
			deployment: `{metadata: {generation: 1}, spec: {paused: true, replicas: 0, ` + revision + `}, status: {observedGeneration: 1}}`,
			want:       asExpected,
		},
		"PausedNotCaughtUp": {
			reason:     "The status describes the previous spec",
			deployment: `{metadata: {generation: 2}, spec: {paused: true, ` + revision + `}, status: {observedGeneration: 1, replicas: 1}}`,
			want:       asExpected,
		},
		"PausedBefore": {
			reason:     "The controller has not observed that a paused Deployment was scaled: it stays paused",
			before:     before(t, `[{type: Degraded, status: "True", reason: Paused}]`),
			deployment: `{metadata: {generation: 2}, spec: {paused: true, ` + revision + `}, status: {observedGeneration: 1, replicas: 1}}`,
			want:       paused,
		},
		"PausedAndEdited": {
			reason:     "A change cannot roll out because the Deployment is paused",
			deployment: `{metadata: {generation: 1}, spec: {paused: true}, status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1}}`,
			want:       paused,
		},
		"ApplyFailed": {
			reason: "Crossplane could not apply a resource: another XR owns it, or it is invalid",
			before: before(t, `[{type: Synced, status: "False", reason: ReconcileError, message: "Unsynced resources: deployment, and service"}]`),
			gone:   true,
			want: report.Condition{
				Type: "Degraded", Status: "True", Reason: "ApplyFailed",
				Message: "Run kubectl describe markdownview.markdownview.fn.crossplane.io -n default sample: its events show why Kubernetes rejected these composed resources: deployment, and service",
			},
		},
		"SyncedAgain": {
			reason:     "Crossplane applied all resources the last time",
			before:     before(t, `[{type: Synced, status: "True", reason: ReconcileSuccess}, {type: Degraded, status: "True", reason: ApplyFailed}]`),
			deployment: `{metadata: {generation: 1}, spec: {` + revision + `}, status: {observedGeneration: 1, replicas: 1}}`,
			want:       asExpected,
		},
		"OurOwnFatal": {
			reason:     "Synced is false because of our own fatal result",
			before:     before(t, `[{type: Synced, status: "False", reason: ReconcileError, message: "cannot compose resources: pipeline step \"x\" returned a fatal result: Unsynced resources: a"}]`),
			deployment: `{metadata: {generation: 1}, spec: {` + revision + `}, status: {observedGeneration: 1, replicas: 1}}`,
			want:       asExpected,
		},
		"Changing": {
			reason:     "A change rolls out, and the Deployment is not paused",
			deployment: `{metadata: {generation: 1}, spec: {` + revision + `}, status: {observedGeneration: 1, replicas: 1}}`,
			want:       asExpected,
		},
		"ScaledWhileStuck": {
			reason:     "Another number of replicas does not fix a rollout that is stuck",
			before:     before(t, `[{type: Degraded, status: "True", reason: ProgressDeadlineExceeded}]`),
			deployment: `{metadata: {generation: 2}, spec: {` + revision + `}, status: {observedGeneration: 1, conditions: [` + progressing + `]}}`,
			want:       stuck,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.APIVersion, v.Kind = "markdownview.fn.crossplane.io/v1alpha1", "MarkdownView"
			v.Last = tc.before
			d, _ := compose.Compose(v, request.Observed{})
			o := request.Observed{
				Deployment: viewtest.Decode[request.ObservedDeployment](t, tc.deployment),
				Identities: map[string]view.Identity{view.KeyConfigMap: {}, view.KeyDeployment: {}, view.KeyService: {}},
			}
			if tc.gone {
				o = request.Observed{}
			}

			if diff := cmp.Diff(tc.want, degraded(v, o, d)); diff != "" {
				t.Errorf("\n%s\ndegraded(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// before returns the status of an XR that has conditions.
func before(t *testing.T, conditions string) view.LastStatus {
	t.Helper()

	return *viewtest.Decode[view.LastStatus](t, `{status: {conditions: `+conditions+`}}`)
}
