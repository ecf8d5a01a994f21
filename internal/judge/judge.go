// Package judge returns what the function reports about a MarkdownView: the readiness of
// its composed resources, conditions, status and events.
package judge

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/crossplane-contrib/function-markdownview/internal/compose"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// A Verdict is the outcome of a call: the response without the desired resources.
type Verdict struct {
	// Ready shows which composed resources are ready.
	Ready      Readiness
	Conditions []report.Condition
	// Status is nil if there are errors: Crossplane then keeps the last one.
	Status Status
	Events []Event
	TTL    time.Duration
}

// An Event is a result of a response. Crossplane emits it as an event of the XR and of
// its claim. A fatal one stops the pipeline before anything changes.
type Event struct {
	Severity, Reason, Message string
}

// The severities of events.
const (
	SeverityFatal   = "fatal"
	SeverityWarning = "warning"
	SeverityNormal  = "normal"
)

// Fatal returns whether the response stops the pipeline.
func (v Verdict) Fatal() bool {
	return slices.ContainsFunc(v.Events, func(e Event) bool { return e.Severity == SeverityFatal })
}

// pendingTTL is the ttl of a response with an earlier revision. Crossplane calls again when
// the ConfigMap has changed, unless its circuit breaker drops that event.
const pendingTTL = 30 * time.Second

// Results returns every severity and reason that a result can have.
func Results() []report.Result {
	var all []report.Result
	for _, reason := range []string{report.ReasonPanic, report.ReasonResponseTooLarge, report.ReasonInvalidSpec, report.ReasonConfigMapNotFound, report.ReasonOCIRepositoryNotReady, report.ReasonInvalidInput, report.ReasonPipelineConflict, report.ReasonResourceConflict} {
		all = append(all, report.Result{Severity: SeverityFatal, Reason: reason})
	}
	for _, reason := range []string{report.ReasonApplyFailed, report.ReasonMissing, report.ReasonPaused, report.ReasonReplicaFailure, report.ReasonProgressDeadlineExceeded, report.ReasonOCIRepositoryNotReady, report.ReasonRouteNotAccepted, report.ReasonIncomplete} {
		all = append(all, report.Result{Severity: SeverityWarning, Reason: reason})
	}
	for _, reason := range []string{report.ReasonAvailable, report.ReasonRollingOut, report.ReasonScaledToZero} {
		all = append(all, report.Result{Severity: SeverityNormal, Reason: reason})
	}

	return all
}

// Judge returns the verdict for a view without errors.
func Judge(v view.View, o request.Observed, d *compose.Desired, ttl time.Duration) Verdict {
	ready := readinessOf(v, o, d)
	serves, broken := available(v, o.Deployment, d), degraded(v, o, d)
	conditions := []report.Condition{serves, broken, d.Complete}
	fields := StatusOf(v, o, d, ready)
	changes := changes(v, serves)
	if changes {
		fields.withhold(v.Last)
	}
	if d.Applied != d.Revision {
		ttl = pendingTTL
	}

	return Verdict{
		Ready:      ready,
		Conditions: conditions,
		Status:     fields,
		Events:     transitions(v, conditions),
		TTL:        ttlOf(v, ttl, ready.all() && broken.Status == report.False && !changes),
	}
}

// readinessOf returns which of the desired resources are ready.
func readinessOf(v view.View, o request.Observed, d *compose.Desired) Readiness {
	ready := Readiness{}
	for _, r := range d.Resources {
		switch r.Key {
		case d.Text:
			ready[r.Key] = configMapReady(o.ConfigMaps[r.Key], d, o.Deployment)
		case view.KeyDeployment:
			ready[r.Key] = deploymentReady(o.Deployment, d)
		case view.KeyService:
			ready[r.Key] = serviceReady(o.Service, d)
		case view.KeyBudget:
			ready[r.Key] = budgetReady(o.Budget)
		case view.KeyRoute:
			ready[r.Key] = routeReady(o.Route, v)
		case view.KeyIngress:
			ready[r.Key] = ingressReady(o.Ingress)
		default: // A ConfigMap that pods still serve, as it is observed.
			ready[r.Key] = true
		}
	}

	return ready
}

