package judge

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/compose"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// settledDeployment is a Deployment whose pods all run the desired revision.
const settledDeployment = `{
	metadata: {generation: 3},
	spec: {replicas: 2, template: {metadata: {annotations: {markdownview.fn.crossplane.io/revision: ` + viewtest.Revision + `}}}},
	status: {observedGeneration: 3, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2}}`

func TestDeploymentReady(t *testing.T) {
	const deleted = `{metadata: {deletionTimestamp: "2026-01-02T03:04:05Z"}}`
	two, three := ptr.To[int32](2), ptr.To[int32](3)
	cases := map[string]struct {
		reason   string
		replicas *int32
		observed string
		want     bool
	}{
		"Settled":          {"All requested pods run the desired revision", two, `{}`, true},
		"NotCaughtUp":      {"The status is that of an earlier spec", two, `{metadata: {generation: 4}}`, false},
		"OtherRevision":    {"The pods do not run the desired revision", two, `{spec: {` + otherRevision + `}}`, false},
		"OtherReplicas":    {"The spec requests another number of pods", three, `{}`, false},
		"ReplicasOfOthers": {"An autoscaler owns the number when the XR has none", nil, `{}`, true},
		"NotUpdated":       {"One pod runs the previous revision", two, `{status: {updatedReplicas: 1}}`, false},
		"OldLeft":          {"A pod of the previous revision exists", two, `{status: {replicas: 3}}`, false},
		"Deleted":          {"The resource is being deleted", two, deleted, false},
		"NotAvailable":     {"One pod is not available", two, `{status: {availableReplicas: 1}}`, false},
		"Unavailable":      {"One pod counts as unavailable", two, `{status: {unavailableReplicas: 1}}`, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, _ := compose.Compose(viewtest.View(), request.Observed{})
			d.Deployment.Spec.Replicas = tc.replicas
			o := viewtest.Decode[request.ObservedDeployment](t, settledDeployment, tc.observed)
			if got := deploymentReady(o, d); got != tc.want {
				t.Errorf("\n%s\ndeploymentReady(): want %t, got %t", tc.reason, tc.want, got)
			}
			if deploymentReady(nil, d) {
				t.Error("A Deployment that does not exist is ready")
			}
		})
	}
}

