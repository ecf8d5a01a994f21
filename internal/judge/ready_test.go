package judge

import (
	"cmp"
	"testing"

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

// TestReady checks when a composed resource is ready. TestRouteReady has the route.
func TestReady(t *testing.T) {
	const (
		deployment, service, ingress = view.KeyDeployment, view.KeyService, view.KeyIngress
		configMap, budget            = view.KeyConfigMap, view.KeyBudget
		deleting                     = `{metadata: {deletionTimestamp: "2026-01-02T03:04:05Z"}, `
		three                        = `{spec: {replicas: 3}, status: {replicas: 3, updatedReplicas: 3, availableReplicas: 3}}`

		desired = `data: {SUMMARY.md: "- [A](a.md)", a.md: ""}}`
		changed = `{data: {SUMMARY.md: "- [B](a.md)", a.md: ""}}`
		others  = `{data: {SUMMARY.md: "- [A](a.md)", a.md: "", ca-bundle.crt: ""}, binaryData: {x.png: aGk=}}`
		binary  = `{binaryData: {SUMMARY.md: LSBbQV0oYS5tZCk=, a.md: ""}}`

		clusterIP = `spec: {clusterIP: 10.0.0.1}}`
		balancer  = `{service: {type: LoadBalancer}}`
		second    = `{metadata: {generation: 2}, `
		external  = `{spec: {clusterIP: a}, status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}}`
		address   = `status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}}`
	)
	for name, tc := range map[string]struct {
		// A Deployment is observed as a change of settledDeployment. Other resources are observed
		// without a Deployment, unless revision is set.
		reason, key, observed, input, revision string
		want                                   bool
	}{
		"Settled":       {"All requested pods run the desired revision", deployment, `{}`, "", "", true},
		"NotCaughtUp":   {"The status is that of an earlier spec", deployment, `{metadata: {generation: 4}}`, "", "", false},
		"OtherRevision": {"The pods run another revision", deployment, `{spec: {` + otherRevision + `}}`, "", "", false},
		"OtherReplicas": {"The spec requests another number", deployment, three, "", "", false},
		"NotUpdated":    {"A pod runs the previous revision", deployment, `{status: {updatedReplicas: 1}}`, "", "", false},
		"OldLeft":       {"A previous pod exists", deployment, `{status: {replicas: 3}}`, "", "", false},
		"NotAvailable":  {"One pod is not available", deployment, `{status: {availableReplicas: 1}}`, "", "", false},
		"Unavailable":   {"One pod counts as unavailable", deployment, `{status: {unavailableReplicas: 1}}`, "", "", false},
		"Deleted":       {"The Deployment is being deleted", deployment, deleting + `spec: {}}`, "", "", false},
		"NoDeployment":  {"There is no Deployment", deployment, "", "", "", false},

		"NoConfigMap": {"There is no ConfigMap", configMap, "", "", "", false},
		"Same":        {"It has the desired content", configMap, `{` + desired, "", "", true},
		"Changed":     {"It has another text", configMap, changed, "", "", false},
		"Deleting":    {"The ConfigMap is being deleted", configMap, deleting + desired, "", "", false},
		"Rolling":     {"Before the desired revision, only the Deployment is not ready", configMap, changed, "", "old", true},
		"Other":       {"Another text, with the desired revision", configMap, changed, "", viewtest.Revision, false},
		"Others":      {"A key of somebody else does not matter", configMap, others, "", viewtest.Revision, true},
		"Lacking":     {"Such a key replaces none of ours", configMap, `{data: {a: ""}}`, "", viewtest.Revision, false},
		"Binary":      {"It has the text in binaryData instead of data", configMap, binary, "", "", false},

		"NoService":    {"There is no Service", service, "", "", "", false},
		"ClusterIP":    {"The Service has its address", service, `{` + clusterIP, "", "", true},
		"Headless":     {"The value None counts as an address", service, `{spec: {clusterIP: None}}`, "", "", true},
		"Going":        {"The Service is being deleted", service, deleting + clusterIP, "", "", false},
		"NoAddress":    {"The Service has no address yet", service, `{spec: {}}`, "", "", false},
		"NodePort":     {"It needs only its cluster IP", service, `{` + clusterIP, `{service: {type: NodePort}}`, "", true},
		"Pending":      {"The load balancer has no external address yet", service, `{` + clusterIP, balancer, "", false},
		"LoadBalancer": {"The load balancer has an external address", service, external, balancer, "", true},

		"NoIngress":      {"There is no Ingress yet", ingress, "", "", "", false},
		"NoIP":           {"No controller has given it an address", ingress, `{status: {loadBalancer: {}}}`, "", "", false},
		"IP":             {"It has an address", ingress, `{` + address, "", "", true},
		"DeletedIngress": {"It is being deleted", ingress, deleting + address, "", "", false},

		"NoBudget":      {"There is no budget yet", budget, "", "", "", false},
		"Created":       {"Nobody has observed it without a generation", budget, `{metadata: {name: a}}`, "", "", false},
		"Observed":      {"It is observed", budget, second + `status: {observedGeneration: 2}}`, "", "", true},
		"Unobserved":    {"Its change is not", budget, second + `status: {observedGeneration: 1}}`, "", "", false},
		"DeletedBudget": {"It is being deleted", budget, deleting + `status: {observedGeneration: 1}}`, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			v, o := viewtest.View(), request.Observed{}
			v.Input = *viewtest.Decode[v1beta1.Input](t, cmp.Or(tc.input, `{ingress: {host: a.b}, podDisruptionBudget: {}}`))
			d, _ := compose.Compose(v, o)
			switch tc.key {
			case deployment:
				if tc.observed != "" {
					o.Deployment = viewtest.Decode[request.ObservedDeployment](t, settledDeployment, tc.observed)
				}
			case configMap:
				o.ConfigMaps = map[string]*view.ConfigMap{tc.key: viewtest.Decode[view.ConfigMap](t, tc.observed)}
			case service:
				o.Service = viewtest.Decode[request.ObservedService](t, tc.observed)
			case ingress:
				o.Ingress = viewtest.Decode[request.ObservedIngress](t, tc.observed)
			case budget:
				o.Budget = viewtest.Decode[request.ObservedBudget](t, tc.observed)
			}
			if tc.revision != "" {
				o.Deployment = &request.ObservedDeployment{}
				o.Deployment.Spec.Template.Metadata.Annotations.Revision = tc.revision
			}
			if got, ok := readinessOf(v, o, d)[tc.key]; got != tc.want || !ok {
				t.Errorf("\n%s\n%s is ready: want %t, got %t", tc.reason, tc.key, tc.want, got)
			}
		})
	}
	d, _ := compose.Compose(viewtest.View(), request.Observed{})
	d.Deployment.Spec.Replicas = nil
	if o := viewtest.Decode[request.ObservedDeployment](t, settledDeployment); !deploymentReady(o, d) {
		t.Error("An autoscaler owns the number of replicas, so any number is ready")
	}
}

func TestImageChangedByHand(t *testing.T) {
	const own = "docker.io/peaceiris/mdbook:v0.5.0"
	for name, tc := range map[string]struct {
		reason, image, managers string
		want                    bool
	}{
		"Same":    {"The pods run the desired image", own, viewtest.CrossplaneManager, true},
		"ByHand":  {"Somebody changed the image", "evil", viewtest.HandManager, false},
		"Webhook": {"A webhook changes images while Crossplane applies them", "mirror.example/mdbook", viewtest.CrossplaneManager, true},
	} {
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
	v := viewtest.With(t, `{route: {host: a.b, parentRefs: [{name: a}, `+second+`]}}`)
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
