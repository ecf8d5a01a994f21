// Package gateway has the types of an HTTPRoute of Gateway API, as far as the function and
// templates set its fields. The module of Gateway API requires newer libraries of Kubernetes
// than those of Crossplane.
package gateway

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
)

// An HTTPRoute is an HTTPRoute:
// https://github.com/kubernetes-sigs/gateway-api/blob/v1.6.3/apis/v1/httproute_types.go
type HTTPRoute struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec Spec `json:"spec"`
}

// A Spec is the spec of an HTTPRoute.
type Spec struct {
	ParentRefs []v1beta1.ParentRef `json:"parentRefs"`
	Hostnames  []string            `json:"hostnames"`
	Rules      []Rule              `json:"rules,omitempty"`
}

// A Rule is a rule of an HTTPRoute.
type Rule struct {
	Name        string    `json:"name,omitempty"`
	Matches     []Match   `json:"matches,omitempty"`
	Filters     []Filter  `json:"filters,omitempty"`
	BackendRefs []Backend `json:"backendRefs,omitempty"`
	Timeouts    *Timeouts `json:"timeouts,omitempty"`
}

// A Match is a condition of a rule.
type Match struct {
	Path        *PathMatch   `json:"path,omitempty"`
	Headers     []ValueMatch `json:"headers,omitempty"`
	QueryParams []ValueMatch `json:"queryParams,omitempty"`
	Method      string       `json:"method,omitempty"`
}

// A PathMatch matches the path of a request.
type PathMatch struct {
	Type  string `json:"type,omitempty"`
	Value string `json:"value,omitempty"`
}

// A ValueMatch matches a header or a query parameter of a request.
type ValueMatch struct {
	Type  string `json:"type,omitempty"`
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A Filter changes requests and responses. ExtensionRef names an object of the Gateway's own
// API, such as a Middleware of Traefik.
type Filter struct {
	Type                   string        `json:"type"`
	RequestHeaderModifier  *HeaderFilter `json:"requestHeaderModifier,omitempty"`
	ResponseHeaderModifier *HeaderFilter `json:"responseHeaderModifier,omitempty"`
	RequestMirror          *Mirror       `json:"requestMirror,omitempty"`
	RequestRedirect        *Redirect     `json:"requestRedirect,omitempty"`
	URLRewrite             *Rewrite      `json:"urlRewrite,omitempty"`
	CORS                   *CORS         `json:"cors,omitempty"`
	ExternalAuth           *ExternalAuth `json:"externalAuth,omitempty"`
	ExtensionRef           *LocalObject  `json:"extensionRef,omitempty"`
}

// A HeaderFilter changes headers.
type HeaderFilter struct {
	Set    []Header `json:"set,omitempty"`
	Add    []Header `json:"add,omitempty"`
	Remove []string `json:"remove,omitempty"`
}

// A Header is a header.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A Mirror copies requests to another backend.
type Mirror struct {
	BackendRef Backend   `json:"backendRef"`
	Percent    *int32    `json:"percent,omitempty"`
	Fraction   *Fraction `json:"fraction,omitempty"`
}

// A Fraction is a share of requests.
type Fraction struct {
	Numerator   int32  `json:"numerator"`
	Denominator *int32 `json:"denominator,omitempty"`
}

// A Redirect answers requests with a redirect.
type Redirect struct {
	Scheme     string    `json:"scheme,omitempty"`
	Hostname   string    `json:"hostname,omitempty"`
	Path       *PathEdit `json:"path,omitempty"`
	Port       int32     `json:"port,omitempty"`
	StatusCode int32     `json:"statusCode,omitempty"`
}

// A Rewrite changes the host and the path of requests.
type Rewrite struct {
	Hostname string    `json:"hostname,omitempty"`
	Path     *PathEdit `json:"path,omitempty"`
}

// A PathEdit replaces a path or its prefix.
type PathEdit struct {
	Type               string  `json:"type"`
	ReplaceFullPath    *string `json:"replaceFullPath,omitempty"`
	ReplacePrefixMatch *string `json:"replacePrefixMatch,omitempty"`
}

// A CORS allows scripts of other origins.
type CORS struct {
	AllowOrigins     []string `json:"allowOrigins,omitempty"`
	AllowCredentials *bool    `json:"allowCredentials,omitempty"`
	AllowMethods     []string `json:"allowMethods,omitempty"`
	AllowHeaders     []string `json:"allowHeaders,omitempty"`
	ExposeHeaders    []string `json:"exposeHeaders,omitempty"`
	MaxAge           int32    `json:"maxAge,omitempty"`
}

// An ExternalAuth asks a server whether to accept a request.
type ExternalAuth struct {
	Protocol    string       `json:"protocol,omitempty"`
	BackendRef  *Backend     `json:"backendRef,omitempty"`
	GRPC        *AuthRequest `json:"grpc,omitempty"`
	HTTP        *AuthRequest `json:"http,omitempty"`
	ForwardBody *ForwardBody `json:"forwardBody,omitempty"`
}

// An AuthRequest is what the server of an ExternalAuth receives.
type AuthRequest struct {
	Path                   string   `json:"path,omitempty"`
	AllowedHeaders         []string `json:"allowedHeaders,omitempty"`
	AllowedResponseHeaders []string `json:"allowedResponseHeaders,omitempty"`
}

// A ForwardBody is the size of the bodies that the server of an ExternalAuth receives.
type ForwardBody struct {
	MaxSize int32 `json:"maxSize,omitempty"`
}

// A LocalObject is an object in the namespace of the HTTPRoute.
type LocalObject struct {
	Group string `json:"group"`
	Kind  string `json:"kind"`
	Name  string `json:"name"`
}

// A Backend is a backend of a rule, usually a Service.
type Backend struct {
	Group     *string  `json:"group,omitempty"`
	Kind      string   `json:"kind,omitempty"`
	Name      string   `json:"name"`
	Namespace string   `json:"namespace,omitempty"`
	Port      int32    `json:"port,omitempty"`
	Weight    *int32   `json:"weight,omitempty"`
	Filters   []Filter `json:"filters,omitempty"`
}

// Timeouts are the timeouts of a rule.
type Timeouts struct {
	Request        string `json:"request,omitempty"`
	BackendRequest string `json:"backendRequest,omitempty"`
}

// Serve sets what the rules lack of ours. A template does not know the path of a book and the
// name of the Service. A rule that redirects has no backend.
func (r *HTTPRoute) Serve(ours Rule) {
	for i := range r.Spec.Rules {
		rule := &r.Spec.Rules[i]
		if len(rule.Matches) == 0 {
			rule.Matches = ours.Matches
		}
		if len(rule.BackendRefs) == 0 && !rule.redirects() {
			rule.BackendRefs = ours.BackendRefs
		}
	}
}

func (r Rule) redirects() bool {
	for _, f := range r.Filters {
		if f.RequestRedirect != nil {
			return true
		}
	}

	return false
}
