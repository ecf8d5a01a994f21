package judge

import (
	"maps"
	"slices"
	"time"

	"github.com/crossplane-contrib/function-markdownview/internal/report"
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

// A Readiness maps the key of each composed resource to whether the resource is ready.
type Readiness map[string]bool

// all returns whether every composed resource is ready.
func (r Readiness) all() bool {
	return !slices.Contains(slices.Collect(maps.Values(r)), false)
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
