package e2e

import (
	"context"
	"fmt"
	"time"
)

// FunctionDies shows that the end of the function in the middle of work loses
// and doubles nothing.
func FunctionDies(k *kit) { k.survives(k.KillFunction) }

// CrossplaneDies shows the same for Crossplane.
func CrossplaneDies(k *kit) { k.survives(k.KillCrossplane) }

// APIServerDies shows the same for the API server.
func APIServerDies(k *kit) { k.survives(k.loopback.KillAPIServer) }

func (k *kit) survives(kill func(context.Context) error) {
	k.Helper()
	const n = 50
	names := k.crowd(n)
	k.eventually("work is under way", func() error {
		if d := k.deployments(); d < n/5 {
			return fmt.Errorf("there are %d Deployments", d)
		}
		return nil
	})
	if d := k.deployments(); d == n {
		k.Fatal("the work is done: nothing would be interrupted")
	}
	k.must(kill(k.Context()))
	k.settleAll(3*time.Minute, n)
	k.right(names)
}
