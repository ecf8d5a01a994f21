package fn

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// A verdict is the outcome of a call: the response without the desired resources.
type verdict struct {
	// ready shows which composed resources are ready.
	ready      readiness
	conditions []condition
	// status is nil if there are errors: Crossplane then keeps the last one.
	status status
	events []event
	ttl    time.Duration
}

// pendingTTL is the ttl of a response with an earlier revision. Crossplane calls again when
// the ConfigMap has changed, unless its circuit breaker drops that event.
const pendingTTL = 30 * time.Second

// A readiness maps the key of each composed resource to whether the resource is ready.
type readiness map[string]bool

// all returns whether every composed resource is ready.
func (r readiness) all() bool {
	return !slices.Contains(slices.Collect(maps.Values(r)), false)
}

// An event is a result of a response. Crossplane emits it as an event of the XR and of
// its claim. A fatal one stops the pipeline before anything changes.
type event struct {
	severity, reason, message string
}

// The severities of events.
const (
	severityFatal   = "fatal"
	severityWarning = "warning"
	severityNormal  = "normal"
)

// Results returns every severity and reason that a result can have.
func Results() []Result {
	var all []Result
	for _, reason := range []string{ReasonPanic, ReasonResponseTooLarge, ReasonInvalidSpec, ReasonConfigMapNotFound, ReasonInvalidInput, ReasonPipelineConflict, ReasonResourceConflict} {
		all = append(all, Result{severityFatal, reason})
	}
	for _, reason := range []string{ReasonApplyFailed, ReasonMissing, ReasonPaused, ReasonReplicaFailure, ReasonProgressDeadlineExceeded, ReasonRouteNotAccepted, ReasonIncomplete} {
		all = append(all, Result{severityWarning, reason})
	}
	for _, reason := range []string{ReasonAvailable, ReasonRollingOut, ReasonScaledToZero} {
		all = append(all, Result{severityNormal, reason})
	}

	return all
}

// judge returns the verdict for a view without errors.
func judge(v view, o observed, d *desired, ttl time.Duration) verdict {
	ready := readinessOf(v, o, d)
	serves, broken := available(v, o.deployment, d), degraded(v, o, d)
	conditions := []condition{serves, broken, d.complete}
	fields := statusOf(v, o, d, ready)
	changes := v.changes(serves)
	if changes {
		fields.withhold(v.last)
	}
	if d.applied != d.revision {
		ttl = pendingTTL
	}

	return verdict{
		ready:      ready,
		conditions: conditions,
		status:     fields,
		events:     transitions(v, conditions),
		ttl:        v.ttl(ttl, ready.all() && broken.Status == statusFalse && !changes),
	}
}

// readinessOf returns which of the desired resources are ready.
func readinessOf(v view, o observed, d *desired) readiness {
	ready := readiness{}
	for _, r := range d.resources {
		switch r.key {
		case d.text:
			ready[r.key] = o.configMaps[r.key].ready(d, o.deployment)
		case keyDeployment:
			ready[r.key] = o.deployment.ready(d)
		case keyService:
			ready[r.key] = o.service.ready(d)
		case keyBudget:
			ready[r.key] = o.budget.ready()
		case keyRoute:
			ready[r.key] = o.route.ready(v)
		case keyIngress:
			ready[r.key] = o.ingress.ready()
		default: // A ConfigMap that pods still serve, as it is observed.
			ready[r.key] = true
		}
	}

	return ready
}

// fatal returns whether the response stops the pipeline.
func (v verdict) fatal() bool {
	return slices.ContainsFunc(v.events, func(e event) bool { return e.severity == severityFatal })
}

// transitions returns an event for each condition that turns true, or false in the case
// of BookComplete. A steady state has none.
func transitions(v view, now []condition) []event {
	severities := map[string]string{TypeAvailable: severityNormal, TypeDegraded: severityWarning, TypeBookComplete: severityWarning}
	reported := map[string]string{TypeAvailable: statusTrue, TypeDegraded: statusTrue, TypeBookComplete: statusFalse}

	var events []event
	for _, c := range now {
		// Crossplane sets conditions to Unknown while another function of the pipeline
		// fails. The pods kept serving, so Available is not reported again.
		again := c.Type == TypeAvailable && v.last.condition(c.Type).Status == statusUnknown && v.settled()
		if status := reported[c.Type]; c.Status == status && v.last.condition(c.Type).Status != status && !again {
			events = append(events, event{severities[c.Type], c.Reason, c.Message})
		}
	}

	return events
}

// judgeInvalid returns the verdict for a view with problems.
func judgeInvalid(v view, o observed, p problems) verdict {
	why := p.explain()
	complete, _ := v.last.complete()

	return verdict{
		conditions: []condition{available(v, o.deployment, nil), {TypeDegraded, statusTrue, p.reason(), why}, complete},
		events: []event{{severityFatal, p.reason(), fmt.Sprintf("cannot compose %s %q: %s",
			line(cmp.Or(v.Kind, "XR")), short(v.Metadata.Name), why)}},
	}
}

// judgeWaiting returns the verdict for a view whose ConfigMaps Crossplane has not sent
// yet. Crossplane calls the function again with them, and drops this response.
func judgeWaiting(v view, o observed) verdict {
	complete, _ := v.last.complete()

	return verdict{conditions: []condition{
		available(v, o.deployment, nil),
		{TypeDegraded, statusTrue, ReasonConfigMapNotFound, "Crossplane has not sent the ConfigMaps of spec.markdownsFrom yet"},
		complete,
	}}
}

// judgePanic returns the verdict for a call that panicked.
func judgePanic(cause any) verdict {
	const message = "The function panicked: see the log of the function"

	return verdict{
		conditions: []condition{
			{TypeAvailable, statusUnknown, ReasonPanic, message},
			{TypeDegraded, statusTrue, ReasonPanic, message},
			{TypeBookComplete, statusUnknown, ReasonPanic, message},
		},
		events: []event{{severityFatal, ReasonPanic, "cannot run the function: panic: " + line(fmt.Sprint(cause))}},
	}
}

// judgeTooLarge returns the verdict that replaces v. The response of v has size bytes,
// more than Crossplane reads.
func judgeTooLarge(v verdict, size int) verdict {
	message := fmt.Sprintf("The composed resources of the pipeline are larger than the %d MiB that Crossplane accepts from a function", maxResponse>>20)

	return verdict{
		conditions: []condition{v.conditions[0], {TypeDegraded, statusTrue, ReasonResponseTooLarge, message}, v.conditions[2]},
		events: []event{{
			severityFatal, ReasonResponseTooLarge,
			fmt.Sprintf("cannot return desired state: the response has %d bytes, and Crossplane accepts at most %d", size, maxResponse),
		}},
	}
}
