package view

import (
	"cmp"
	"strings"
)

// An HTTPRoute or an Ingress makes a book public. These keys are permanent, like the
// other keys.
const (
	KeyRoute   = "httproute"
	KeyIngress = "ingress"
)

// HostPattern returns the Input's pattern for hosts, and whether books are public.
func (v View) HostPattern() (pattern string, public bool) {
	switch {
	case v.Input.Route != nil:
		return v.Input.Route.Host, true
	case v.Input.Ingress != nil:
		return v.Input.Ingress.Host, true
	default:
		return "", false
	}
}

// Host returns the public host name of the book. It is empty if the book is not public.
func (v View) Host() string {
	pattern, public := v.HostPattern()
	if !public {
		return ""
	}

	return cmp.Or(v.Spec.Host, v.Expand(pattern))
}

// PathPattern returns the Input's pattern for paths.
func (v View) PathPattern() string {
	switch {
	case v.Input.Route != nil:
		return v.Input.Route.Path
	case v.Input.Ingress != nil:
		return v.Input.Ingress.Path
	default:
		return ""
	}
}

// Path returns the path of the book below its host. It begins and ends with a slash.
func (v View) Path() string { return cmp.Or(v.Expand(v.PathPattern()), "/") }

// PublicURL returns the public address of the book.
func (v View) PublicURL() string {
	scheme := "http"
	if v.Input.Route != nil && v.Input.Route.Scheme != "http" || v.Input.Ingress != nil && v.Input.Ingress.TLS != nil {
		scheme = "https"
	}

	url := scheme + "://" + v.Host()
	if v.Path() != "/" {
		url += v.Path()
	}

	return url
}

// Expand returns a pattern from the Input with the values of {name} and {namespace}.
func (v View) Expand(pattern string) string {
	return strings.NewReplacer("{name}", v.Metadata.Name, "{namespace}", v.Namespace()).Replace(pattern)
}
