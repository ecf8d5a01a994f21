package validate

import (
	"fmt"
	"strings"
	"testing"
)

// parents returns a number of parents in YAML.
func parents(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("{name: gateway-%d}", i)
	}

	return strings.Join(all, ", ")
}

func TestValidatePublish(t *testing.T) {
	const gateway = `parentRefs: [{name: public}]`
	long := strings.Repeat("a", 64)
	checkFields(t, map[string]fieldCase{
		"Pattern":       {reason: "The host has the name and the namespace", input: `{route: {` + gateway + `, host: "{name}.{namespace}.example.com"}}`},
		"Chosen":        {reason: "The MarkdownView sets an allowed host", spec: "host: a.example.com", input: `{allowedHosts: ["*.example.com"], route: {` + gateway + `}}`},
		"OwnNamespace":  {reason: "A pattern can have the namespace", spec: "host: a.default.example.com", input: `{allowedHosts: ["*.{namespace}.example.com"], ingress: {}}`},
		"OtherSpace":    {reason: "The host of another namespace is not allowed", spec: "host: a.other.example.com", input: `{allowedHosts: ["*.{namespace}.example.com"], ingress: {}}`, want: "spec.host: Forbidden: name a host that matches *.{namespace}.example.com"},
		"TwoLabels":     {reason: "A star matches one label of a host", spec: "host: a.b.example.com", input: `{allowedHosts: ["*.example.com"], ingress: {}}`, want: "spec.host: Forbidden…"},
		"Suffix":        {reason: "A pattern must match the whole host", spec: "host: example.com.evil.org", input: `{allowedHosts: ["example.com"], ingress: {}}`, want: "spec.host: Forbidden…"},
		"NotAllowed":    {reason: "No host is allowed by default", spec: "host: a.example.com", input: `{ingress: {host: "{name}.example.com"}}`, want: "spec.host: Forbidden: remove it: the Composition allows none"},
		"NotPublic":     {reason: "A host without route or ingress has no effect", spec: "host: a.example.com", input: `{}`, want: "spec.host: Forbidden: remove it: the Composition allows none"},
		"NoHost":        {reason: "A host is required if the Input has no pattern", input: `{allowedHosts: ["*.example.com"], ingress: {}}`, want: "spec.host: Required value: name a host that matches *.example.com"},
		"BadHost":       {reason: "An underscore is not allowed in a host", spec: "host: a_b.example.com", input: `{allowedHosts: ["*.example.com"], ingress: {}}`, want: "spec.host: Invalid value…"},
		"Address":       {reason: "Kubernetes rejects an IP address", spec: "host: 1.2.3.4", input: `{allowedHosts: ["*.*.*.*"], ingress: {}}`, want: "spec.host: Invalid value…"},
		"Zeros":         {reason: "Kubernetes rejects an IP address with leading zeros", spec: "host: 010.0.0.1", input: `{allowedHosts: ["*.*.*.*"], ingress: {}}`, want: "spec.host: Invalid value…"},
		"ZerosPattern":  {reason: "A pattern must not be an IP address", input: `{ingress: {host: "010.0.0.1"}}`, want: "input.ingress.host: Invalid value…"},
		"NameOfAddress": {reason: "The name of the XR makes the host an IP address", name: "010", input: `{ingress: {host: "{name}.0.0.1"}}`, want: `metadata.name: Invalid value: "010": choose another name: this one gives the host name 010.0.0.1, which is an IP address…`},
		"LongName":      {reason: "The name of the XR is too long for a label of the host", name: long, input: `{ingress: {host: "{name}.example.com"}}`, want: "metadata.name: Invalid value: \"" + long + "\": choose another name: this one gives the host name " + long + ".example.com, which is an IP address, or has more than 253 characters, or more than 63 between two dots"},
		"LongSecret":    {reason: "The name of the XR choose a shorter name: the Secret of the Ingress would have a name that is too long", name: strings.Repeat("a", 250), input: `{ingress: {host: example.com, tls: {secretName: "{name}-tls"}}}`, want: "metadata.name: Invalid value: \"" + strings.Repeat("a", 80) + "…\": choose a shorter name: the Secret of the Ingress would have a name that is too long"},
		"LongestName":   {reason: "A label of a host has at most 63 characters", name: long[:63], input: `{ingress: {host: "{name}.example.com"}}`},
		"LongestSecret": {reason: "The name of a Secret has at most 253 characters", name: strings.Repeat("a", 249), input: `{ingress: {host: example.com, tls: {secretName: "{name}-tls"}}}`},
		"Both":          {reason: "A book has one public address", input: `{route: {` + gateway + `, host: a.b}, ingress: {host: a.b}}`, want: "input.ingress: Forbidden: set route or ingress, not both"},
		"NoPattern":     {reason: "The Input must have a pattern or allow hosts", input: `{ingress: {}}`, want: "input.ingress.host: Required value…"},
		"BadPattern":    {reason: "An unknown variable is not part of a host", input: `{ingress: {host: "{title}.example.com"}}`, want: "input.ingress.host: Invalid value…"},
		"Wildcard":      {reason: "A route has one host", input: `{route: {` + gateway + `, host: "*.example.com"}}`, want: "input.route.host: Invalid value…"},
		"BadAllowed":    {reason: "An upper case pattern matches no host", input: `{allowedHosts: ["A.example.com"], ingress: {host: a.b}}`, want: "input.allowedHosts[0]: Invalid value…"},
		"AllowedAlone":  {reason: "Allowed hosts have no effect without route or ingress", input: `{allowedHosts: ["*.example.com"]}`, want: "input.allowedHosts: Forbidden: set route or ingress…"},
		"Path":          {reason: "Every MarkdownView has its own path", input: `{server: {}, route: {` + gateway + `, host: example.com, path: "/{namespace}/{name}/"}}`},
		"PathOfSpace":   {reason: "The hosts of namespaces differ", input: `{server: {}, allowedHosts: ["*.{namespace}.example.com"], ingress: {host: "{namespace}.example.com", path: "/a/{name}/"}}`},
		"PathOfHosts":   {reason: "The hosts that MarkdownViews choose have the namespace", spec: "host: a.default.example.com", input: `{server: {}, allowedHosts: ["*.{namespace}.example.com"], ingress: {path: "/{name}/"}}`},
		"PathAlone":     {reason: "mdBook serves a book only at /", input: `{ingress: {host: example.com, path: "/{namespace}/{name}/"}}`, want: `input.ingress.path: Forbidden: set server, or remove this: "mdbook serve" serves a book only at "/"`},
		"PathOfRoot":    {reason: "Two books would have the path /", input: `{server: {}, route: {` + gateway + `, host: example.com, path: "/"}}`, want: `input.route.path: Invalid value: "/": must be a path such as "/{namespace}/{name}/"…`},
		"PathNoName":    {reason: "Two books would have the path of the namespace", input: `{server: {}, ingress: {host: "{name}.example.com", path: "/{namespace}/"}}`, want: `input.ingress.path: Invalid value: "/{namespace}/": must have {name} once…`},
		"PathTwice":     {reason: "The longest name would make the path too long for a Gateway", input: `{server: {}, ingress: {host: example.com, path: "/{name}/{namespace}/{namespace}/"}}`, want: `input.ingress.path: Invalid value: "/{name}/{namespace}/{namespace}/": must have {name} once, and {namespace} at most once`},
		"PathNoSpace":   {reason: "Two namespaces can have books with the same name", input: `{server: {}, ingress: {host: example.com, path: "/{name}/"}}`, want: `input.ingress.path: Invalid value: "/{name}/": add {namespace} here, or to the host and all allowedHosts: MarkdownViews of two namespaces can have the same address`},
		"PathOtherHost": {reason: "Two namespaces can choose the same host", input: `{server: {}, allowedHosts: ["docs.example.com"], ingress: {host: "{namespace}.example.com", path: "/{name}/"}}`, want: `input.ingress.path: Invalid value: "/{name}/": add {namespace} here, or to the host and all allowedHosts…`},
		"PathJoined":    {reason: "a-b of c and b-c of a would have the same path", input: `{server: {}, ingress: {host: example.com, path: "/{namespace}-{name}/"}}`, want: `input.ingress.path: Invalid value: "/{namespace}-{name}/": must be a path such as…`},
		"PathNoSlash":   {reason: "A path ends with a slash", input: `{server: {}, ingress: {host: example.com, path: "/{namespace}/{name}"}}`, want: "input.ingress.path: Invalid value…"},
		"PathRelative":  {reason: "A path begins with a slash", input: `{server: {}, ingress: {host: example.com, path: "{namespace}/{name}/"}}`, want: "input.ingress.path: Invalid value…"},
		"PathParent":    {reason: "A gateway resolves ..", input: `{server: {}, ingress: {host: example.com, path: "/../{namespace}/{name}/"}}`, want: "input.ingress.path: Invalid value…"},
		"PathEmpty":     {reason: "Kubernetes rejects an empty part", input: `{server: {}, ingress: {host: example.com, path: "//{namespace}/{name}/"}}`, want: "input.ingress.path: Invalid value…"},
		"PathUnknown":   {reason: "A placeholder is unknown", input: `{server: {}, ingress: {host: example.com, path: "/{title}/{namespace}/{name}/"}}`, want: "input.ingress.path: Invalid value…"},
		"PathVariable":  {reason: "A dollar is a variable for nginx", input: `{server: {}, ingress: {host: example.com, path: "/$uri/{namespace}/{name}/"}}`, want: "input.ingress.path: Invalid value…"},
		"PathNewline":   {reason: "A line would be a directive for nginx", input: `{server: {}, ingress: {host: example.com, path: "/{namespace}/{name}/\n"}}`, want: "input.ingress.path: Invalid value…"},
		"PathLong":      {reason: "A path has at most 200 characters", input: `{server: {}, ingress: {host: example.com, path: "/{namespace}/{name}/` + strings.Repeat("x", 180) + `/"}}`, want: "input.ingress.path: Invalid value…"},
		"PathLongest":   {reason: "A path can have 200 characters", input: `{server: {}, ingress: {host: example.com, path: "/{namespace}/{name}/` + strings.Repeat("x", 179) + `/"}}`},
		"NoRouteHost":   {reason: "The Input must have a pattern or allow hosts", input: `{route: {` + gateway + `}}`, want: "input.route.host: Required value…"},
		"NoParent":      {reason: "A route needs a Gateway", input: `{route: {host: a.b}}`, want: "input.route.parentRefs: Required value…"},
		"BadParent":     {reason: "A parent needs the name of a Gateway", input: `{route: {parentRefs: [{namespace: infra}], host: a.b}}`, want: "input.route.parentRefs[0].name: Required value"},
		"TwoParents":    {reason: "The same Gateway twice", input: `{route: {parentRefs: [{name: a}, {name: a}], host: a.b}}`, want: "input.route.parentRefs[1]: Invalid value: remove this entry, or give both entries a sectionName of their own: the list has this Gateway already"},
		"Sections":      {reason: "Entries for one Gateway have their own sections, and entries for others need none", input: `{route: {parentRefs: [{name: a, sectionName: b}, {name: a, sectionName: c}, {name: b}, {name: b, namespace: c}], host: a.b}}`},
		"SameSection":   {reason: "The same section twice", input: `{route: {parentRefs: [{name: a, sectionName: b}, {name: a, sectionName: b, port: 80}], host: a.b}}`, want: "input.route.parentRefs[1]: Invalid value…"},
		"NoSection":     {reason: "Gateway API rejects a second entry for a Gateway if one has no section", input: `{route: {parentRefs: [{name: a, sectionName: b}, {name: a}], host: a.b}}`, want: "input.route.parentRefs[1]: Invalid value…"},
		"SectionLater":  {reason: "Gateway API rejects a second entry for a Gateway, also if only the first has no section", input: `{route: {parentRefs: [{name: a}, {name: a, sectionName: b}], host: a.b}}`, want: "input.route.parentRefs[1]: Invalid value…"},
		"ParentPorts":   {reason: "Gateway API rejects entries that differ only in port", input: `{route: {parentRefs: [{name: a, port: 80}, {name: a, port: 443}], host: a.b}}`, want: "input.route.parentRefs[1]: Invalid value…"},
		"MostParents":   {reason: "Gateway API accepts 32 parents", input: `{route: {parentRefs: [` + parents(32) + `], host: a.b}}`},
		"ManyParents":   {reason: "Gateway API rejects 33 parents", input: `{route: {parentRefs: [` + parents(33) + `], host: a.b}}`, want: "input.route.parentRefs: Too many: 33: must have at most 32 items"},
		"ParentPort":    {reason: "A port must be at most 65535", input: `{route: {parentRefs: [{name: a, port: 70000}], host: a.b}}`, want: "input.route.parentRefs[0].port: Invalid value…"},
		"ParentSpace":   {reason: "The name of a namespace has no dots", input: `{route: {parentRefs: [{name: a, namespace: a.b}], host: a.b}}`, want: "input.route.parentRefs[0].namespace: Invalid value…"},
		"Section":       {reason: "The name of a listener is in lower case", input: `{route: {parentRefs: [{name: a, sectionName: A}], host: a.b}}`, want: "input.route.parentRefs[0].sectionName: Invalid value…"},
		"Scheme":        {reason: "The scheme is http or https", input: `{route: {` + gateway + `, host: a.b, scheme: ftp}}`, want: "input.route.scheme: Unsupported value…"},
		"Class":         {reason: "The name of a class has no underscore", input: `{ingress: {className: A_B, host: a.b}}`, want: "input.ingress.className: Invalid value…"},
		"Secret":        {reason: "An unknown variable is not part of the name of a Secret", input: `{ingress: {host: a.b, tls: {secretName: "{title}"}}}`, want: "input.ingress.tls.secretName: Invalid value…"},
		"Annotations":   {reason: "Annotations are checked", input: `{ingress: {host: a.b, annotations: {"a b": c}}}`, want: "input.ingress.annotations: Invalid value…"},
		"OfRoute":       {reason: "Annotations of a route are checked", input: `{route: {` + gateway + `, host: a.b, annotations: {"a b": c}}}`, want: "input.route.annotations: Invalid value…"},
	})
}
