package judge

import (
	"time"

	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// Crossplane's circuit breaker drops events of an XR that changes often, and does not
// make up for them: the function might not be called after the last change. A response
// with a TTL makes Crossplane call again, past the breaker:
// https://github.com/crossplane/crossplane/blob/v2.4.0/internal/circuit/token_bucket.go
//
// Only these responses need a TTL. Crossplane repeats a call with a fatal result by
// itself, at the latest after 30 seconds, and drops a response that waits for ConfigMaps.
const (
	// unsettledTTL is how long it takes to observe the end of a rollout whose events
	// are dropped.
	unsettledTTL = 5 * time.Second
	// settledTTL is how long it takes to observe a change of the XR, of its Composition
	// or of a composed resource whose event is dropped. The breaker stays open until
	// an event after its five minutes closes it, so this can be the TTL for an hour.
	settledTTL = 10 * time.Second
)

// breakerOpen returns whether Crossplane drops events of the XR. Crossplane sets the
// condition before it calls the function:
// https://github.com/crossplane/crossplane/blob/v2.4.0/internal/controller/apiextensions/composite/reconciler.go
func breakerOpen(v view.View) bool {
	return v.Last.Condition("Responsive").Status == report.False
}

// ttlOf returns the TTL of a response: the Input's or else the default, or a shorter
// one while the breaker is open. 0 means until an event.
func ttlOf(v view.View, otherwise time.Duration, settled bool) time.Duration {
	set := otherwise
	if v.Input.TTL != nil {
		set = v.Input.TTL.Duration
	}
	most := unsettledTTL
	if settled {
		most = settledTTL
	}
	if breakerOpen(v) && (set == 0 || set > most) {
		return most
	}

	return set
}
