package e2e

import (
	"context"
	"fmt"
	"time"
)

// Deaths shows that the end of the function, of Crossplane and of the API server in
// the middle of work loses and doubles nothing.
func Deaths(k *kit) {
	const n = 60
	names := k.createMany(n, 0)
	kill := []func(context.Context) error{k.KillFunction, k.KillCrossplane}
	if k.loopback != nil {
		// That of another cluster is not ours to kill.
		kill = append(kill, k.loopback.KillAPIServer)
	}
	for i, kill := range kill {
		enough := n / 6 * (i + 1)
		k.eventually("work is under way", func() error {
			if d := k.deployments(); d < enough {
				return fmt.Errorf("there are %d Deployments", d)
			}

			return nil
		})
		if d := k.deployments(); d == n {
			k.Fatal("the work is done: nothing would be interrupted")
		}
		k.must(kill(k.Context()))
	}
	k.settleAll(4*time.Minute, n)
	k.right(names, 0)
}
