package compose

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/files"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// The types have the fields of an HTTPRoute and of an Ingress that we own. The type of
// Gateway API would add a module, and the type of Kubernetes would make the binary
// larger.

// An HTTPRoute has the fields of an HTTPRoute of Gateway API that we own.
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

type ingress struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec ingressSpec `json:"spec"`
}

type ingressSpec struct {
	IngressClassName string        `json:"ingressClassName,omitempty"`
	Rules            []ingressRule `json:"rules"`
	TLS              []ingressTLS  `json:"tls"`
}

type ingressRule struct {
	Host string `json:"host"`
	HTTP struct {
		Paths []ingressPath `json:"paths"`
	} `json:"http"`
}

type ingressPath struct {
	Path     string `json:"path"`
	PathType string `json:"pathType"`
	Backend  struct {
		Service struct {
			Name string `json:"name"`
			Port struct {
				Number int32 `json:"number"`
			} `json:"port"`
		} `json:"service"`
	} `json:"backend"`
}

type ingressTLS struct {
	Hosts      []string `json:"hosts"`
	SecretName string   `json:"secretName,omitempty"`
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
	var at ingressPath
	at.Path, at.PathType = prefix(v), "Prefix"
	at.Backend.Service.Name = v.ViewerName()
	at.Backend.Service.Port.Number = PortOf(d.Service.Spec.Ports)
	rule := ingressRule{Host: v.Host()}
	rule.HTTP.Paths = []ingressPath{at}

	i := &ingress{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "Ingress"},
		ObjectMeta: files.Metadata(v, v.ViewerName(), in.Annotations),
		Spec:       ingressSpec{IngressClassName: in.ClassName, Rules: []ingressRule{rule}},
	}
	if in.TLS != nil {
		i.Spec.TLS = []ingressTLS{{Hosts: []string{v.Host()}, SecretName: v.Expand(in.TLS.SecretName)}}
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
