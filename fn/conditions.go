package fn

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// A condition, of an XR or of a Deployment.
type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// The types of the conditions that every answer carries.
const (
	// TypeAvailable is true while a viewer serves the book.
	TypeAvailable = "Available"
	// TypeDegraded is true while something keeps the book from being served as
	// asked that does not pass by waiting.
	TypeDegraded = "Degraded"
)

// Reasons of Available.
const (
	// ReasonAvailable (true): viewers serve, and no change rolls out.
	ReasonAvailable = "Available"
	// ReasonRollingOut (true): viewers serve while a change rolls out.
	ReasonRollingOut = "RollingOut"
	// ReasonScaledToZero (true): no viewer is wanted, so none is missed.
	ReasonScaledToZero = "ScaledToZero"
	// ReasonCreating (false): no viewer has served yet.
	ReasonCreating = "Creating"
	// ReasonUnavailable (false): viewers served once, and none does now.
	ReasonUnavailable = "Unavailable"
)

// Reasons of Degraded, the gravest first.
const (
	// ReasonInvalidSpec (true): the XR asks for what cannot be.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonInvalidInput (true): the Composition's Input does.
	ReasonInvalidInput = "InvalidInput"
	// ReasonMissing (true): a composed resource that had been there is gone.
	ReasonMissing = "Missing"
	// ReasonPaused (true): somebody paused the Deployment, so no change rolls out.
	ReasonPaused = "Paused"
	// ReasonReplicaFailure (true): pods cannot be created.
	ReasonReplicaFailure = "ReplicaFailure"
	// ReasonProgressDeadlineExceeded (true): pods do not become available.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"
	// ReasonAsExpected (false): none of these.
	ReasonAsExpected = "AsExpected"
)

const (
	statusTrue  = "True"
	statusFalse = "False"
)

func (x xr) condition(kind string) condition {
	return conditionOf(x.Status.Conditions, kind)
}

// settled returns whether the MarkdownView has been served before.
func (x xr) settled() bool {
	available := x.condition(TypeAvailable)

	// Crossplane makes our conditions Unknown when another function of the
	// pipeline fails; the status stays.
	return available.Status == statusTrue ||
		available.Reason == ReasonUnavailable ||
		slices.Contains([]string{stateAvailable, stateHealthy}, x.Status.Status)
}

// available tells of the viewers that there are. What is wanted is nil where it
// is not known, because the XR or the Input has faults.
func available(v view, d *deploymentState, want *desired) condition {
	asked := d != nil && (want == nil || d.asked(*want))
	none := d != nil && d.wanted() == 0 && (want == nil || ptr.Deref(want.deployment.Spec.Replicas, 0) == 0)
	switch {
	case d.serving() && asked && d.rolledOut():
		return condition{TypeAvailable, statusTrue, ReasonAvailable, "Viewers serve the book"}
	case d.serving():
		return condition{TypeAvailable, statusTrue, ReasonRollingOut, "Viewers serve the book while a change rolls out"}
	case none:
		return condition{TypeAvailable, statusTrue, ReasonScaledToZero, "No viewer is wanted, so none serves the book"}
	case v.settled():
		return condition{TypeAvailable, statusFalse, ReasonUnavailable, "No viewer serves the book"}
	default:
		return condition{TypeAvailable, statusFalse, ReasonCreating, "No viewer has served the book yet"}
	}
}

func degraded(v view, want desired, seen observed) condition {
	if names := missing(v, seen); v.settled() && len(names) > 0 {
		return condition{TypeDegraded, statusTrue, ReasonMissing, strings.Join(names, ", ") + " had been there and is gone: it is created again"}
	}
	if d := seen.deployment; d != nil && d.revision() == revisionOf(want) {
		if d.paused() {
			return condition{TypeDegraded, statusTrue, ReasonPaused, fmt.Sprintf("Deployment %s is paused, so no change rolls out: kubectl rollout resume deployment -n %s %s",
				v.viewerName(), v.namespace(), v.viewerName())}
		}
		reason, cause := d.failure()
		// Until the Deployment has caught up its conditions are about what it
		// was before, so they confirm a fault that is known and make no new one.
		known := v.condition(TypeDegraded).Status == statusTrue && v.condition(TypeDegraded).Reason == reason
		if reason != "" && (d.caughtUp() || known) {
			// Pods that cannot be created have nothing to describe.
			where := "pods"
			if reason == ReasonReplicaFailure {
				where = "replicasets"
			}

			return condition{TypeDegraded, statusTrue, reason, fmt.Sprintf("Deployment %s cannot roll out: %s: see kubectl describe %s -n %s -l %s=%s",
				v.viewerName(), strings.TrimSuffix(line(cause), "."), where, v.namespace(), labelInstance, v.instance())}
		}
	}

	return condition{TypeDegraded, statusFalse, ReasonAsExpected, "Nothing is known to be wrong"}
}

// missing names our resources that were not observed.
func missing(v view, seen observed) []string {
	var names []string
	if seen.configMap == nil {
		names = append(names, "ConfigMap "+v.configMapName())
	}
	if seen.deployment == nil {
		names = append(names, "Deployment "+v.viewerName())
	}
	if seen.service == nil {
		names = append(names, "Service "+v.viewerName())
	}

	return names
}

// failure returns why the rollout is stuck, as the Deployment controller tells
// it, and no reason when it is not. That pods cannot be created is the cause of
// not progressing, so it goes first.
func (s *deploymentState) failure() (reason, cause string) {
	if c := conditionOf(s.Status.Conditions, "ReplicaFailure"); c.Status == statusTrue {
		return ReasonReplicaFailure, c.Message
	}
	if c := conditionOf(s.Status.Conditions, "Progressing"); c.Status == statusFalse {
		return ReasonProgressDeadlineExceeded, c.Message
	}

	return "", ""
}

// invalid is Degraded for faults of the XR, of its Input, or of both.
func invalid(faults field.ErrorList) condition {
	reason := ReasonInvalidInput
	for _, f := range faults {
		if strings.HasPrefix(f.Field, "spec") || strings.HasPrefix(f.Field, "metadata") {
			reason = ReasonInvalidSpec
		}
	}

	return condition{TypeDegraded, statusTrue, reason, explain(faults)}
}

func conditionOf(all []condition, kind string) condition {
	for _, c := range all {
		if c.Type == kind {
			return c
		}
	}

	return condition{}
}