// transitions returns an event for each condition that turns true, or false in the case
// of BookComplete. A steady state has none.
func transitions(v view.View, now []report.Condition) []Event {
	severities := map[string]string{report.TypeAvailable: SeverityNormal, report.TypeDegraded: SeverityWarning, report.TypeBookComplete: SeverityWarning}
	reported := map[string]string{report.TypeAvailable: report.True, report.TypeDegraded: report.True, report.TypeBookComplete: report.False}

	var events []Event
	for _, c := range now {
		// Crossplane sets conditions to Unknown while another function of the pipeline
		// fails. The pods kept serving, so Available is not reported again.
		again := c.Type == report.TypeAvailable && v.Last.Condition(c.Type).Status == report.Unknown && settled(v)
		if status := reported[c.Type]; c.Status == status && v.Last.Condition(c.Type).Status != status && !again {
			events = append(events, Event{severities[c.Type], c.Reason, c.Message})
		}
	}

	return events
}

// Invalid returns the verdict for a view with problems.
func Invalid(v view.View, o request.Observed, p report.Problems) Verdict {
	why := p.Explain()
	complete, _ := compose.LastComplete(v.Last)

	return Verdict{
		Conditions: []report.Condition{available(v, o.Deployment, nil), {Type: report.TypeDegraded, Status: report.True, Reason: p.Reason(), Message: why}, complete},
		Events: []Event{{SeverityFatal, p.Reason(), fmt.Sprintf("cannot compose %s %q: %s",
			report.Line(cmp.Or(v.Kind, "XR")), report.Short(v.Metadata.Name), why)}},
	}
}

// Waiting returns the verdict for a view whose ConfigMaps or OCIRepository Crossplane has not
// sent yet. Crossplane calls the function again with them, and drops this response.
func Waiting(v view.View, o request.Observed) Verdict {
	complete, _ := compose.LastComplete(v.Last)
	reason, what := report.ReasonConfigMapNotFound, "ConfigMaps"
	if v.Spec.Repository() != nil {
		reason, what = report.ReasonOCIRepositoryNotReady, "OCIRepository"
	}

	return Verdict{Conditions: []report.Condition{
		available(v, o.Deployment, nil),
		{Type: report.TypeDegraded, Status: report.True, Reason: reason, Message: "Crossplane has not sent the " + what + " of spec.markdownsFrom yet"},
		complete,
	}}
}

// Panic returns the verdict for a call that panicked.
func Panic(cause any) Verdict {
	const message = "See the log of the function, which panicked"

	return Verdict{
		Conditions: []report.Condition{
			{Type: report.TypeAvailable, Status: report.Unknown, Reason: report.ReasonPanic, Message: message},
			{Type: report.TypeDegraded, Status: report.True, Reason: report.ReasonPanic, Message: message},
			{Type: report.TypeBookComplete, Status: report.Unknown, Reason: report.ReasonPanic, Message: message},
		},
		Events: []Event{{SeverityFatal, report.ReasonPanic, "cannot run the function: panic: " + report.Line(fmt.Sprint(cause))}},
	}
}

// TooLarge returns the verdict that replaces v. The response of v has size bytes,
// more than Crossplane reads.
func TooLarge(v Verdict, size int) Verdict {
	message := fmt.Sprintf("Compose fewer or smaller resources in the pipeline: together they are larger than the %d MiB that Crossplane accepts from a function", MaxResponse>>20)

	return Verdict{
		Conditions: []report.Condition{v.Conditions[0], {Type: report.TypeDegraded, Status: report.True, Reason: report.ReasonResponseTooLarge, Message: message}, v.Conditions[2]},
		Events: []Event{{
			SeverityFatal, report.ReasonResponseTooLarge,
			fmt.Sprintf("cannot return desired state: the response has %d bytes, and Crossplane accepts at most %d", size, MaxResponse),
		}},
	}
}

// MaxResponse is the size in bytes of the largest response that Crossplane
// reads. It sets no limit of its own, so grpc-go's default applies:
// https://github.com/crossplane/crossplane/blob/v2.4.0/internal/xfn/function_runner.go
const MaxResponse = 4 << 20
