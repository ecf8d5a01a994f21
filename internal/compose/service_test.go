package compose

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// TestPortOf checks which port serves the book if a template has changed the ports.
func TestPortOf(t *testing.T) {
	for want, ports := range map[int32][]corev1.ServicePort{
		80:   nil,
		8080: {{Name: "metrics", Port: 9090}, {Name: "http", Port: 8080}},
		9090: {{Name: "metrics", Port: 9090}, {Name: "admin", Port: 9091}},
	} {
		if got := PortOf(ports); got != want {
			t.Errorf("PortOf(%v): want %d, got %d", ports, want, got)
		}
	}
}

// TestListenAddress checks at which address mdBook and nginx listen. Neither starts with an IPv6
// address on a node without IPv6.
func TestListenAddress(t *testing.T) {
	const (
		mdbook = `{spec: {template: {spec: {containers: [{name: mdbook, args: [serve, --hostname, "::"]}]}}}}`
		proxy  = `{spec: {template: {spec: {containers: [{name: proxy, args: ["::"]}, {name: mdbook, args: ["0.0.0.0"]}]}}}}`
		nginx  = `{spec: {template: {metadata: {annotations: {markdownview.fn.crossplane.io/nginx.conf: "listen [::]:8080;"}}}}}`
		ipv4   = `{spec: {template: {metadata: {annotations: {markdownview.fn.crossplane.io/nginx.conf: "listen 8080;"}}}}}`
	)
	for name, tc := range map[string]struct {
		reason, input    string
		families         []string
		deployment, want string
	}{
		"First":     {reason: "Every kernel has IPv4", want: "0.0.0.0"},
		"IPv4":      {reason: "The Service has an IPv4 address", families: []string{"IPv4"}, want: "0.0.0.0"},
		"DualStack": {reason: "The Service has addresses of both families", families: []string{"IPv4", "IPv6"}, want: "::"},
		"Set":       {reason: "The Input sets the address", input: "0.0.0.0", families: []string{"IPv6"}, want: "0.0.0.0"},
		"NoService": {reason: "Deleting the Service must not roll out the Deployment", deployment: mdbook, want: "::"},
		"Sidecar":   {reason: "Another container listens on IPv6", deployment: proxy, want: "0.0.0.0"},
		"NginxBoth": {reason: "Deleting the Service must not roll out the Deployment of a web server", deployment: nginx, want: "::"},
		"NginxIPv4": {reason: "nginx did not listen on IPv6 before", deployment: ipv4, want: "0.0.0.0"},
		"OtherIPv4": {reason: "The Service has an IPv4 address, whatever the pods have", families: []string{"IPv4"}, deployment: mdbook, want: "0.0.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			v, o := viewtest.View(), request.Observed{}
			v.Input.ListenAddress = tc.input
			if tc.deployment != "" {
				o = viewtest.ObserveDeployment(t, tc.deployment)
			}
			if tc.families != nil {
				o.Service = &request.ObservedService{}
				o.Service.Spec.IPFamilies = tc.families
			}
			d, _ := Compose(v, o)
			if got := d.Deployment.Spec.Template.Spec.Containers[0].Args[2]; got != tc.want {
				t.Errorf("\n%s\naddress of mdBook: want %q, got %q", tc.reason, tc.want, got)
			}
			v.Input.Server = &v1beta1.Server{}
			d, _ = Compose(v, o)
			config := d.Deployment.Spec.Template.Annotations[view.AnnotationNginx]
			if both := strings.Contains(config, "listen [::]:8080;"); both != (tc.want == "::") || !strings.Contains(config, "listen 8080;") {
				t.Errorf("\n%s\naddress of nginx: want %q, got:\n%s", tc.reason, tc.want, config)
			}
		})
	}
}
