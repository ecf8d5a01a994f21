package e2e

import (
	"errors"
	"fmt"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// Reachable checks that HTTPRoutes and Ingresses publish books, that Crossplane may
// compose them only with the role in example/production/rbac.yaml, and that readiness,
// conditions and URL follow the status that a controller reports. The test writes that
// status, because no controller runs.
func Reachable(k *kit) {
	k.installCRDs(".", "sigs.k8s.io/gateway-api", "config/crd/standard/*_httproutes.yaml")
	k.eventually("Crossplane has no more permissions than by default", func() error {
		return k.may(crossplaneUser(), map[string]bool{"patch gateway.networking.k8s.io/httproutes": false, "patch networking.k8s.io/ingresses": false})
	})

	const name = "handbook"
	composition := k.parse(k.read("../../example/production/composition.yaml"))[0]
	composition.SetName(k.namespace + "-production")
	k.apply(composition)
	k.afterwards(composition)
	k.apply(book(name, replicas(2), composedBy(composition.GetName())))
	k.forbidden(name)

	role := k.parse(k.read("../../example/production/rbac.yaml"))[0]
	k.apply(role)
	k.afterwards(role)
	k.accepted(name)
	k.hosts()
	k.ingress()
}

// forbidden waits until events report which resources Crossplane may not apply, and which
// role it needs. It does not wait for the condition Synced, because the next reconcile
// waits two minutes for an informer that has no permission to list.
func (k *kit) forbidden(name string) {
	k.Helper()
	for reason, says := range map[string]string{"ComposeResources": "is forbidden", "RoleBasedAccessControl": "is not allowed to"} {
		k.eventually("event "+reason, func() error {
			for _, e := range k.eventsOf(reason) {
				if e.InvolvedObject.Name == name && strings.Contains(e.Message, says) {
					return nil
				}
			}

			return fmt.Errorf("no event reports that Crossplane %s", says)
		})
	}
}

// published waits until all resources of the MarkdownView are composed and no Gateway
// has accepted its HTTPRoute. That can take longer than usual, because Crossplane may
// have backed off.
func (k *kit) published(name, url string) {
	k.Helper()
	k.within(4*k.patience, name+": no Gateway has accepted it", func() error {
		v, err := k.view(name)
		if err != nil {
			return err
		}

		return errors.Join(
			v.counts(available, 2, 2),
			v.is("Synced", metav1.ConditionTrue, ""),
			v.is("Available", metav1.ConditionTrue, "Available"),
			v.is("Degraded", metav1.ConditionFalse, ""),
			v.is("Ready", metav1.ConditionFalse, ""),
			equal("URL", url, v.Status.URL))
	})
	k.must(k.get(&policyv1.PodDisruptionBudget{}, "viewer-"+name))
}

// accepted checks the status of a MarkdownView before a Gateway has accepted its
// HTTPRoute, while the Gateway rejects the HTTPRoute or cannot find the Service, and
// after the Gateway has accepted the HTTPRoute.
func (k *kit) accepted(name string) {
	k.Helper()
	url := "https://" + name + "." + k.namespace + ".books.example.com"
	k.published(name, url)
	for _, rejected := range []metav1.Condition{
		{Type: "Accepted", Status: "False", Reason: "NotAllowedByListeners", Message: "Listener https of Gateway gateways/public allows no routes of this namespace."},
		{Type: "ResolvedRefs", Status: "False", Reason: "BackendNotFound", Message: "No endpoints of Service viewer-" + name},
	} {
		k.report(name, rejected)
		k.until(name, "the Gateway does not serve it", func(v *markdownView) error {
			return errors.Join(
				v.counts(available, 2, 2),
				v.is("Available", metav1.ConditionTrue, "Available"),
				v.is("Ready", metav1.ConditionFalse, ""),
				v.is("Degraded", metav1.ConditionTrue, "RouteNotAccepted"),
				contains(v.condition("Degraded").Message, strings.TrimSuffix(rejected.Message, ".")))
		})
	}
	k.eventually("a warning event", func() error { return k.warned(name, "allows no routes of this namespace") })
	k.report(name)
	k.settle(name)
	r := k.route(name)
	k.check(equal("generation of the HTTPRoute, which must not change after Gateway API has set defaults", int64(1), r.Generation))
	k.check(equal("hostnames", []gatewayv1.Hostname{gatewayv1.Hostname(strings.TrimPrefix(url, "https://"))}, r.Spec.Hostnames))
}

// hosts checks that a MarkdownView can select one of the hosts that the Input allows, and
// is ready only when a Gateway has accepted the new host. It also checks that fields of
// other clients in the HTTPRoute are kept, and that the HTTPRoute is deleted when the
// Input has no route.
func (k *kit) hosts() {
	k.Helper()
	const name = "guide"
	route := map[string]any{"parentRefs": []any{map[string]any{"name": "public", "namespace": "gateways", "sectionName": "https"}}, "host": "{name}.example.com"}
	composition := k.composition("route", kind, ours(map[string]any{"route": route, "allowedHosts": []any{"*.{namespace}.example.com"}}))
	host := func(h string) func(map[string]any) { return func(s map[string]any) { s["host"] = h } }
	k.apply(book(name, composedBy(composition)))
	k.eventually("HTTPRoute", func() error { return k.get(&gatewayv1.HTTPRoute{}, "viewer-"+name) })
	k.report(name)
	k.settle(name)
	k.kubectl("annotate", "httproute", "viewer-"+name, "cert-manager.io/issuer=letsencrypt")

	k.apply(book(name, composedBy(composition), host("a.elsewhere.example.com")))
	k.until(name, "the host is not allowed", func(v *markdownView) error {
		return errors.Join(
			v.is("Degraded", metav1.ConditionTrue, "InvalidSpec"),
			contains(v.condition("Degraded").Message, "spec.host"),
			equal("URL", "https://guide.example.com", v.Status.URL))
	})
	chosen := "a." + k.namespace + ".example.com"
	k.apply(book(name, composedBy(composition), host(chosen)))
	k.until(name, "the Gateway has not accepted the new host", func(v *markdownView) error {
		return errors.Join(v.is("Ready", metav1.ConditionFalse, ""), v.is("Degraded", metav1.ConditionFalse, ""), equal("URL", "https://"+chosen, v.Status.URL))
	})
	k.report(name)
	k.settle(name)
	r := k.route(name)
	k.check(equal("hostnames", []gatewayv1.Hostname{gatewayv1.Hostname(chosen)}, r.Spec.Hostnames))
	k.check(equal("annotation of another client", "letsencrypt", r.Annotations["cert-manager.io/issuer"]))
	k.check(equal("parents in the status", 1, len(r.Status.Parents)))

	k.composition("route", kind, ours(nil))
	k.apply(book(name, composedBy(composition)))
	k.eventually("no HTTPRoute", func() error { return k.gone(&gatewayv1.HTTPRoute{}, "viewer-"+name) })
	k.settle(name)
	v, err := k.view(name)
	k.must(err)
	k.check(equal("URL", "http://viewer-"+name+"."+k.namespace+".svc", v.Status.URL))
}

// ingress checks an Ingress, whose controller reports an address.
func (k *kit) ingress() {
	k.Helper()
	const name = "manual"
	composition := k.composition("ingress", kind, ours(map[string]any{"ingress": map[string]any{
		"className": "internal", "host": "{name}.example.com", "annotations": map[string]any{"example.org/timeout": "10s"},
	}}))
	k.apply(book(name, composedBy(composition)))
	k.until(name, "the Ingress has no address", func(v *markdownView) error {
		return errors.Join(
			v.counts(available, 1, 1),
			v.is("Available", metav1.ConditionTrue, "Available"),
			v.is("Ready", metav1.ConditionFalse, ""),
			equal("URL", "http://manual.example.com", v.Status.URL))
	})

	i := &networkingv1.Ingress{}
	k.must(k.get(i, "viewer-"+name))
	i.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: "192.0.2.1"}}
	k.must(k.Status().Update(k.Context(), i))
	k.settle(name)
	k.must(k.get(i, "viewer-"+name))
	k.check(equal("addresses", 1, len(i.Status.LoadBalancer.Ingress)))
	k.check(equal("annotation", "10s", i.Annotations["example.org/timeout"]))
}

// route reads the HTTPRoute of a MarkdownView.
func (k *kit) route(name string) *gatewayv1.HTTPRoute {
	k.Helper()
	r := &gatewayv1.HTTPRoute{}
	k.must(k.get(r, "viewer-"+name))

	return r
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

func contains(text, part string) error {
	if !strings.Contains(text, part) {
		return fmt.Errorf("%q does not contain %q", text, part)
	}

	return nil
}
