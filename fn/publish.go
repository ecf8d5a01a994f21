package fn

import (
	"cmp"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
)

// An HTTPRoute or an Ingress makes a book public. These keys are permanent, like the
// other keys.
const (
	keyRoute   = "httproute"
	keyIngress = "ingress"

	// maxParentRefs is how many parents Gateway API accepts.
	maxParentRefs = 32
)

// The types have the fields of an HTTPRoute and of an Ingress that we own. The type of
// Gateway API would add a module, and the type of Kubernetes would make the binary
// larger.

type httpRoute struct {
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
	BackendRefs []backendRef `json:"backendRefs"`
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
func publish(v view, d *desired) (composedResource, bool) {
	switch {
	case v.input.Route != nil:
		return route(v, d), true
	case v.input.Ingress != nil:
		return ingressOf(v, d), true
	default:
		return composedResource{}, false
	}
}

func route(v view, d *desired) composedResource {
	r := &httpRoute{
		TypeMeta:   metav1.TypeMeta{APIVersion: "gateway.networking.k8s.io/v1", Kind: "HTTPRoute"},
		ObjectMeta: v.metadata(v.viewerName(), v.input.Route.Annotations),
		Spec: routeSpec{
			ParentRefs: v.input.Route.ParentRefs,
			Hostnames:  []string{v.host()},
			Rules:      []routeRule{{BackendRefs: []backendRef{{Name: v.viewerName(), Port: portOf(d.service.Spec.Ports)}}}},
		},
	}

	return composedResource{
		part:     part{keyRoute, r.APIVersion, r.Kind, r.Name},
		object:   r,
		optional: true,
	}
}

func ingressOf(v view, d *desired) composedResource {
	in := v.input.Ingress
	var at ingressPath
	at.Path, at.PathType = "/", "Prefix"
	at.Backend.Service.Name = v.viewerName()
	at.Backend.Service.Port.Number = portOf(d.service.Spec.Ports)
	rule := ingressRule{Host: v.host()}
	rule.HTTP.Paths = []ingressPath{at}

	i := &ingress{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "Ingress"},
		ObjectMeta: v.metadata(v.viewerName(), in.Annotations),
		Spec:       ingressSpec{IngressClassName: in.ClassName, Rules: []ingressRule{rule}},
	}
	if in.TLS != nil {
		i.Spec.TLS = []ingressTLS{{Hosts: []string{v.host()}, SecretName: v.expand(in.TLS.SecretName)}}
	}

	return composedResource{
		part:     part{keyIngress, i.APIVersion, i.Kind, i.Name},
		object:   i,
		optional: true,
	}
}

// portOf returns the port of a Service that serves the book: ours, whose number a
// template can change, or the first one if a template has removed ours.
func portOf(ports []corev1.ServicePort) int32 {
	return ports[max(0, slices.IndexFunc(ports, func(p corev1.ServicePort) bool { return p.Name == portName }))].Port
}

// hostPattern returns the pattern of the Input for hosts, and whether books are public.
func (v view) hostPattern() (pattern string, public bool) {
	switch {
	case v.input.Route != nil:
		return v.input.Route.Host, true
	case v.input.Ingress != nil:
		return v.input.Ingress.Host, true
	default:
		return "", false
	}
}

// host returns the public host name of the book. It is empty if the book is not public.
func (v view) host() string {
	pattern, public := v.hostPattern()
	if !public {
		return ""
	}

	return cmp.Or(v.Spec.Host, v.expand(pattern))
}

// publicURL returns the public address of the book.
func (v view) publicURL() string {
	scheme := "http"
	if v.input.Route != nil && v.input.Route.Scheme != "http" || v.input.Ingress != nil && v.input.Ingress.TLS != nil {
		scheme = "https"
	}

	return scheme + "://" + v.host()
}

// expand returns a pattern of the Input with the values of {name} and {namespace}.
func (v view) expand(pattern string) string {
	return strings.NewReplacer("{name}", v.Metadata.Name, "{namespace}", v.namespace()).Replace(pattern)
}

type observedRoute struct {
	Metadata observedMetadata `json:"metadata"`
	Status   struct {
		Parents []observedParent `json:"parents"`
	} `json:"status"`
}

// An observedParent is what the controller of a Gateway reports about a route.
type observedParent struct {
	ParentRef  v1beta1.ParentRef `json:"parentRef"`
	Conditions []parentCondition `json:"conditions"`
}

type parentCondition struct {
	condition

	ObservedGeneration int64 `json:"observedGeneration"`
	// LastTransitionTime can be compared with other times of the API server as text.
	LastTransitionTime string `json:"lastTransitionTime"`
}

// ready returns whether every Gateway has accepted the current generation of the route.
func (o *observedRoute) ready(v view) bool {
	if o == nil || o.Metadata.DeletionTimestamp != "" {
		return false
	}
	for _, ref := range v.input.Route.ParentRefs {
		if !slices.ContainsFunc(o.Status.Parents, func(p observedParent) bool {
			accepted, _ := p.state(o.Metadata.Generation)

			return accepted && isParent(v, ref, p.ParentRef)
		}) {
			return false
		}
	}

	return true
}

