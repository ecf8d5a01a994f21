package controlplane

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	pauseImage      = "registry.k8s.io/pause:3.10"
	crossplaneImage = "xpkg.crossplane.io/crossplane/crossplane"
	crossplaneTag   = "v2"
	mdBookImage     = "docker.io/peaceiris/mdbook"

	// nginxImage is the default image of the function for input.server. Here it
	// contains Debian's nginx, with the user, port, folders and stop signal of the real
	// image.
	nginxImage = "docker.io/nginxinc/nginx-unprivileged:1.28.0-alpine-slim"
)

// nginxConfig makes nginx write into the container's /tmp, as the real image does: the
// container's root file system is read-only.
const nginxConfig = `pid /tmp/nginx.pid;
error_log /dev/stderr notice;
events {}
http {
  include mime.types;
  default_type application/octet-stream;
  access_log off;
  client_body_temp_path /tmp/client_temp;
  proxy_temp_path /tmp/proxy_temp;
  fastcgi_temp_path /tmp/fastcgi_temp;
  uwsgi_temp_path /tmp/uwsgi_temp;
  scgi_temp_path /tmp/scgi_temp;
  server {
    listen 8080;
    root /usr/share/nginx/html;
  }
}
`

// startPods starts a real node, and installs Crossplane on it.
func (cp *ControlPlane) startPods(ctx context.Context) error {
	source, err := cp.crossplaneSource(ctx)
	if err != nil {
		return err
	}
	g, both := errgroup.WithContext(ctx)
	g.Go(func() error { return cp.pushImages(both, source) })
	g.Go(func() error { return cp.startNode(both) })
	if err := g.Wait(); err != nil {
		return err
	}

	return cp.installCrossplane(ctx, source)
}

// pushImages pushes the images that a node needs before a package is installed.
func (cp *ControlPlane) pushImages(ctx context.Context, crossplane string) error {
	debian := cp.options.Debian
	if err := writeFiles(cp.path("nginx"), map[string][]byte{"nginx.conf": []byte(nginxConfig)}); err != nil {
		return err
	}
	path := []string{"PATH=/usr/sbin:/usr/bin"}
	for _, i := range []struct {
		names  []string
		config v1.Config
		files  map[string]string
	}{
		{
			names:  []string{pauseImage},
			config: v1.Config{Entrypoint: []string{"/usr/bin/busybox", "sleep", "infinity"}, User: "65535:65535"},
			files:  map[string]string{"": filepath.Join(debian, "pause")},
		},
		{
			names:  []string{crossplaneImage + ":" + crossplaneTag},
			config: v1.Config{Entrypoint: []string{"/crossplane"}, User: "65532:65532"},
			files: map[string]string{
				"crossplane":            cp.options.Crossplane,
				"crds":                  filepath.Join(crossplane, "crds"),
				"webhookconfigurations": filepath.Join(crossplane, "webhookconfigurations"),
			},
		},
		{
			// The function's default, that of the example, and another one for changes.
			names:  []string{mdBookImage + ":v0.5.0", mdBookImage + ":latest", mdBookImage + ":v0.4.40"},
			config: v1.Config{Entrypoint: []string{"/usr/bin/mdbook"}, Env: path},
			files:  map[string]string{"": cp.options.MdBook},
		},
		{
			names: []string{nginxImage},
			config: v1.Config{
				Entrypoint: []string{"/usr/sbin/nginx", "-g", "daemon off;"}, Env: path, User: "101:101",
				ExposedPorts: map[string]struct{}{"8080/tcp": {}},
				// On SIGQUIT, nginx completes current requests.
				StopSignal: "SIGQUIT",
			},
			files: map[string]string{
				"":                     filepath.Join(debian, "nginx"),
				"etc/nginx/nginx.conf": cp.path("nginx/nginx.conf"),
			},
		},
	} {
		img, err := NewImage(i.config, i.files)
		if err != nil {
			return err
		}
		for _, name := range i.names {
			if err := cp.PushImage(ctx, name, img); err != nil {
				return err
			}
		}
	}

	return nil
}

// installCrossplane installs Crossplane's chart as Helm does, and waits until it is
// available.
func (cp *ControlPlane) installCrossplane(ctx context.Context, source string) error {
	if err := cp.applyChart(ctx, source, map[string]any{
		"image": map[string]any{"repository": crossplaneImage, "tag": crossplaneTag},
		"args":  []any{"--debug"},
		// After Crossplane is killed, its lease would be valid for up to a minute.
		"leaderElection": false,
		"rbacManager":    map[string]any{"leaderElection": false},
		// The chart's limits are too small for a load test.
		"resourcesCrossplane":  map[string]any{"limits": map[string]any{"cpu": "2"}},
		"resourcesRBACManager": map[string]any{"limits": map[string]any{"cpu": "1"}},
	}); err != nil {
		return err
	}

	return cp.Explain(ctx, Eventually(ctx, 3*time.Minute, func(ctx context.Context) error {
		for _, name := range []string{"crossplane", "crossplane-rbac-manager"} {
			d := &appsv1.Deployment{}
			if err := cp.Client.Get(ctx, client.ObjectKey{Namespace: crossplaneNamespace, Name: name}, d); err != nil {
				return fmt.Errorf("cannot get Deployment %q: %w", name, err)
			}
			if d.Status.AvailableReplicas == 0 {
				return fmt.Errorf("Deployment %q is not available: %v", name, d.Status.Conditions) //nolint:staticcheck // A kind.
			}
		}

		return nil
	}))
}
