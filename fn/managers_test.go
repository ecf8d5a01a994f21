package fn

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/internal/wire"
)

const (
	crossplaneManager = `{manager: apiextensions.crossplane.io/composed/0a1b, fieldsV1: {"f:spec": {"f:replicas": {}, "f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"mdbook\"}": {"f:image": {}}}}}}}}`
	handManager       = `{manager: kubectl-edit, fieldsV1: {"f:spec": {"f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"mdbook\"}": {"f:image": {}}}}}}}}`
	scaleManager      = `{manager: kube-controller-manager, subresource: scale, fieldsV1: {"f:spec": {"f:replicas": {}}}}`
	otherManager      = `{manager: apiextensions.crossplane.io/composed/0a1b, fieldsV1: {"f:spec": {"f:selector": {}}}}`
)

// observeDeployment returns the observed state of a Deployment.
func observeDeployment(t *testing.T, text string) observed {
	t.Helper()
	b, err := proto.Marshal(resourceOf(t, text))
	if err != nil {
		t.Fatal(err)
	}
	o, err := observe([]wire.Entry{{Key: keyDeployment, Value: b}})
	if err != nil {
		t.Fatal(err)
	}

	return o
}

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
			managers: crossplaneManager,
			want:     ptr.To[int32](2),
		},
		"Kept": {
			reason:   "The XR no longer sets the number, and omitting it would scale to 1",
			managers: crossplaneManager,
			want:     ptr.To[int32](3),
		},
		"TakenOver": {reason: "An autoscaler has set the number", managers: otherManager + ", " + scaleManager},
		"Shared":    {reason: "An autoscaler owns the number too, so omitting it changes nothing", managers: crossplaneManager + ", " + scaleManager},
		"NeverSet":  {reason: "The XR never set the number", managers: otherManager},
		"Unknown":   {reason: "There are no managed fields"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := settledView()
			v.Spec.Replicas = tc.spec
			o := observeDeployment(t, "{metadata: {managedFields: ["+tc.managers+"]}, spec: {replicas: 3}}")

			got := replicas(v, o)
			if (got == nil) != (tc.want == nil) || got != nil && *got != *tc.want {
				t.Errorf("\n%s\nreplicas(...): want %v, got %v", tc.reason, ptr.Deref(tc.want, -1), ptr.Deref(got, -1))
			}
		})
	}
}

func TestImageChangedByHand(t *testing.T) {
	cases := map[string]struct {
		reason   string
		image    string
		managers string
		want     bool
	}{
		"Same":    {reason: "The pods run the desired image", image: "docker.io/peaceiris/mdbook:v0.5.0", managers: crossplaneManager, want: true},
		"ByHand":  {reason: "Somebody changed the image", image: "evil", managers: otherManager + ", " + handManager},
		"Webhook": {reason: "A webhook changes each image to one of a mirror while Crossplane applies it", image: "mirror.example/mdbook", managers: crossplaneManager, want: true},
		"Unknown": {reason: "Nobody owns the image", image: "evil"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := settledView()
			d, _ := compose(v, observed{})
			o := observeDeployment(t, "{metadata: {generation: 1, managedFields: ["+tc.managers+"]}, "+
				"spec: {replicas: 2, template: {metadata: {annotations: {markdownview.fn.crossplane.io/revision: "+settledRevision+"}}, spec: {containers: [{name: sidecar, image: s}, {name: mdbook, image: "+tc.image+"}]}}}, "+
				"status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 2}}")

			if got := o.deployment.ready(d); got != tc.want {
				t.Errorf("\n%s\nready(): want %t, got %t", tc.reason, tc.want, got)
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
		"Webhook": {reason: "A webhook changes the image while Crossplane applies it", managers: crossplaneManager, want: true},
		"ByHand":  {reason: "Somebody changed the image", managers: crossplaneManager + ", " + handManager},
		"Unknown": {reason: "Nobody owns the image", managers: otherManager},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := observeDeployment(t, "{metadata: {managedFields: ["+strings.ReplaceAll(tc.managers, "mdbook", "server")+"]}}")
			if got := o.deployment.managers.crossplaneOwns(fieldImage); got != tc.want {
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
			v, o := settledView(), observed{}
			v.input.ListenAddress = tc.input
			if tc.deployment != "" {
				o = observeDeployment(t, tc.deployment)
			}
			if tc.families != nil {
				o.service = &observedService{}
				o.service.Spec.IPFamilies = tc.families
			}
			d, _ := compose(v, o)

			if got := d.deployment.Spec.Template.Spec.Containers[0].Args[2]; got != tc.want {
				t.Errorf("\n%s\naddress: want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
