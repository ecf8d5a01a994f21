package controlplane

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"

	ggcr "github.com/google/go-containerregistry/pkg/registry"
)

// A registry on loopback that keeps its images in memory. Crossplane, its CLI
// and go-containerregistry speak plain HTTP to loopback.
type registry struct {
	// host is its host and port.
	host string
}

func (cp *ControlPlane) startRegistry(ctx context.Context) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("cannot start registry: %w", err)
	}
	s := &http.Server{Handler: ggcr.New(ggcr.Logger(log.New(io.Discard, "", 0)))} //nolint:gosec // Loopback.
	go s.Serve(l)                                                                 //nolint:errcheck // Ends when it is closed.
	context.AfterFunc(ctx, func() { _ = s.Close() })
	cp.registry = &registry{host: l.Addr().String()}
	return nil
}
