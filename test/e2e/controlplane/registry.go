package controlplane

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/registry"
)

// The credentials for pulls from the repositories private/… of the registry.
const (
	PullUser     = "reader"
	PullPassword = "of-books"
)

// startRegistry runs a registry that stores images in memory, until the context is
// done, and returns its host and port. Crossplane, its CLI and go-containerregistry use
// plain HTTP for private addresses such as loopback.
func startRegistry(ctx context.Context, ip string) (string, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(ip, "0"))
	if err != nil {
		return "", fmt.Errorf("cannot start registry: %w", err)
	}
	s := &http.Server{Handler: authorize(registry.New(registry.Logger(log.New(io.Discard, "", 0))))}
	go s.Serve(l) //nolint:errcheck // It returns when it is closed.
	context.AfterFunc(ctx, func() { _ = s.Close() })

	return l.Addr().String(), nil
}

// authorize lets only PullUser pull from private/…. Everyone may push, and check which
// images exist.
func authorize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/v2/private/") && (user != PullUser || password != PullPassword) {
			w.Header().Set("WWW-Authenticate", `Basic realm="private"`)
			http.Error(w, "authentication required", http.StatusUnauthorized)

			return
		}
		next.ServeHTTP(w, r)
	})
}