// rejected returns why a Gateway rejected the current generation of the route. It is
// empty if no Gateway rejected it.
func (o *observedRoute) rejected(s *observedService) string {
	if o == nil {
		return ""
	}
	for _, p := range o.Status.Parents {
		if _, c := p.state(o.Metadata.Generation); c.Type != "" && !c.before(s) {
			return cmp.Or(line(c.Message), line(c.Reason), c.Type+" is "+c.Status)
		}
	}

	return ""
}

// before returns whether a Gateway has not found the Service because the Service did not
// exist yet: Crossplane may create the route first. The Gateway then reports again.
func (c parentCondition) before(s *observedService) bool {
	return c.Reason == "BackendNotFound" && (s == nil || c.LastTransitionTime <= s.Metadata.CreationTimestamp)
}

// state returns whether a Gateway has accepted a generation of a route, and the condition
// with which the Gateway has rejected it. PartiallyInvalid means that the Gateway drops a
// rule, for example because another route has the same host.
func (p observedParent) state(generation int64) (accepted bool, rejected parentCondition) {
	for _, c := range p.Conditions {
		switch {
		case c.ObservedGeneration < generation:
		case c.Status == statusFalse && (c.Type == "Accepted" || c.Type == "ResolvedRefs"), c.Status == statusTrue && c.Type == "PartiallyInvalid":
			return false, c
		case c.Type == "Accepted" && c.Status == statusTrue:
			accepted = true
		}
	}

	return accepted, parentCondition{}
}

// isParent returns whether ours and theirs are the same parent. A controller may add the
// namespace, which defaults to that of the route.
func isParent(v view, ours, theirs v1beta1.ParentRef) bool {
	ours.Namespace = cmp.Or(ours.Namespace, v.namespace())
	theirs.Namespace = cmp.Or(theirs.Namespace, v.namespace())

	return ours == theirs
}

type observedIngress struct {
	Metadata identity `json:"metadata"`
	Status   struct {
		LoadBalancer struct {
			Ingress []struct{} `json:"ingress"`
		} `json:"loadBalancer"`
	} `json:"status"`
}

// ready returns whether the Ingress has an address.
func (o *observedIngress) ready() bool {
	return o != nil && o.Metadata.DeletionTimestamp == "" && len(o.Status.LoadBalancer.Ingress) > 0
}

// validateSecret returns an error if the name of the XR is too long for the name of the
// Secret of the Ingress.
func (v view) validateSecret() field.ErrorList {
	if v.input.Ingress == nil || v.input.Ingress.TLS == nil || len(v.expand(v.input.Ingress.TLS.SecretName)) <= validation.DNS1123SubdomainMaxLength {
		return nil
	}

	return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), short(v.Metadata.Name), "is too long for the name of the Secret of the Ingress: choose a shorter name")}
}

// validateHost returns the errors of spec.host or, if the host comes from a pattern of
// the Input, of the name of the XR.
func (v view) validateHost() field.ErrorList {
	pattern, public := v.hostPattern()
	if v.Spec.Host == "" && (!public || pattern == "" && len(v.input.AllowedHosts) == 0) {
		return nil // If there is an error, it is in the Input.
	}
	at := field.NewPath("spec", "host")
	switch host := v.Spec.Host; {
	case host == "" && pattern == "":
		return field.ErrorList{field.Required(at, choice("a host", v.input.AllowedHosts))}
	case host == "":
		if example := (view{xr: exampleXR()}); !isHost(example.expand(pattern)) || isHost(v.expand(pattern)) {
			return nil // If there is an error, it is in the Input.
		}

		return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), short(v.Metadata.Name), "gives an invalid host name: "+
			short(v.expand(pattern))+" is an IP address, or has more than 253 characters, or more than 63 between two dots: choose another name")}
	case !isHost(host):
		return field.ErrorList{field.Invalid(at, short(host), `must be a host name such as "handbook.example.com"`)}
	case !public || !slices.ContainsFunc(v.input.AllowedHosts, func(pattern string) bool { return v.allowsHost(pattern) }):
		return field.ErrorList{field.Forbidden(at, "is not allowed here: "+choice("a host", v.input.AllowedHosts))}
	default:
		return nil
	}
}

// allowsHost returns whether the host of a spec matches a pattern, in which "*"
// matches any text without a dot.
func (v view) allowsHost(pattern string) bool {
	slashes := func(s string) string { return strings.ReplaceAll(s, ".", "/") }
	ok, err := path.Match(slashes(v.expand(pattern)), slashes(v.Spec.Host))

	return ok && err == nil
}

// isHost returns whether a text is a host name. Kubernetes rejects an IP address, also
// one with leading zeros, such as 010.0.0.1:
// https://github.com/kubernetes/kubernetes/blob/v1.36.0/pkg/apis/networking/validation/validation.go (validateIngressRules)
func isHost(host string) bool {
	for label := range strings.SplitSeq(host, ".") {
		if len(label) > validation.DNS1123LabelMaxLength {
			return false
		}
	}

	return netutils.ParseIPSloppy(host) == nil && len(validation.IsDNS1123Subdomain(host)) == 0
}

