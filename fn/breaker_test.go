package fn

import (
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"google.golang.org/protobuf/proto"
)

func TestTTL(t *testing.T) {
	const (
		open     = `{status: {conditions: [{type: Responsive, status: "False", reason: WatchCircuitOpen}]}}`
		rollout  = `{status: {updatedReplicas: 1}}`
		changing = `{status: {conditions: [{type: Responsive, status: "False"}, {type: Available, status: "True", reason: RollingOut}]}}`
		pending  = `{status: {conditions: [{type: Responsive, status: "False"}, {type: Synced, status: "False", message: "Unsynced resources: other"}]}}`
	)
	cases := map[string]struct {
		reason     string
		xr         string
		deployment string
		input      string
		flag       time.Duration
		want       time.Duration
	}{
		"None":           {reason: "Without a TTL, Crossplane calls again after an event", want: 0},
		"RollingOut":     {reason: "A rollout has events", deployment: rollout, want: 0},
		"Flag":           {reason: "The flag applies when the Input has no TTL", flag: time.Minute, want: time.Minute},
		"Input":          {reason: "The TTL of the Input takes precedence", input: `{ttl: 1h}`, flag: time.Minute, want: time.Hour},
		"Zero":           {reason: "A TTL of zero in the Input takes precedence too", input: `{ttl: 0s}`, flag: time.Minute, want: 0},
		"Open":           {reason: "While events are dropped, a change is observed within seconds", xr: open, want: 20 * time.Second},
		"OpenRollingOut": {reason: "While events of a rollout are dropped, its end is observed sooner", xr: open, deployment: rollout, want: 5 * time.Second},
		"OpenDegraded":   {reason: "The end of an error is observed sooner too", xr: pending, want: 5 * time.Second},
		"OpenChanging":   {reason: "STATUS follows Available in the next call", xr: changing, want: 5 * time.Second},
		"OpenFlag":       {reason: "A longer TTL of the flag does not apply", xr: open, flag: time.Minute, want: 20 * time.Second},
		"OpenInput":      {reason: "A longer TTL of the Input does not apply", xr: open, input: `{ttl: 1h}`, want: 20 * time.Second},
		"OpenShorter":    {reason: "A shorter TTL of the Input applies", xr: open, deployment: rollout, input: `{ttl: 1s}`, want: time.Second},
		"OpenZero":       {reason: "A TTL of zero means that none is set", xr: open, input: `{ttl: 0s}`, want: 20 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := settledRequest(t)
			if tc.xr != "" {
				proto.Merge(req.GetObserved().GetComposite().GetResource(), object(t, tc.xr))
			}
			if tc.deployment != "" {
				proto.Merge(req.GetObserved().GetResources()["deployment"].GetResource(), object(t, tc.deployment))
			}
			if tc.input != "" {
				req.Input = object(t, tc.input)
			}
			rsp, err := New(logging.NewNopLogger(), tc.flag).RunFunction(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}

			if got := rsp.GetMeta().GetTtl().AsDuration(); got != tc.want {
				t.Errorf("\n%s\nttl: want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}
