package fn

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/ptr"
)

// A condition, of an XR or of a Deployment.
type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// The types of the conditions of every response.
const (
	// TypeAvailable is true while a pod serves the book.
	TypeAvailable = "Available"
	// TypeDegraded is true while an error that somebody must fix keeps the book from
	// being served as requested.
	TypeDegraded = "Degraded"
	// TypeBookComplete is false while the book is served with problems that its
	// author can fix. It changes only when the book does.
	TypeBookComplete = "BookComplete"
)

// Reasons of Available.
const (
	// ReasonAvailable (true): pods serve the book, and no change rolls out.
	ReasonAvailable = "Available"
	// ReasonRollingOut (true): pods serve the book while a change rolls out.
	ReasonRollingOut = "RollingOut"
	// ReasonScaledToZero (true): no replica is requested, so none is missing.
	ReasonScaledToZero = "ScaledToZero"
	// ReasonCreating (false): no pod has served the book yet.
	ReasonCreating = "Creating"
	// ReasonUnavailable (false): pods have served the book, and none does now.
	ReasonUnavailable = "Unavailable"
)

// Reasons of Degraded, the most severe first.
const (
	// ReasonPanic (true; Available and BookComplete are unknown): the function
	// panicked.
	ReasonPanic = "Panic"
	// ReasonResponseTooLarge (true): Crossplane would not read the response.
	ReasonResponseTooLarge = "ResponseTooLarge"
	// ReasonInvalidSpec (true): the XR has errors.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonConfigMapNotFound (true): a ConfigMap of spec.markdownsFrom does not exist.
	ReasonConfigMapNotFound = "ConfigMapNotFound"
	// ReasonInvalidInput (true): the Composition's Input has errors.
	ReasonInvalidInput = "InvalidInput"
	// ReasonPipelineConflict (true): another function of the pipeline desires
	// another resource under the name of one of ours.
	ReasonPipelineConflict = "PipelineConflict"
	// ReasonResourceConflict (true): an existing composed resource is not the one
	// that the function composes.
	ReasonResourceConflict = "ResourceConflict"
	// ReasonApplyFailed (true): Kubernetes rejected a composed resource, or removed the
	// image volume from the Deployment.
	ReasonApplyFailed = "ApplyFailed"
	// ReasonMissing (true): a composed resource that existed is gone.
	ReasonMissing = "Missing"
	// ReasonPaused (true): somebody paused the Deployment, so no change rolls out.
	ReasonPaused = "Paused"
	// ReasonReplicaFailure (true): pods cannot be created.
	ReasonReplicaFailure = "ReplicaFailure"
	// ReasonProgressDeadlineExceeded (true): pods do not become available.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"
	// ReasonRouteNotAccepted (true): a Gateway rejects the HTTPRoute or its rule, or does
	// not find the Service.
	ReasonRouteNotAccepted = "RouteNotAccepted"
	// ReasonAsExpected (false): none of these.
	ReasonAsExpected = "AsExpected"
)

// Reasons of BookComplete. While there are errors, the condition keeps its last reason.
const (
	// ReasonComplete (true): no problems were found.
	ReasonComplete = "Complete"
	// ReasonIncomplete (false): the book has a problem that mdBook ignores, such as a
	// link without a target, or a file that no chapter shows.
	ReasonIncomplete = "Incomplete"
	// ReasonNotChecked (unknown): the book has had errors since it was created, or it
	// is in an image.
	ReasonNotChecked = "NotChecked"
)

const (
	statusTrue    = "True"
	statusFalse   = "False"
	statusUnknown = "Unknown"
)

// settled returns whether pods have served the book before.
func (v view) settled() bool {
	available := v.last.condition(TypeAvailable)

	// Crossplane sets our conditions to Unknown when another function of the pipeline
	// fails, but keeps the status.
	return available.Status == statusTrue ||
		available.Reason == ReasonUnavailable ||
		slices.Contains([]string{stateAvailable, stateHealthy}, ptr.Deref(v.last.Status.Status, ""))
}

// changes returns whether a response changes the reason of Available. Another function can
// set the condition too, with reasons of its own, which never become ours.
func (v view) changes(available condition) bool {
	reasons := []string{ReasonAvailable, ReasonRollingOut, ReasonScaledToZero, ReasonCreating, ReasonUnavailable}
	last := v.last.condition(TypeAvailable).Reason

	return last != available.Reason && slices.Contains(reasons, last)
}

// available returns the condition Available, which is about the existing pods. d is nil
// if the XR or the Input has errors.
func available(v view, o *observedDeployment, d *desired) condition {
	matches := o != nil && (d == nil || o.matches(d))
	none := o != nil && o.replicas() == 0 && (d == nil || ptr.Deref(d.deployment.Spec.Replicas, 0) == 0)
	switch {
	case o.serving() && matches && o.rolledOut():
		return condition{TypeAvailable, statusTrue, ReasonAvailable, "The book is served"}
	case o.serving():
		return condition{TypeAvailable, statusTrue, ReasonRollingOut, "The book is served while a change rolls out"}
	case none:
		return condition{TypeAvailable, statusTrue, ReasonScaledToZero, "The book is not served: the Deployment is scaled to zero"}
	case v.settled():
		return condition{TypeAvailable, statusFalse, ReasonUnavailable, "The book is no longer served: no pod is available"}
	default:
		return condition{TypeAvailable, statusFalse, ReasonCreating, "The book is not served yet: no pod is available"}
	}
}

