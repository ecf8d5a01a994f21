package e2e

import (
	"fmt"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// Reachable checks that HTTPRoutes and Ingresses publish books, that Crossplane may
// compose them only with the role in example/production/rbac.yaml, and that readiness,
// conditions and URL follow the status that a controller reports. The test writes that
// status, because no controller runs.
func Reachable(k *kit) {
	k.installCRDs(".", "sigs.k8s.io/gateway-api", "config/crd/standard/*_httproutes.yaml")
	k.eventually("Crossplane has no more permissions than by default", func(k *kit) {
		k.may(crossplaneUser(), map[string]bool{
			"patch gateway.networking.k8s.io/httproutes": false,
			"patch networking.k8s.io/ingresses":          false,
		})
	})

	const name = "handbook"
	k.apply(book(name, replicas(2), composedBy(k.example("production"))))
	k.forbidden(name)
	k.apply(k.manifests("production/rbac.yaml")...)
	k.accepted(name)
	k.hosts()
	k.ingress()
}

// forbidden waits until events report which resources Crossplane may not apply, and which
// role it needs. It does not wait for the condition Synced, because the next reconcile
// waits two minutes for an informer that has no permission to list.
func (k *kit) forbidden(name string) {
	for reason, says := range map[string]string{"ComposeResources": "is forbidden", "RoleBasedAccessControl": "is not allowed to"} {
		k.eventually("event "+reason, func(k *kit) {
			k.contains(fmt.Sprint(k.events(client.MatchingFields{"involvedObject.name": name, "reason": reason})), says)
		})
	}
}

// accepted checks the status of a MarkdownView before a Gateway has accepted its
// HTTPRoute, while the Gateway cannot find the Service, and after the Gateway has accepted
// the HTTPRoute.
func (k *kit) accepted(name string) {
	host := name + "." + k.namespace + ".books.example.com"
	// That can take longer than usual, because Crossplane may have backed off.
	k.untilOf(kind, name, 4*k.patience,
		"Available 2/2", "Synced=True", "Available=True Available", "Degraded=False", "Ready=False", "https://"+host)
	get(k, &policyv1.PodDisruptionBudget{}, "viewer-"+name)
	const why = "No endpoints of Service"
	// A Gateway that does not find a new Service is not an error.
	later := metav1.NewTime(time.Now().Add(time.Minute))
	k.report(name, metav1.Condition{Type: "ResolvedRefs", Status: "False", Reason: "BackendNotFound", Message: why, LastTransitionTime: later})
	k.until(name, "Available 2/2", "Available=True Available", "Ready=False",
		"Degraded=True RouteNotAccepted", "Degraded: "+why)
	k.warned(name, why)
	k.report(name)
	k.settle(name)
	r := k.route(name)
	// It must not change after Gateway API has set defaults.
	k.equal("generation of the HTTPRoute", int64(1), r.Generation)
	k.equal("hostnames", []gatewayv1.Hostname{gatewayv1.Hostname(host)}, r.Spec.Hostnames)
}

// hosts checks that a MarkdownView can select one of the hosts that the Input allows, and
// is ready only when a Gateway has accepted the new host. It also checks that fields of
// other clients in the HTTPRoute are kept, and that the HTTPRoute is deleted when the
// Input has no route.
func (k *kit) hosts() {
	const name = "guide"
	composition := k.given("route", `
route: {parentRefs: [{name: public, namespace: gateways, sectionName: https}], host: "{name}.example.com"}
allowedHosts: ["*.{namespace}.example.com"]`)
	k.apply(book(name, composition))
	k.eventually("HTTPRoute", func(k *kit) { k.report(name) })
	k.settle(name)
	k.kubectl("annotate", "httproute", "viewer-"+name, "cert-manager.io/issuer=letsencrypt")

	k.apply(book(name, composition, with("host: a.elsewhere.example.com")))
	k.until(name, "Degraded=True InvalidSpec", "Degraded: spec.host", "https://guide.example.com")
	chosen := "a." + k.namespace + ".example.com"
	k.apply(book(name, composition, with("host: "+chosen)))
	k.until(name, "Ready=False", "Degraded=False", "https://"+chosen)
	k.report(name)
	k.settle(name)
	r := k.route(name)
	k.equal("hostnames", []gatewayv1.Hostname{gatewayv1.Hostname(chosen)}, r.Spec.Hostnames)
	k.equal("annotation of another client", "letsencrypt", r.Annotations["cert-manager.io/issuer"])
	k.equal("parents in the status", 1, len(r.Status.Parents))

	k.given("route", "")
	k.apply(book(name, composition))
	k.eventually("no HTTPRoute", func(k *kit) { k.gone(&gatewayv1.HTTPRoute{}, "viewer-"+name) })
	k.until(name, append(settled, "http://viewer-"+name+"."+k.namespace+".svc")...)
}

// ingress checks an Ingress, whose controller reports an address.
func (k *kit) ingress() {
	const name = "manual"
	k.apply(book(name, k.given("ingress", `
ingress: {className: internal, host: "{name}.example.com", annotations: {example.org/timeout: 10s}}`)))
	k.until(name, "Available 1/1", "Available=True Available", "Ready=False", "http://manual.example.com")
	k.addressed(name)
	k.settle(name)
	i := get(k, &networkingv1.Ingress{}, "viewer-"+name)
	k.equal("addresses", 1, len(i.Status.LoadBalancer.Ingress))
	k.equal("annotation", "10s", i.Annotations["example.org/timeout"])
}

// route reads the HTTPRoute of a MarkdownView.
func (k *kit) route(name string) *gatewayv1.HTTPRoute {
	k.Helper()

	return get(k, &gatewayv1.HTTPRoute{}, "viewer-"+name)
}

// report writes the status of the HTTPRoute of a MarkdownView as the controller of its
// Gateway would: accepted in its current generation, except for the conditions given.
func (k *kit) report(name string, conditions ...metav1.Condition) {
	k.Helper()
	r := k.route(name)
	parent := gatewayv1.RouteParentStatus{ParentRef: r.Spec.ParentRefs[0], ControllerName: "example.org/controller"}
	for _, c := range append([]metav1.Condition{
		{Type: "Accepted", Status: metav1.ConditionTrue, Reason: "Accepted"},
		{Type: "ResolvedRefs", Status: metav1.ConditionTrue, Reason: "ResolvedRefs"},
	}, conditions...) {
		c.ObservedGeneration = r.Generation
		meta.SetStatusCondition(&parent.Conditions, c)
	}
	r.Status.Parents = []gatewayv1.RouteParentStatus{parent}
	k.must(k.Status().Update(k.Context(), r))
}
