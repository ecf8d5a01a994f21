package controlplane

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"

	"github.com/google/go-containerregistry/pkg/registry"
)

// startRegistry runs a registry that stores images in memory, until the context is
// done, and returns its host and port. Crossplane, its CLI and go-containerregistry use
// plain HTTP for private addresses such as loopback.
func startRegistry(ctx context.Context, ip string) (string, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(ip, "0"))
	if err != nil {
		return "", fmt.Errorf("cannot start registry: %w", err)
	}
	s := &http.Server{Handler: registry.New(registry.Logger(log.New(io.Discard, "", 0)))}
	go s.Serve(l) //nolint:errcheck // It returns when it is closed.
	context.AfterFunc(ctx, func() { _ = s.Close() })

	return l.Addr().String(), nil
}
