package controlplane

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Explain adds to an error the usual causes of pods that do not run on a real node: the
// last warnings in the cluster, and the ends of the logs of kubelet and containerd.
func (cp *ControlPlane) Explain(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || !cp.options.RealNode() {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()

	var text strings.Builder
	l := &corev1.EventList{}
	if err := cp.Client.List(ctx, l, client.MatchingFields{"type": corev1.EventTypeWarning}); err != nil {
		fmt.Fprintf(&text, "\ncannot list events: %s", err)
	}
	slices.SortStableFunc(l.Items, func(a, b corev1.Event) int { return a.LastTimestamp.Compare(b.LastTimestamp.Time) })
	for _, e := range l.Items[max(0, len(l.Items)-10):] {
		o := e.InvolvedObject
		fmt.Fprintf(&text, "\n%s %s/%s: %s: %s", o.Kind, o.Namespace, o.Name, e.Reason, e.Message)
	}
	for _, p := range cp.started {
		if p.name == "kubelet" || p.name == "containerd" {
			fmt.Fprintf(&text, "\n%s: %s", p.name, p.tail())
		}
	}

	return fmt.Errorf("%w%s", err, &text)
}