// exampleXR returns an XR whose name and namespace fit into every valid pattern.
func exampleXR() xr {
	var example xr
	example.Metadata.Name, example.Metadata.Namespace = "a", "b"

	return example
}

func validatePublish(in v1beta1.Input, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if in.Route != nil && in.Ingress != nil {
		errs = append(errs, field.Forbidden(at.Child("ingress"), "set route or ingress, not both"))
	}
	if in.AllowedHosts != nil && in.Route == nil && in.Ingress == nil {
		errs = append(errs, field.Forbidden(at.Child("allowedHosts"), "has no effect without route or ingress: set one of them"))
	}
	for i, p := range in.AllowedHosts {
		errs = append(errs, validateHostPattern(strings.ReplaceAll(p, "*", "a"), p, at.Child("allowedHosts").Index(i))...)
	}
	if r := in.Route; r != nil {
		errs = append(errs, validateRoute(*r, len(in.AllowedHosts) > 0, at.Child("route"))...)
		errs = append(errs, validateAllAnnotations(in.Annotations, r.Annotations, at.Child("route", "annotations"))...)
	}
	if i := in.Ingress; i != nil {
		errs = append(errs, validateIngress(*i, len(in.AllowedHosts) > 0, at.Child("ingress"))...)
		errs = append(errs, validateAllAnnotations(in.Annotations, i.Annotations, at.Child("ingress", "annotations"))...)
	}

	return errs
}

func validateRoute(r v1beta1.Route, optional bool, at *field.Path) field.ErrorList {
	errs := validateOptionalHost(r.Host, optional, at.Child("host"))
	errs = append(errs, validateEnum(r.Scheme, at.Child("scheme"), "http", "https")...)
	switch n := len(r.ParentRefs); {
	case n == 0:
		errs = append(errs, field.Required(at.Child("parentRefs"), "name the Gateway that serves the books"))
	case n > maxParentRefs:
		return append(errs, field.TooMany(at.Child("parentRefs"), n, maxParentRefs))
	}
	for i, ref := range r.ParentRefs {
		at := at.Child("parentRefs").Index(i)
		errs = append(errs, validateName(ref.Name, true, at.Child("name"))...)
		errs = append(errs, validateName(ref.SectionName, false, at.Child("sectionName"))...)
		if ref.Namespace != "" && len(validation.IsDNS1123Label(ref.Namespace)) > 0 {
			errs = append(errs, field.Invalid(at.Child("namespace"), short(ref.Namespace), "must be the name of a namespace"))
		}
		if ref.Port != 0 && len(validation.IsValidPortNum(int(ref.Port))) > 0 {
			errs = append(errs, field.Invalid(at.Child("port"), ref.Port, "must be between 1 and 65535"))
		}
		if slices.ContainsFunc(r.ParentRefs[:i], func(other v1beta1.ParentRef) bool { return overlap(ref, other) }) {
			errs = append(errs, field.Invalid(at, field.OmitValueType{}, "names a Gateway that the list has already: remove it, or give both entries a sectionName of their own"))
		}
	}

	return errs
}

// overlap returns whether two parents are one Gateway, without two sectionNames that
// tell them apart. Gateway API rejects them, even if their ports differ:
// https://github.com/kubernetes-sigs/gateway-api/blob/v1.6.3/apis/v1/shared_types.go (CommonRouteSpec)
func overlap(a, b v1beta1.ParentRef) bool {
	return a.Name == b.Name && a.Namespace == b.Namespace && (a.SectionName == "" || b.SectionName == "" || a.SectionName == b.SectionName)
}

func validateIngress(i v1beta1.Ingress, optional bool, at *field.Path) field.ErrorList {
	errs := validateOptionalHost(i.Host, optional, at.Child("host"))
	errs = append(errs, validateName(i.ClassName, false, at.Child("className"))...)
	if i.TLS != nil {
		errs = append(errs, validateName((view{xr: exampleXR()}).expand(i.TLS.SecretName), false, at.Child("tls", "secretName"))...)
	}

	return errs
}

func validateName(name string, required bool, at *field.Path) field.ErrorList {
	switch {
	case name == "" && required:
		return field.ErrorList{field.Required(at, "")}
	case name != "" && len(validation.IsDNS1123Subdomain(name)) > 0:
		return field.ErrorList{field.Invalid(at, short(name), "must be the name of a resource")}
	default:
		return nil
	}
}

func validateOptionalHost(pattern string, optional bool, at *field.Path) field.ErrorList {
	switch {
	case pattern != "":
		return validateHostPattern(pattern, pattern, at)
	case optional:
		return nil
	default:
		return field.ErrorList{field.Required(at, `set a pattern such as "{name}.{namespace}.books.example.com", or set allowedHosts`)}
	}
}

func validateHostPattern(example, pattern string, at *field.Path) field.ErrorList {
	if isHost((view{xr: exampleXR()}).expand(example)) {
		return nil
	}

	return field.ErrorList{field.Invalid(at, short(pattern), `must be a host name, which can have {name} and {namespace} in it, such as "{name}.{namespace}.books.example.com"`)}
}