func degraded(v view, o observed, d *desired) condition {
	if unsynced := v.unsynced(); unsynced != "" {
		return condition{TypeDegraded, statusTrue, ReasonApplyFailed, fmt.Sprintf("Kubernetes rejected composed resources that are invalid or belong to another XR: %s: to see the events, run kubectl describe %s -n %s %s",
			unsynced, v.resource(), v.namespace(), v.Metadata.Name)}
	}
	if names := missing(d, o); v.settled() && len(names) > 0 {
		return condition{TypeDegraded, statusTrue, ReasonMissing, "Deleted resources are created again: " + strings.Join(names, ", ")}
	}
	if o.deployment != nil {
		if reason, message := o.deployment.degraded(v, d); reason != "" {
			return condition{TypeDegraded, statusTrue, reason, message}
		}
	}
	if why := o.route.rejected(o.service); why != "" && v.input.Route != nil {
		return condition{TypeDegraded, statusTrue, ReasonRouteNotAccepted, fmt.Sprintf("A Gateway rejected HTTPRoute %s: %s: run kubectl describe httproute -n %s %s",
			v.viewerName(), strings.TrimSuffix(why, "."), v.namespace(), v.viewerName())}
	}

	return condition{TypeDegraded, statusFalse, ReasonAsExpected, "No errors found"}
}

// degraded returns why the Deployment does not roll out the desired spec, or no reason if
// nobody needs to fix it.
func (o *observedDeployment) degraded(v view, d *desired) (reason, message string) {
	switch {
	case o.paused(v, d):
		return ReasonPaused, fmt.Sprintf("Deployment %s is paused, so no change rolls out: run kubectl rollout resume deployment -n %s %s",
			v.viewerName(), v.namespace(), v.viewerName())
	case o.revision() != d.revision:
		return "", ""
	case o.lacksImage(d):
		return ReasonApplyFailed, fmt.Sprintf("Kubernetes removed the image volume from Deployment %s: this cluster has no image volumes, which need Kubernetes 1.35 or later: upgrade it, or use markdowns or ConfigMaps",
			v.viewerName())
	}
	reason, cause := o.failure()
	if reason == "" || !o.caughtUp() && !v.wasDegraded(reason) {
		return "", ""
	}
	// Pods that cannot be created cannot be described.
	where := "pods"
	if reason == ReasonReplicaFailure {
		where = "replicasets"
	}

	return reason, fmt.Sprintf("Deployment %s cannot roll out: %s: run kubectl describe %s -n %s -l %s=%s",
		v.viewerName(), strings.TrimSuffix(line(cause), "."), where, v.namespace(), labelInstance, v.instance())
}

// wasDegraded returns whether Degraded had a reason before. Until the Deployment
// controller has observed the current generation, the status is that of an earlier one:
// it can confirm a known error, but not show a new one.
func (v view) wasDegraded(reason string) bool {
	last := v.last.condition(TypeDegraded)

	return last.Status == statusTrue && last.Reason == reason
}

// unsynced returns the composed resources of the pipeline that Crossplane could not
// apply the last time, as its condition Synced lists them:
// https://github.com/crossplane/crossplane/blob/v2.4.0/internal/controller/apiextensions/composite/reconciler.go
func (v view) unsynced() string {
	synced := v.last.condition("Synced")
	names, ok := strings.CutPrefix(synced.Message, "Unsynced resources: ")
	if synced.Status != statusFalse || !ok {
		return ""
	}

	return line(names)
}

// resource returns the resource type of the XR for kubectl. It includes the group,
// because two groups can have the same kind.
func (v view) resource() string {
	group, _, _ := strings.Cut(v.APIVersion, "/")

	return strings.ToLower(line(v.Kind + "." + group))
}

// missing returns the names of our resources that existed and are not observed.
func missing(d *desired, o observed) []string {
	var names []string
	for _, r := range d.resources {
		if _, ok := o.identities[r.key]; !ok && !r.optional {
			names = append(names, r.kind+" "+r.name)
		}
	}

	return names
}

// failure returns why the rollout is stuck, as the Deployment controller reports it, or
// no reason. ReplicaFailure comes first: it is why the rollout makes no progress.
func (o *observedDeployment) failure() (reason, cause string) {
	if c := conditionOf(o.Status.Conditions, "ReplicaFailure"); c.Status == statusTrue {
		return ReasonReplicaFailure, c.Message
	}
	if c := conditionOf(o.Status.Conditions, "Progressing"); c.Status == statusFalse {
		return ReasonProgressDeadlineExceeded, c.Message
	}

	return "", ""
}

func conditionOf(all []condition, kind string) condition {
	for _, c := range all {
		if c.Type == kind {
			return c
		}
	}

	return condition{}
}
