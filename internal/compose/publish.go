package compose

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/files"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// An HTTPRoute has the fields of an HTTPRoute of Gateway API that we own. The module of
// Gateway API would need newer libraries of Kubernetes than Crossplane's.
type HTTPRoute struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec routeSpec `json:"spec"`
}

type routeSpec struct {
	ParentRefs []v1beta1.ParentRef `json:"parentRefs"`
	Hostnames  []string            `json:"hostnames"`
	Rules      []routeRule         `json:"rules"`
}

type routeRule struct {
	Matches     []routeMatch `json:"matches,omitempty"`
	BackendRefs []backendRef `json:"backendRefs"`
}

type routeMatch struct {
	Path struct {
		Type  string `json:"type"`
		Value string `json:"value"`
	} `json:"path"`
}

type backendRef struct {
	Name string `json:"name"`
	Port int32  `json:"port"`
}

// publish returns the HTTPRoute or the Ingress of a view, and whether the Input has
// one.
func publish(v view.View, d *Desired) (ComposedResource, bool) {
	switch {
	case v.Input.Route != nil:
		return route(v, d), true
	case v.Input.Ingress != nil:
		return ingressOf(v, d), true
	default:
		return ComposedResource{}, false
	}
}

// prefix returns the path of a book without the slash at its end, which Gateway API and
// Kubernetes ignore: a reader who does not type it finds the book, too.
func prefix(v view.View) string { return cmp.Or(strings.TrimSuffix(v.Path(), "/"), "/") }

func route(v view.View, d *Desired) ComposedResource {
	r := &HTTPRoute{
		TypeMeta:   metav1.TypeMeta{APIVersion: "gateway.networking.k8s.io/v1", Kind: "HTTPRoute"},
		ObjectMeta: files.Metadata(v, v.ViewerName(), v.Input.Route.Annotations),
		Spec: routeSpec{
			ParentRefs: v.Input.Route.ParentRefs,
			Hostnames:  []string{v.Host()},
			Rules:      []routeRule{{BackendRefs: []backendRef{{Name: v.ViewerName(), Port: PortOf(d.Service.Spec.Ports)}}}},
		},
	}

	if v.Path() != "/" { // Which Gateway API sets by default.
		var m routeMatch
		m.Path.Type, m.Path.Value = "PathPrefix", prefix(v)
		r.Spec.Rules[0].Matches = []routeMatch{m}
	}

	return ComposedResource{
		part:     part{view.KeyRoute, r.APIVersion, r.Kind, r.Name},
		Object:   r,
		Optional: true,
	}
}

func ingressOf(v view.View, d *Desired) ComposedResource {
	in := v.Input.Ingress
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
					Port: networkingv1.ServiceBackendPort{Number: PortOf(d.Service.Spec.Ports)},
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

	return ComposedResource{
		part:     part{view.KeyIngress, i.APIVersion, i.Kind, i.Name},
		Object:   i,
		Optional: true,
	}
}

// PortOf returns the port of a Service that serves the book: ours, whose number a
// template can change, or the first one if a template has removed ours.
func PortOf(ports []corev1.ServicePort) int32 {
	return ports[max(0, slices.IndexFunc(ports, func(p corev1.ServicePort) bool { return p.Name == view.PortName }))].Port
}