func TestImageChangedByHand(t *testing.T) {
	const own = "docker.io/peaceiris/mdbook:v0.5.0"
	cases := map[string]struct {
		reason, image, managers string
		want                    bool
	}{
		"Same":    {"The pods run the desired image", own, viewtest.CrossplaneManager, true},
		"ByHand":  {"Somebody changed the image", "evil", viewtest.HandManager, false},
		"Webhook": {"A webhook changes images while Crossplane applies them", "mirror.example/mdbook", viewtest.CrossplaneManager, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, _ := compose.Compose(viewtest.View(), request.Observed{})
			o := viewtest.ObserveDeployment(t, `{metadata: {managedFields: [`+tc.managers+`]}, spec: {template: {spec: {
				containers: [{name: sidecar, image: s}, {name: mdbook, image: `+tc.image+`}]}}}}`)
			if got := runsImagesOf(o.Deployment, d); got != tc.want {
				t.Errorf("\n%s\nrunsImagesOf(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestConfigMapReady(t *testing.T) {
	const (
		desired = `{data: {SUMMARY.md: "- [A](a.md)", a.md: ""}}`
		changed = `{data: {SUMMARY.md: "- [B](a.md)", a.md: ""}}`
		added   = `{data: {ca-bundle.crt: ""}}`
		others  = `{data: {SUMMARY.md: "- [A](a.md)", a.md: "", ca-bundle.crt: ""}, binaryData: {x.png: aGk=}}`
		binary  = `{binaryData: {SUMMARY.md: LSBbQV0oYS5tZCk=, a.md: ""}}`
		deleted = `{metadata: {deletionTimestamp: "2026-01-02T03:04:05Z"}, data: {SUMMARY.md: "- [A](a.md)", a.md: ""}}`
	)
	cases := map[string]struct {
		reason, observed, revision string
		want                       bool
	}{
		"Absent":  {"A ConfigMap that does not exist is not ready", "", "", false},
		"Same":    {"It has the desired content", desired, "", true},
		"Changed": {"It has another text", changed, "", false},
		"Deleted": {"The resource is being deleted", deleted, "", false},
		"Rolling": {"Until the Deployment has the desired revision, only the Deployment is not ready", changed, "old", true},
		"Other":   {"It has another text, although the Deployment has the desired revision", changed, viewtest.Revision, false},
		"Others":  {"A key that somebody else added does not matter", others, viewtest.Revision, true},
		"Lacking": {"A key that somebody else added does not replace one of ours", added, viewtest.Revision, false},
		"Binary":  {"It has the text in binaryData instead of data", binary, "", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, _ := compose.Compose(viewtest.View(), request.Observed{})
			var deployment *request.ObservedDeployment
			if tc.revision != "" {
				deployment = viewtest.Decode[request.ObservedDeployment](t, strings.ReplaceAll(settledDeployment, viewtest.Revision, tc.revision))
			}
			o := viewtest.Decode[view.ConfigMap](t, tc.observed)
			if got := configMapReady(o, d, deployment); got != tc.want {
				t.Errorf("\n%s\nconfigMapReady(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestServiceReady(t *testing.T) {
	const address, external = `{spec: {clusterIP: 10.0.0.1}}`, `{spec: {clusterIP: a}, status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}}`
	deleted := `{metadata: {deletionTimestamp: "2026-01-02T03:04:05Z"}, spec: {clusterIP: 10.0.0.1}}`
	cases := map[string]struct {
		reason, kind, observed string
		want                   bool
	}{
		"Absent":       {"A Service that does not exist is not ready", "ClusterIP", "", false},
		"ClusterIP":    {"The Service has its address", "ClusterIP", address, true},
		"Headless":     {"The value None counts as an address", "ClusterIP", `{spec: {clusterIP: None}}`, true},
		"Deleted":      {"The resource is being deleted", "ClusterIP", deleted, false},
		"NoAddress":    {"The Service has no address yet", "ClusterIP", `{spec: {}}`, false},
		"NodePort":     {"A Service of type NodePort needs only its cluster IP", "NodePort", address, true},
		"Pending":      {"The load balancer has no external address yet", "LoadBalancer", address, false},
		"LoadBalancer": {"The load balancer has an external address", "LoadBalancer", external, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Input.Service.Type = corev1.ServiceType(tc.kind)
			d, _ := compose.Compose(v, request.Observed{})
			if got := serviceReady(viewtest.Decode[request.ObservedService](t, tc.observed), d); got != tc.want {
				t.Errorf("\n%s\nserviceReady(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestRouteReady checks a route of two Gateways, of which the first accepts it.
func TestRouteReady(t *testing.T) {
	const (
		accepted = `{type: Accepted, status: "True", observedGeneration: 2}`
		second   = `{name: b, namespace: infra, sectionName: https}`
		rejected = `{observedGeneration: 2, status: "False", type: `
	)
	cases := map[string]struct {
		reason, parent, conditions string
		want                       bool
		why                        string
	}{
		"Accepted":   {"Both Gateways accept the route", second, accepted, true, ""},
		"Unreported": {"No controller has reported", second, ``, false, ""},
		"Other":      {"The report is about another listener", `{name: b, namespace: infra}`, accepted, false, ""},
		"Old":        {"The report is about an earlier generation", second, `{type: Accepted, status: "True", observedGeneration: 1}`, false, ""},
		"Rejected":   {"A Gateway rejects the route", second, rejected + `Accepted, reason: NoMatchingHost}`, false, "NoMatchingHost"},
		"Silent":     {"A Gateway gives no reason", second, rejected + `Accepted}`, false, "Accepted is False"},
		"Unresolved": {"It cannot resolve the Service", second, accepted + `, ` + rejected + `ResolvedRefs, message: no Service}`, false, "no Service"},
		"Conflict": {
			"A Gateway drops the rule, because another route has the same host", second,
			accepted + `, {type: PartiallyInvalid, status: "True", reason: RuleConflict, observedGeneration: 2}`, false, "RuleConflict",
		},
		"Valid":    {"A Gateway drops no rule", second, rejected + `PartiallyInvalid}, ` + accepted, true, ""},
		"Pending":  {"A Gateway has not decided", second, `{type: Accepted, status: Unknown, observedGeneration: 2}`, false, ""},
		"Resolved": {"It has only resolved the Service", second, `{type: ResolvedRefs, status: "True", observedGeneration: 2}`, false, ""},
	}
	v := viewtest.View()
	v.Input = *viewtest.Decode[v1beta1.Input](t, `{route: {host: a.b, parentRefs: [{name: a}, `+second+`]}}`)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := viewtest.Decode[request.ObservedRoute](t, `{metadata: {generation: 2}, status: {parents: [
				{parentRef: {name: a, namespace: default}, conditions: [`+accepted+`]},
				{parentRef: `+tc.parent+`, conditions: [`+tc.conditions+`]}]}}`)
			if got, why := routeReady(o, v), routeRejected(o, nil); got != tc.want || why != tc.why {
				t.Errorf("\n%s\nwant ready: %t, rejected: %q, got %t and %q", tc.reason, tc.want, tc.why, got, why)
			}
			if o.Metadata.DeletionTimestamp = "2026-01-02T03:04:05Z"; routeReady(o, v) {
				t.Error("A route that is being deleted is ready")
			}
		})
	}
	if routeReady(nil, v) || routeRejected(nil, nil) != "" {
		t.Error("A route that does not exist is ready or rejected")
	}
}

// TestReady checks the resources whose readiness does not depend on the spec.
func TestReady(t *testing.T) {
	const address = `status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}}`
	ingress := func(t *testing.T, text string) bool {
		return ingressReady(viewtest.Decode[request.ObservedIngress](t, text))
	}
	budget := func(t *testing.T, text string) bool {
		return budgetReady(viewtest.Decode[request.ObservedBudget](t, text))
	}
	cases := map[string]struct {
		reason   string
		ready    func(t *testing.T, text string) bool
		observed string
		want     bool
	}{
		"NoIngress":      {"There is no Ingress yet", ingress, "", false},
		"NoAddress":      {"No controller has given it an address", ingress, `{status: {loadBalancer: {}}}`, false},
		"Address":        {"It has an address", ingress, `{` + address, true},
		"DeletedIngress": {"It is being deleted", ingress, `{metadata: {deletionTimestamp: now}, ` + address, false},
		"NoBudget":       {"There is no budget yet", budget, "", false},
		"Created":        {"Nobody has observed a budget without a generation", budget, `{metadata: {name: a}}`, false},
		"Observed":       {"The controller has observed it", budget, `{metadata: {generation: 2}, status: {observedGeneration: 2}}`, true},
		"Changed":        {"It has not observed the change", budget, `{metadata: {generation: 2}, status: {observedGeneration: 1}}`, false},
		"DeletedBudget":  {"It is being deleted", budget, `{metadata: {deletionTimestamp: now}, status: {observedGeneration: 1}}`, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.ready(t, tc.observed); got != tc.want {
				t.Errorf("\n%s\nwant %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
