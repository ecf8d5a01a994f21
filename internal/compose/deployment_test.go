package compose

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

const (
	scaleManager = `{manager: kube-controller-manager, subresource: scale, fieldsV1: {"f:spec": {"f:replicas": {}}}}`
)

func TestReplicasHandover(t *testing.T) {
	cases := map[string]struct {
		reason   string
		spec     *int32
		managers string
		want     *int32
	}{
		"Requested": {
			reason:   "The XR sets the number",
			spec:     ptr.To[int32](2),
			managers: viewtest.CrossplaneManager,
			want:     ptr.To[int32](2),
		},
		"Kept": {
			reason:   "The XR no longer sets the number, and omitting it would scale to 1",
			managers: viewtest.CrossplaneManager,
			want:     ptr.To[int32](3),
		},
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

			got := replicas(v, o)
			if (got == nil) != (tc.want == nil) || got != nil && *got != *tc.want {
				t.Errorf("\n%s\nreplicas(...): want %v, got %v", tc.reason, ptr.Deref(tc.want, -1), ptr.Deref(got, -1))
			}
		})
	}
}

// TestServerImageChangedByHand checks the image of the web server.
func TestServerImageChangedByHand(t *testing.T) {
	cases := map[string]struct {
		reason, managers string
		want             bool
	}{
		"Webhook": {reason: "A webhook changes the image while Crossplane applies it", managers: viewtest.CrossplaneManager, want: true},
		"ByHand":  {reason: "Somebody changed the image", managers: viewtest.CrossplaneManager + ", " + viewtest.HandManager},
		"Unknown": {reason: "Nobody owns the image", managers: viewtest.OtherManager},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := viewtest.ObserveDeployment(t, "{metadata: {managedFields: ["+strings.ReplaceAll(tc.managers, "mdbook", "server")+"]}}")
			if got := o.Deployment.Managers.CrossplaneOwns(request.FieldImage); got != tc.want {
				t.Errorf("\n%s\ncrossplaneOwns(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestListenAddress(t *testing.T) {
	const both = `{spec: {template: {spec: {containers: [{name: mdbook, args: [serve, --hostname, "::"]}]}}}}`

	cases := map[string]struct {
		reason     string
		input      string
		families   []string
		deployment string
		want       string
	}{
		"First":     {reason: "Every kernel has IPv4", want: "0.0.0.0"},
		"IPv4":      {reason: "The Service has an IPv4 address", families: []string{"IPv4"}, want: "0.0.0.0"},
		"IPv6":      {reason: "The Service has an IPv6 address", families: []string{"IPv6"}, want: "::"},
		"DualStack": {reason: "The Service has addresses of both families", families: []string{"IPv4", "IPv6"}, want: "::"},
		"Set":       {reason: "The Input sets the address", input: "0.0.0.0", families: []string{"IPv6"}, want: "0.0.0.0"},
		"NoService": {reason: "Deleting the Service must not roll out the Deployment", deployment: both, want: "::"},
		"OtherIPv4": {reason: "The Service has an IPv4 address, whatever the pods have", families: []string{"IPv4"}, deployment: both, want: "0.0.0.0"},
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
				t.Errorf("\n%s\naddress: want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
