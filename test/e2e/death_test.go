package e2e

import (
	"context"
	"fmt"
	"time"
)

// Deaths checks that no resource is lost or duplicated if the function, Crossplane or
// the API server is killed while it works.
func Deaths(k *kit) {
	const n = 60
	names := k.createMany(n, 0)
	kill := []func(context.Context) error{k.KillFunction, k.KillCrossplane}
	if k.loopback != nil {
		// The API server of an existing cluster must not be killed.
		kill = append(kill, k.loopback.KillAPIServer)
	}
	for i, kill := range kill {
		enough := n / 6 * (i + 1)
		k.eventually("some Deployments exist", func() error {
			if d := k.deployments(); d < enough {
				return fmt.Errorf("there are %d Deployments", d)
			}

			return nil
		})
		if d := k.deployments(); d == n {
			k.Fatal("all Deployments exist already: nothing is left to interrupt")
		}
		k.must(kill(k.Context()))
	}
	k.settleAll(4*time.Minute, n)
	k.right(names, 0)
}
