package judge

import (
	"testing"
	"time"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

func TestTTL(t *testing.T) {
	const (
		open     = `{status: {conditions: [{type: Responsive, status: "False"}]}}`
		changing = `{status: {conditions: [{type: Responsive, status: "False"}, {type: Available, status: "True", reason: RollingOut}]}}`
		unsynced = `{status: {conditions: [{type: Responsive, status: "False"}, {type: Synced, status: "False", message: "Unsynced resources: a"}]}}`
		rollout  = `{status: {updatedReplicas: 1}}`
	)
	for name, tc := range map[string]struct {
		reason, last, deployment, input string
		flag, want                      time.Duration
	}{
		"None":           {"Without a TTL, Crossplane calls again after an event", `{}`, `{}`, `{}`, 0, 0},
		"RollingOut":     {"A rollout has events", `{}`, rollout, `{}`, 0, 0},
		"Flag":           {"The flag applies when the Input has no TTL", `{}`, `{}`, `{}`, time.Minute, time.Minute},
		"Input":          {"The TTL of the Input takes precedence", `{}`, `{}`, `{ttl: 1h}`, time.Minute, time.Hour},
		"Zero":           {"A TTL of zero takes precedence too", `{}`, `{}`, `{ttl: 0s}`, time.Minute, 0},
		"Open":           {"While events are dropped, a change is observed within seconds", open, `{}`, `{}`, 0, 10 * time.Second},
		"OpenRollingOut": {"The end of a rollout is observed sooner", open, rollout, `{}`, 0, 5 * time.Second},
		"OpenDegraded":   {"The end of an error is observed sooner too", unsynced, `{}`, `{}`, 0, 5 * time.Second},
		"OpenChanging":   {"STATUS follows Available in the next call", changing, `{}`, `{}`, 0, 5 * time.Second},
		"OpenLonger":     {"A longer TTL does not apply", open, `{}`, `{}`, time.Minute, 10 * time.Second},
		"OpenShorter":    {"A shorter TTL applies", open, rollout, `{ttl: 1s}`, 0, time.Second},
		"OpenZero":       {"A TTL of zero means that none is set", open, `{}`, `{ttl: 0s}`, 0, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Input, v.Last = *viewtest.Decode[v1beta1.Input](t, tc.input), *viewtest.Decode[view.LastStatus](t, tc.last)
			if got := verdictOf(t, v, tc.deployment, tc.flag).TTL; got != tc.want {
				t.Errorf("\n%s\nTTL: want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}
