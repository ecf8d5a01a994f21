package compose

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/internal/files"
	"github.com/crossplane-contrib/function-markdownview/internal/gateway"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// prefix returns the path of a book without the slash at its end, which Gateway API and
// Kubernetes ignore: a reader who does not type it finds the book, too.
func prefix(v view.View) string { return cmp.Or(strings.TrimSuffix(v.Path(), "/"), "/") }

// published returns the objects that publish a book, which can be nil.
func published(r *gateway.HTTPRoute, i *networkingv1.Ingress) (list []ComposedResource) {
	if r != nil {
		list = append(list, ComposedResource{part{view.KeyRoute, r.APIVersion, r.Kind, r.Name}, r, true})
	}
	if i != nil {
		list = append(list, ComposedResource{part{view.KeyIngress, i.APIVersion, i.Kind, i.Name}, i, true})
	}

	return list
}

// route returns the HTTPRoute of a view, or nil if the Input has none. Its rule is empty:
// see gateway.HTTPRoute.Serve.
func route(v view.View) *gateway.HTTPRoute {
	in := v.Input.Route
	if in == nil {
		return nil
	}

	return &gateway.HTTPRoute{
		TypeMeta:   metav1.TypeMeta{APIVersion: "gateway.networking.k8s.io/v1", Kind: "HTTPRoute"},
		ObjectMeta: files.Metadata(v, v.ViewerName(), in.Annotations),
		Spec:       gateway.Spec{ParentRefs: in.ParentRefs, Hostnames: []string{v.Host()}, Rules: []gateway.Rule{{}}},
	}
}

// ingress returns the Ingress of a view for a Service with some ports, or nil if the Input has
// none.
func ingress(v view.View, ports []corev1.ServicePort) *networkingv1.Ingress {
	in := v.Input.Ingress
	if in == nil {
		return nil
	}
	i := &networkingv1.Ingress{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "Ingress"},
		ObjectMeta: files.Metadata(v, v.ViewerName(), in.Annotations),
		Spec: networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{
			Host: v.Host(),
			IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{
				Path:     prefix(v),
				PathType: ptr.To(networkingv1.PathTypePrefix),
				Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
					Name: v.ViewerName(),
					Port: networkingv1.ServiceBackendPort{Number: PortOf(ports)},
				}},
			}}}},
		}}},
	}
	if in.ClassName != "" {
		i.Spec.IngressClassName = &in.ClassName
	}
	if in.TLS != nil {
		i.Spec.TLS = []networkingv1.IngressTLS{{Hosts: []string{v.Host()}, SecretName: v.Expand(in.TLS.SecretName)}}
	}

	return i
}

// rule returns the rule of an HTTPRoute that sends the requests for a book to its Service.
func rule(v view.View, ports []corev1.ServicePort) gateway.Rule {
	r := gateway.Rule{BackendRefs: []gateway.Backend{{Name: v.ViewerName(), Port: PortOf(ports)}}}
	if v.Path() != "/" { // Which Gateway API sets by default.
		r.Matches = []gateway.Match{{Path: &gateway.PathMatch{Type: "PathPrefix", Value: prefix(v)}}}
	}

	return r
}
