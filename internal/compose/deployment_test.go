package compose

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

func TestReplicasHandover(t *testing.T) {
	const scaleManager = `{manager: kube-controller-manager, subresource: scale, fieldsV1: {"f:spec": {"f:replicas": {}}}}`
	cases := map[string]struct {
		reason   string
		spec     *int32
		managers string
		want     *int32
	}{
		"Requested": {reason: "The XR sets the number", spec: ptr.To[int32](2), managers: viewtest.CrossplaneManager, want: ptr.To[int32](2)},
		"Kept":      {reason: "The XR no longer sets the number, and omitting it would scale to 1", managers: viewtest.CrossplaneManager, want: ptr.To[int32](3)},
		"TakenOver": {reason: "An autoscaler has set the number", managers: viewtest.OtherManager + ", " + scaleManager},
		"Shared":    {reason: "An autoscaler owns the number too, so omitting it changes nothing", managers: viewtest.CrossplaneManager + ", " + scaleManager},
		"NeverSet":  {reason: "The XR never set the number", managers: viewtest.OtherManager},
		"Unknown":   {reason: "There are no managed fields"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Spec.Replicas = tc.spec
			o := viewtest.ObserveDeployment(t, "{metadata: {managedFields: ["+tc.managers+"]}, spec: {replicas: 3}}")

			if diff := cmp.Diff(tc.want, replicas(v, o)); diff != "" {
				t.Errorf("\n%s\nreplicas(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestListenAddress checks at which address mdBook and nginx listen. Neither starts with an IPv6
// address on a node without IPv6.
func TestListenAddress(t *testing.T) {
	const (
		mdbook = `{spec: {template: {spec: {containers: [{name: mdbook, args: [serve, --hostname, "::"]}]}}}}`
		nginx  = `{spec: {template: {metadata: {annotations: {markdownview.fn.crossplane.io/nginx.conf: "listen [::]:8080;"}}}}}`
		ipv4   = `{spec: {template: {metadata: {annotations: {markdownview.fn.crossplane.io/nginx.conf: "listen 8080;"}}}}}`
	)
	cases := map[string]struct {
		reason     string
		input      string
		families   []string
		deployment string
		want       string
	}{
		"First":     {reason: "Every kernel has IPv4", want: "0.0.0.0"},
		"IPv4":      {reason: "The Service has an IPv4 address", families: []string{"IPv4"}, want: "0.0.0.0"},
		"DualStack": {reason: "The Service has addresses of both families", families: []string{"IPv4", "IPv6"}, want: "::"},
		"Set":       {reason: "The Input sets the address", input: "0.0.0.0", families: []string{"IPv6"}, want: "0.0.0.0"},
		"NoService": {reason: "Deleting the Service must not roll out the Deployment", deployment: mdbook, want: "::"},
		"NginxBoth": {reason: "Deleting the Service must not roll out the Deployment of a web server", deployment: nginx, want: "::"},
		"NginxIPv4": {reason: "nginx did not listen on IPv6 before", deployment: ipv4, want: "0.0.0.0"},
		"OtherIPv4": {reason: "The Service has an IPv4 address, whatever the pods have", families: []string{"IPv4"}, deployment: mdbook, want: "0.0.0.0"},
	}
	for name, tc := range cases {
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
