package judge

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/internal/compose"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

const (
	otherRevision = `template: {metadata: {annotations: {markdownview.fn.crossplane.io/revision: other}}}`
	wasAvailable  = `{status: {conditions: [{type: Available, status: "True", reason: Available}]}}`
)

func TestAvailable(t *testing.T) {
	condition := func(status, reason, message string) report.Condition {
		return report.Condition{Type: "Available", Status: status, Reason: reason, Message: message}
	}
	creating := condition("False", "Creating", "The book is not served yet: no pod is available")
	served := condition("True", "Available", "The book is served")
	rolling := condition("True", "RollingOut", "The book is served while a change rolls out")
	zero := condition("True", "ScaledToZero", "The book is not served: the Deployment is scaled to zero")
	lost := condition("False", "Unavailable", "The book is no longer served: no pod is available")
	d, _ := compose.Compose(viewtest.View(), request.Observed{})
	scalable, _ := compose.Compose(viewtest.View(), request.Observed{})
	scalable.Deployment.Spec.Replicas = nil
	const (
		none       = `{status: {availableReplicas: 0}}`
		changed    = `{spec: {` + otherRevision + `}}`
		scaled     = `{spec: {replicas: 0}, status: {replicas: 0, updatedReplicas: 0, availableReplicas: 0}}`
		scaledOld  = `{spec: {replicas: 0, ` + otherRevision + `}, status: {availableReplicas: 0}}`
		wasHealthy = `{status: {status: Healthy, conditions: [{type: Available, status: Unknown, reason: FatalError}]}}`
		wasLost    = `{status: {conditions: [{type: Available, status: "False", reason: Unavailable}]}}`
	)
	for name, tc := range map[string]struct {
		reason, last, observed string
		desired                *compose.Desired // Nil if the spec has errors.
		want                   report.Condition
	}{
		"Starting":       {"The first pods start", `{}`, none, d, creating},
		"Serving":        {"One of two pods serves the book", `{}`, `{status: {availableReplicas: 1}}`, d, served},
		"Changed":        {"The pods serve another revision", `{}`, changed, d, rolling},
		"Rolling":        {"A pod of the previous revision is left", `{}`, `{status: {replicas: 3}}`, d, rolling},
		"Lost":           {"Pods served the book before", wasAvailable, none, d, lost},
		"StillLost":      {"The condition stays while nothing changes", wasLost, none, d, lost},
		"LostAfterFatal": {"Another function failed, but the status is that of a served book", wasHealthy, none, d, lost},
		"Zero":           {"An autoscaler may scale to zero", `{}`, scaled, scalable, zero},
		"ZeroChanged":    {"It stays while a changed text is applied", `{}`, scaledOld, scalable, zero},
		"ZeroByHand":     {"Somebody scaled to zero, and the spec requests replicas", wasAvailable, scaled, d, lost},
		"Invalid":        {"The desired state is unknown, but a pod serves the book", `{}`, changed, nil, served},
		"InvalidRolling": {"The previous rollout continues", `{}`, `{metadata: {generation: 4}}`, nil, rolling},
		"InvalidAtZero":  {"Whatever the spec requests", `{}`, scaled, nil, zero},
	} {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Last = *viewtest.Decode[view.LastStatus](t, tc.last)
			o := viewtest.Decode[request.ObservedDeployment](t, settledDeployment, tc.observed)
			if diff := cmp.Diff(tc.want, available(v, o, tc.desired)); diff != "" {
				t.Errorf("\n%s\navailable(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if diff := cmp.Diff(creating, available(viewtest.View(), nil, d)); diff != "" {
		t.Errorf("Nothing exists: available(): -want, +got:\n%s", diff)
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
		return report.Condition{Type: "Degraded", Status: "True", Reason: "RouteNotAccepted", Message: "Run kubectl describe httproute -n default viewer-sample: a Gateway rejected the HTTPRoute: " + why}
	}
	for name, tc := range map[string]struct {
		reason, service, status string
		want                    report.Condition
	}{
		"NoService":  {"The Service does not exist yet", "", notFound + `"2026-01-02T03:04:05Z"`, asExpected},
		"Before":     {"The Gateway has reported before", service, notFound + `"2026-01-02T03:04:04Z"`, asExpected},
		"New":        {"The cache of the Gateway may not have it yet", service, notFound + `"2026-01-02T03:04:10Z"`, asExpected},
		"After":      {"The Gateway does not find it", service, notFound + `"2026-01-02T03:04:11Z"`, rejected("no Service")},
		"Undated":    {"It is not known when the Gateway reported", service, notFound + `""`, rejected("no Service")},
		"NotAllowed": {"Another reason", "", "ResolvedRefs, reason: RefNotPermitted", rejected("RefNotPermitted")},
	} {
		t.Run(name, func(t *testing.T) {
			v := viewtest.With(t, `{route: {host: a.b, parentRefs: [{name: a}]}}`)
			// The route was added to the Input later, so it is not missing.
			v.Last = *viewtest.Decode[view.LastStatus](t, wasAvailable)
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
	condition := func(reason, message string) report.Condition {
		return report.Condition{Type: "Degraded", Status: "True", Reason: reason, Message: message}
	}
	asExpected := report.Condition{Type: "Degraded", Status: "False", Reason: "AsExpected", Message: "No errors found"}
	const (
		isPaused    = "Run kubectl rollout resume deployment -n default viewer-sample: the Deployment is paused, so no change rolls out"
		isGone      = "Deleted resources are created again: ConfigMap markdowns-sample, Deployment viewer-sample, Service viewer-sample"
		cannot      = " -n default -l app.kubernetes.io/instance=sample: Deployment viewer-sample cannot roll out: "
		progressing = `{type: Progressing, status: "False", message: ReplicaSet "v" has timed out progressing.}`
		failing     = `{type: ReplicaFailure, status: "True", message: "pods are\nforbidden"}`
	)
	stuck := condition("ProgressDeadlineExceeded",
		"Run kubectl describe pods"+cannot+`ReplicaSet "v" has timed out progressing`)
	failed := condition("ReplicaFailure",
		"Run kubectl describe replicasets"+cannot+"pods are forbidden")
	unsynced := condition("ApplyFailed", "Run kubectl describe markdownview.markdownview.fn.crossplane.io -n default sample: "+
		"its events show why Kubernetes rejected these composed resources: deployment, and service")
	paused := condition("Paused", isPaused)

	was := func(condition string) string { return `{status: {conditions: [{` + condition + `}]}}` }
	wasFine := was(`type: Degraded, status: "False", reason: AsExpected`)
	wasGone := was(`type: Degraded, status: "True", reason: Missing`)
	wasPaused := was(`type: Degraded, status: "True", reason: Paused`)
	wasStuck := was(`type: Degraded, status: "True", reason: ProgressDeadlineExceeded`)
	notSynced := was(`type: Synced, status: "False", message: "Unsynced resources: deployment, and service"`)
	synced := was(`type: Synced, status: "True", message: "Unsynced resources: a"`)
	ownFatal := was(`type: Synced, status: "False", message: "returned a fatal result: Unsynced resources: a"`)
	const (
		timedOut      = `{status: {conditions: [` + progressing + `]}}`
		timedOutLater = `{metadata: {generation: 4}, status: {conditions: [` + progressing + `]}}`
		timedOutOther = `{spec: {` + otherRevision + `}, status: {conditions: [` + progressing + `]}}`
		pausedLater   = `{metadata: {generation: 4}, spec: {paused: true}, status: {updatedReplicas: 1}}`
		pausedFirst   = `{spec: {paused: true}, status: {replicas: 0, updatedReplicas: 0}}`
		pausedAtZero  = `{spec: {paused: true, replicas: 0}, status: {replicas: 0, updatedReplicas: 0}}`
		changing      = `{status: {updatedReplicas: 1, conditions: [{type: Progressing, status: "True"}, {type: ReplicaFailure, status: "False"}]}}`
	)
	for name, tc := range map[string]struct {
		reason, last, deployment string // Without a Deployment, nothing exists.
		want                     report.Condition
	}{
		"First":         {"Nothing existed before, so nothing is missing", `{}`, "", asExpected},
		"Missing":       {"Resources that existed are gone", wasAvailable, "", condition("Missing", isGone)},
		"Changing":      {"A change rolls out", `{}`, changing, asExpected},
		"Stuck":         {"Pods do not become available in time", `{}`, timedOut, stuck},
		"Failing":       {"Pods cannot be created", `{}`, `{status: {conditions: [` + progressing + `, ` + failing + `]}}`, failed},
		"Fixed":         {"The revision that was stuck is not the desired one", `{}`, timedOutOther, asExpected},
		"FixedLater":    {"The conditions still describe the previous revision", wasFine, timedOutLater, asExpected},
		"MissingBefore": {"The previous condition was about another error", wasGone, timedOutLater, asExpected},
		"ScaledStuck":   {"Another number of replicas fixes nothing", wasStuck, timedOutLater, stuck},
		"Paused":        {"Somebody paused it while a change rolls out", `{}`, `{spec: {paused: true}, status: {updatedReplicas: 1}}`, paused},
		"PausedFirst":   {"Somebody paused it before its first pod was created", `{}`, pausedFirst, paused},
		"PausedEdited":  {"A change cannot roll out", `{}`, `{spec: {paused: true, ` + otherRevision + `}}`, paused},
		"PausedBefore":  {"The controller has not seen that it was scaled: it stays paused", wasPaused, pausedLater, paused},
		"PausedLater":   {"The status describes the previous spec", `{}`, pausedLater, asExpected},
		"PausedDone":    {"No change rolls out", `{}`, `{spec: {paused: true}}`, asExpected},
		"PausedAtZero":  {"No replica is requested", `{}`, pausedAtZero, asExpected},
		"ApplyFailed":   {"Another XR owns a resource, or it is invalid", notSynced, "", unsynced},
		"SyncedAgain":   {"Crossplane applied all resources the last time", synced, `{}`, asExpected},
		"OurOwnFatal":   {"Synced is false because of our own fatal result", ownFatal, `{}`, asExpected},
	} {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.APIVersion, v.Kind = "markdownview.fn.crossplane.io/v1alpha1", "MarkdownView"
			v.Last = *viewtest.Decode[view.LastStatus](t, tc.last)
			d, _ := compose.Compose(v, request.Observed{})
			var o request.Observed
			if tc.deployment != "" {
				o.Deployment = viewtest.Decode[request.ObservedDeployment](t, settledDeployment, tc.deployment)
				o.Identities = map[string]view.Identity{view.KeyConfigMap: {}, view.KeyDeployment: {}, view.KeyService: {}}
			}
			if diff := cmp.Diff(tc.want, degraded(v, o, d)); diff != "" {
				t.Errorf("\n%s\ndegraded(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
