package validate

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

const (
	// maxParentRefs is how many parents Gateway API accepts.
	maxParentRefs = 32
	// maxPath leaves room for the longest name and namespace: Gateway API accepts 1024
	// characters, and the name of a folder has at most 255.
	maxPath = 200
)

// validateSecret returns an error if the name of the XR is too long for the name of the
// Secret of the Ingress.
func validateSecret(v view.View) field.ErrorList {
	if v.Input.Ingress == nil || v.Input.Ingress.TLS == nil || len(v.Expand(v.Input.Ingress.TLS.SecretName)) <= validation.DNS1123SubdomainMaxLength {
		return nil
	}

	return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), report.Short(v.Metadata.Name), "choose a shorter name: the Secret of the Ingress would have a name that is too long")}
}

// validateHost returns the errors of spec.host or, if the host comes from a pattern of
// the Input, of the name of the XR.
func validateHost(v view.View) field.ErrorList {
	pattern, public := v.HostPattern()
	if v.Spec.Host == "" && (!public || pattern == "" && len(v.Input.AllowedHosts) == 0) {
		return nil // If there is an error, it is in the Input.
	}
	at := field.NewPath("spec", "host")
	switch host := v.Spec.Host; {
	case host == "" && pattern == "":
		return field.ErrorList{field.Required(at, report.Choice("a host", v.Input.AllowedHosts))}
	case host == "":
		if example := (view.View{XR: exampleXR()}); !isHost(example.Expand(pattern)) || isHost(v.Expand(pattern)) {
			return nil // If there is an error, it is in the Input.
		}

		return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), report.Short(v.Metadata.Name), "choose another name: this one gives the host name "+
			report.Short(v.Expand(pattern))+", which is an IP address, or has more than 253 characters, or more than 63 between two dots")}
	case !isHost(host):
		return field.ErrorList{field.Invalid(at, report.Short(host), `write a host name such as handbook.example.com`)}
	case !public || !slices.ContainsFunc(v.Input.AllowedHosts, func(pattern string) bool { return allowsHost(v, pattern) }):
		return field.ErrorList{field.Forbidden(at, report.Choice("a host", v.Input.AllowedHosts))}
	default:
		return nil
	}
}

// allowsHost returns whether the host of a spec matches a pattern, in which "*"
// matches any text without a dot.
func allowsHost(v view.View, pattern string) bool {
	slashes := func(s string) string { return strings.ReplaceAll(s, ".", "/") }
	ok, err := path.Match(slashes(v.Expand(pattern)), slashes(v.Spec.Host))

	return ok && err == nil
}

// isHost returns whether a string is a host name. Kubernetes rejects an IP address, also
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
func exampleXR() view.XR {
	var example view.XR
	example.Metadata.Name, example.Metadata.Namespace = "a", "b"

	return example
}

// pathPattern matches patterns for paths. A placeholder is a part by itself, so two
// MarkdownViews never have the same path: {namespace}-{name} would be a-b-c for both a-b/c
// and a/b-c. Other parts have characters that no gateway and no web server changes or
// interprets.
var pathPattern = regexp.MustCompile(`^/(([A-Za-z0-9][A-Za-z0-9._~-]*|\{name\}|\{namespace\})/)+$`)

// validatePath returns the errors of the pattern for paths.
func validatePath(v view.View, at *field.Path) field.ErrorList {
	const name, namespace = "{name}", "{namespace}"
	pattern := v.PathPattern()
	if pattern == "" {
		return nil
	}
	exposed := "route"
	if v.Input.Route == nil {
		exposed = "ingress"
	}
	at = at.Child(exposed, "path")
	var errs field.ErrorList
	if v.Input.Server == nil {
		errs = append(errs, field.Forbidden(at, `set server, or remove this: "mdbook serve" serves a book only at "/"`))
	}
	if !pathPattern.MatchString(pattern) || len(pattern) > maxPath {
		return append(errs, field.Invalid(at, report.Short(pattern), fmt.Sprintf(`must be a path such as "/{namespace}/{name}/", of at most %d characters: each part is {name}, {namespace}, or letters, digits, ".", "_", "~" and "-" that begin with a letter or digit`, maxPath)))
	}
	if strings.Count(pattern, name) != 1 || strings.Count(pattern, namespace) > 1 {
		errs = append(errs, field.Invalid(at, pattern, "must have {name} once, and {namespace} at most once"))
	}
	host, _ := v.HostPattern()
	lacks := func(host string) bool { return !strings.Contains(host, namespace) }
	// Other XRs are unique by their name.
	if v.Metadata.Namespace != "" && lacks(pattern) && (host != "" && lacks(host) || slices.ContainsFunc(v.Input.AllowedHosts, lacks)) {
		errs = append(errs, field.Invalid(at, pattern, "add {namespace} here, or to the host and all allowedHosts: MarkdownViews of two namespaces can have the same address"))
	}

	return errs
}

func validatePublish(in v1beta1.Input, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if in.Route != nil && in.Ingress != nil {
		errs = append(errs, field.Forbidden(at.Child("ingress"), "set route or ingress, not both"))
	}
	if in.AllowedHosts != nil && in.Route == nil && in.Ingress == nil {
		errs = append(errs, field.Forbidden(at.Child("allowedHosts"), "set route or ingress: without them, this has no effect"))
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
			errs = append(errs, field.Invalid(at.Child("namespace"), report.Short(ref.Namespace), "must be the name of a namespace"))
		}
		if ref.Port != 0 && len(validation.IsValidPortNum(int(ref.Port))) > 0 {
			errs = append(errs, field.Invalid(at.Child("port"), ref.Port, "must be between 1 and 65535"))
		}
		if slices.ContainsFunc(r.ParentRefs[:i], func(other v1beta1.ParentRef) bool { return overlap(ref, other) }) {
			errs = append(errs, field.Invalid(at, field.OmitValueType{}, "remove this entry, or give both entries a sectionName of their own: the list has this Gateway already"))
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
		errs = append(errs, validateName((view.View{XR: exampleXR()}).Expand(i.TLS.SecretName), false, at.Child("tls", "secretName"))...)
	}

	return errs
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
	if isHost((view.View{XR: exampleXR()}).Expand(example)) {
		return nil
	}

	return field.ErrorList{field.Invalid(at, report.Short(pattern), `must be a host name, which can have {name} and {namespace} in it, such as "{name}.{namespace}.books.example.com"`)}
}
