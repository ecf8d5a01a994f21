package web

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
)

func TestConfigures(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		server v1beta1.Server
		want   bool
	}{
		"Default":  {reason: "The default image is nginx", want: true},
		"Explicit": {reason: "The Input names the default image", server: v1beta1.Server{Image: Image, Port: 80, DocumentRoot: "/usr/share/nginx/html"}, want: true},
		"Version":  {reason: "Another version has the same folders", server: v1beta1.Server{Image: "nginxinc/nginx-unprivileged:1.29@sha256:" + strings.Repeat("0", 64)}, want: true},
		"Mirror":   {reason: "A mirror keeps the repository", server: v1beta1.Server{Image: "registry.example.com:5000/hub/nginxinc/nginx-unprivileged"}, want: true},
		"GitHub":   {reason: "The project also publishes its image as nginx/nginx-unprivileged", server: v1beta1.Server{Image: "ghcr.io/nginx/nginx-unprivileged:1.29"}, want: true},
		"Own":      {reason: "An image of the platform can have a configuration of its own", server: v1beta1.Server{Image: "registry.example.com/web/nginx-unprivileged:1"}},
		"Suffix":   {reason: "Another repository", server: v1beta1.Server{Image: "registry.example.com/my-nginxinc/nginx-unprivileged:1"}},
		"Nginx":    {reason: "The image nginx is not for unprivileged users", server: v1beta1.Server{Image: "nginx:1.29"}},
		"Invalid":  {reason: "An invalid image is reported elsewhere", server: v1beta1.Server{Image: "No Image"}},
		"Command":  {reason: "A command names a configuration of its own", server: v1beta1.Server{Command: []string{"nginx"}}},
		"Args":     {reason: "Arguments name a configuration of their own", server: v1beta1.Server{Args: []string{"nginx"}}},
		"Root":     {reason: "nginx can serve another folder only with a configuration of its own", server: v1beta1.Server{DocumentRoot: "/srv"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Configures(tc.server); got != tc.want {
				t.Errorf("\n%s\nConfigures(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestNginx checks that a path is quoted in expressions, and that nothing of the source is left.
// The golden responses have the whole configuration.
func TestNginx(t *testing.T) {
	config := Nginx(80, "/a.b/c~PORT/", true)
	for _, want := range []string{"listen 80;", "listen [::]:80;", `"~^(200|206|304)/a\.b/c~PORT/(css/`, "location /a.b/c~PORT/ {}"} {
		if !strings.Contains(config, want) {
			t.Errorf("want %s in the configuration:\n%s", want, config)
		}
	}
	for _, no := range []string{"#", "PATH", "QUOTED"} {
		if strings.Contains(config, no) {
			t.Errorf("%s is in the configuration:\n%s", no, config)
		}
	}
}
