package controlplane

import (
	"context"
	"fmt"
	"io"
	"net"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The network of a real node. It is in a network namespace of its own, so these
// addresses are free.
const (
	bridgeName  = "cni0"
	nodeIP      = "10.88.0.1"
	podCIDR     = "10.88.0.0/16"
	serviceCIDR = "10.96.0.0/16"
)

// ServiceAddress returns the cluster IP and the first port of a Service. With a real
// node, it is reachable from inside of the namespaces of Isolate.
func (cp *ControlPlane) ServiceAddress(ctx context.Context, namespace, name string) (string, error) {
	s := &corev1.Service{}
	if err := cp.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, s); err != nil {
		return "", fmt.Errorf("cannot get Service %q: %w", name, err)
	}

	return net.JoinHostPort(s.Spec.ClusterIP, fmt.Sprint(s.Spec.Ports[0].Port)), nil
}

// Forward forwards each connection to the listener to an address, until the context is
// done. It calls address for each connection.
func Forward(ctx context.Context, l net.Listener, address func(context.Context) (string, error)) {
	context.AfterFunc(ctx, func() { _ = l.Close() })
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer in.Close() //nolint:errcheck // The other side notices.
			to, err := address(ctx)
			if err != nil {
				return
			}
			out, err := (&net.Dialer{}).DialContext(ctx, "tcp", to)
			if err != nil {
				return
			}
			defer out.Close() //nolint:errcheck // The other side notices.
			go func() {
				defer in.Close()  //nolint:errcheck // As above.
				defer out.Close() //nolint:errcheck // As above.
				_, _ = io.Copy(in, out)
			}()
			_, _ = io.Copy(out, in)
		}()
	}
}
