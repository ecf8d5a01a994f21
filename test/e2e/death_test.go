package e2e

import (
	"context"
	"fmt"
	"time"
)

// Deaths checks that no resource is lost or duplicated if the function, Crossplane or
// the API server is killed while it works.
func Deaths(k *kit) {
	kill := []func(context.Context) error{k.KillFunction, k.KillCrossplane}
	if k.loopback != nil {
		// The API server of an existing cluster must not be killed.
		kill = append(kill, k.loopback.KillAPIServer)
	}
	const each = 16
	var names []string
	for i, kill := range kill {
		// MarkdownViews are created before, during and after the kill, so some are
		// incomplete when the process dies, on a fast machine too.
		killed := make(chan error, 1)
		for j := range each {
			if j == each/2 {
				go func() { killed <- kill(k.Context()) }()
			}
			k.pause(100 * time.Millisecond)
			name := fmt.Sprintf("kill-%d-%02d", i, j)
			k.eventually("create "+name, func(k *kit) { k.apply(oneOfMany(name, 0)) })
			names = append(names, name)
		}
		k.must(<-killed)
		k.eventually("the next MarkdownViews are composed", func(k *kit) { k.viewer(names[len(names)-1]) })
	}
	k.settleAll(4*time.Minute, len(names))
	k.eventually("no resource is lost or duplicated", func(k *kit) { k.right(names, 0) })
}
