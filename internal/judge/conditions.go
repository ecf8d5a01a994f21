package judge

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/internal/compose"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// settled returns whether pods have served the book before.
func settled(v view.View) bool {
	available := v.Last.Condition(report.TypeAvailable)

	// Crossplane sets our conditions to Unknown when another function of the pipeline
	// fails, but keeps the status.
	return available.Status == report.True ||
		available.Reason == report.ReasonUnavailable ||
		slices.Contains([]string{stateAvailable, stateHealthy}, ptr.Deref(v.Last.Status.Status, ""))
}

// changes returns whether a response changes the reason of Available. Another function can
// set the condition too, with reasons of its own, which never become ours.
func changes(v view.View, available report.Condition) bool {
	reasons := []string{report.ReasonAvailable, report.ReasonRollingOut, report.ReasonScaledToZero, report.ReasonCreating, report.ReasonUnavailable}
	last := v.Last.Condition(report.TypeAvailable).Reason

	return last != available.Reason && slices.Contains(reasons, last)
}

// available returns the condition Available, which is about the existing pods. d is nil
// if the XR or the Input has errors.
func available(v view.View, o *request.ObservedDeployment, d *compose.Desired) report.Condition {
	matches := o != nil && (d == nil || matches(o, d))
	none := o != nil && o.Replicas() == 0 && (d == nil || ptr.Deref(d.Deployment.Spec.Replicas, 0) == 0)
	switch {
	case o.Serving() && matches && o.RolledOut():
		return report.Condition{Type: report.TypeAvailable, Status: report.True, Reason: report.ReasonAvailable, Message: "The book is served"}
	case o.Serving():
		return report.Condition{Type: report.TypeAvailable, Status: report.True, Reason: report.ReasonRollingOut, Message: "The book is served while a change rolls out"}
	case none:
		return report.Condition{Type: report.TypeAvailable, Status: report.True, Reason: report.ReasonScaledToZero, Message: "The book is not served: the Deployment is scaled to zero"}
	case settled(v):
		return report.Condition{Type: report.TypeAvailable, Status: report.False, Reason: report.ReasonUnavailable, Message: "The book is no longer served: no pod is available"}
	default:
		return report.Condition{Type: report.TypeAvailable, Status: report.False, Reason: report.ReasonCreating, Message: "The book is not served yet: no pod is available"}
	}
}

func degraded(v view.View, o request.Observed, d *compose.Desired) report.Condition {
	if unsynced := unsynced(v); unsynced != "" {
		return report.Condition{Type: report.TypeDegraded, Status: report.True, Reason: report.ReasonApplyFailed, Message: fmt.Sprintf("Run kubectl describe %s -n %s %s: its events show why Kubernetes rejected these composed resources: %s",
			resource(v), v.Namespace(), v.Metadata.Name, unsynced)}
	}
	if names := missing(d, o); settled(v) && len(names) > 0 {
		return report.Condition{Type: report.TypeDegraded, Status: report.True, Reason: report.ReasonMissing, Message: "Deleted resources are created again: " + strings.Join(names, ", ")}
	}
	if o.Deployment != nil {
		if reason, message := deploymentDegraded(o.Deployment, v, d); reason != "" {
			return report.Condition{Type: report.TypeDegraded, Status: report.True, Reason: reason, Message: message}
		}
	}
	if why := behind(v); why != "" {
		return report.Condition{Type: report.TypeDegraded, Status: report.True, Reason: report.ReasonOCIRepositoryNotReady, Message: why}
	}
	if why := routeRejected(o.Route, o.Service); why != "" && v.Input.Route != nil {
		return report.Condition{Type: report.TypeDegraded, Status: report.True, Reason: report.ReasonRouteNotAccepted, Message: fmt.Sprintf("Run kubectl describe httproute -n %s %s: a Gateway rejected the HTTPRoute: %s",
			v.Namespace(), v.ViewerName(), strings.TrimSuffix(why, "."))}
	}

	return report.Condition{Type: report.TypeDegraded, Status: report.False, Reason: report.ReasonAsExpected, Message: "No errors found"}
}

// behind returns why the book is not the one that its OCIRepository names now, or an empty
// string. While Flux tries again, Ready is Unknown, and the last result stays.
func behind(v view.View) string {
	from := v.Spec.Repository()
	switch {
	case from == nil:
		return ""
	case from.Problem != "":
		return fmt.Sprintf("The book stays at %s: %s", report.Line(from.Image.Reference), from.Problem)
	case from.Pending && wasDegraded(v, report.ReasonOCIRepositoryNotReady):
		return report.Line(v.Last.Condition(report.TypeDegraded).Message)
	default:
		return ""
	}
}

// deploymentDegraded returns why the Deployment does not roll out the desired spec, or no reason if
// nobody needs to fix it.
func deploymentDegraded(o *request.ObservedDeployment, v view.View, d *compose.Desired) (reason, message string) {
	switch {
	case paused(o, v, d):
		return report.ReasonPaused, fmt.Sprintf("Run kubectl rollout resume deployment -n %s %s: the Deployment is paused, so no change rolls out",
			v.Namespace(), v.ViewerName())
	case o.Revision() != d.Revision:
		return "", ""
	case lacksImage(o, d):
		return report.ReasonApplyFailed, fmt.Sprintf("Use markdowns or ConfigMaps, or upgrade to Kubernetes 1.35 or later: this cluster removed the image volume from Deployment %s",
			v.ViewerName())
	}
	reason, cause := rolloutFailure(o)
	if reason == "" || !o.CaughtUp() && !wasDegraded(v, reason) {
		return "", ""
	}
	// Pods that cannot be created cannot be described.
	where := "pods"
	if reason == report.ReasonReplicaFailure {
		where = "replicasets"
	}

	return reason, fmt.Sprintf("Run kubectl describe %s -n %s -l %s=%s: Deployment %s cannot roll out: %s",
		where, v.Namespace(), view.LabelInstance, v.Instance(), v.ViewerName(), strings.TrimSuffix(report.Line(cause), "."))
}

// paused returns whether the Deployment was paused before it ran the desired spec.
func paused(o *request.ObservedDeployment, v view.View, d *compose.Desired) bool {
	switch {
	case !o.Spec.Paused:
		return false
	case o.Revision() != d.Revision:
		return true
	case !o.CaughtUp():
		return wasDegraded(v, report.ReasonPaused)
	default:
		return o.Status.UpdatedReplicas < o.Status.Replicas || o.Status.Replicas == 0 && o.Replicas() > 0
	}
}

// wasDegraded returns whether Degraded had a reason before. Until the Deployment
// controller has observed the current generation, the status is that of an earlier one:
// it can confirm a known error, but not show a new one.
func wasDegraded(v view.View, reason string) bool {
	last := v.Last.Condition(report.TypeDegraded)

	return last.Status == report.True && last.Reason == reason
}

// unsynced returns the composed resources of the pipeline that Crossplane could not
// apply the last time, as its condition Synced lists them:
// https://github.com/crossplane/crossplane/blob/v2.4.0/internal/controller/apiextensions/composite/reconciler.go
func unsynced(v view.View) string {
	synced := v.Last.Condition("Synced")
	names, ok := strings.CutPrefix(synced.Message, "Unsynced resources: ")
	if synced.Status != report.False || !ok {
		return ""
	}

	return report.Line(names)
}

// resource returns the resource type of the XR for kubectl. It includes the group,
// because two groups can have the same kind.
func resource(v view.View) string {
	group, _, _ := strings.Cut(v.APIVersion, "/")

	return strings.ToLower(report.Line(v.Kind + "." + group))
}

// missing returns the names of our resources that existed and are not observed.
func missing(d *compose.Desired, o request.Observed) []string {
	var names []string
	for _, r := range d.Resources {
		if _, ok := o.Identities[r.Key]; !ok && !r.Optional {
			names = append(names, r.Kind+" "+r.Name)
		}
	}

	return names
}

// rolloutFailure returns why the rollout is stuck, as the Deployment controller reports it, or
// no reason. ReplicaFailure comes first: it is why the rollout makes no progress.
func rolloutFailure(o *request.ObservedDeployment) (reason, cause string) {
	if c := report.ConditionOf(o.Status.Conditions, "ReplicaFailure"); c.Status == report.True {
		return report.ReasonReplicaFailure, c.Message
	}
	if c := report.ConditionOf(o.Status.Conditions, "Progressing"); c.Status == report.False {
		return report.ReasonProgressDeadlineExceeded, c.Message
	}

	return "", ""
}
