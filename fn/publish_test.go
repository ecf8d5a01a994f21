package fn

import (
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
)

// invalidWith returns the errors of a view with a name, a host and an Input.
func invalidWith(t *testing.T, name, host, input string) []string {
	t.Helper()

	v := settledView()
	v.Metadata.Name, v.Spec.Host = name, host
	v.input = *decoded[v1beta1.Input](t, input)

	return messages(validate(request{view: v}))
}

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
	cases := map[string]struct {
		reason      string
		name, host  string
		input, want string
	}{
		"Pattern":       {reason: "The host has the name and the namespace", input: `{route: {` + gateway + `, host: "{name}.{namespace}.example.com"}}`},
		"Chosen":        {reason: "The MarkdownView sets an allowed host", host: "a.example.com", input: `{allowedHosts: ["*.example.com"], route: {` + gateway + `}}`},
		"OwnNamespace":  {reason: "A pattern can have the namespace", host: "a.default.example.com", input: `{allowedHosts: ["*.{namespace}.example.com"], ingress: {}}`},
		"OtherSpace":    {reason: "The host of another namespace is not allowed", host: "a.other.example.com", input: `{allowedHosts: ["*.{namespace}.example.com"], ingress: {}}`, want: "spec.host: Forbidden: is not allowed here: name a host that matches *.{namespace}.example.com"},
		"TwoLabels":     {reason: "A star matches one label of a host", host: "a.b.example.com", input: `{allowedHosts: ["*.example.com"], ingress: {}}`, want: "spec.host: Forbidden"},
		"Suffix":        {reason: "A pattern must match the whole host", host: "example.com.evil.org", input: `{allowedHosts: ["example.com"], ingress: {}}`, want: "spec.host: Forbidden"},
		"NotAllowed":    {reason: "No host is allowed by default", host: "a.example.com", input: `{ingress: {host: "{name}.example.com"}}`, want: "spec.host: Forbidden: is not allowed here"},
		"NotPublic":     {reason: "A host without route or ingress has no effect", host: "a.example.com", input: `{}`, want: "spec.host: Forbidden: is not allowed here"},
		"NoHost":        {reason: "A host is required if the Input has no pattern", input: `{allowedHosts: ["*.example.com"], ingress: {}}`, want: "spec.host: Required value: name a host that matches *.example.com"},
		"BadHost":       {reason: "An underscore is not allowed in a host", host: "a_b.example.com", input: `{allowedHosts: ["*.example.com"], ingress: {}}`, want: "spec.host: Invalid value"},
		"Address":       {reason: "Kubernetes rejects an IP address", host: "1.2.3.4", input: `{allowedHosts: ["*.*.*.*"], ingress: {}}`, want: "spec.host: Invalid value"},
		"Zeros":         {reason: "Kubernetes rejects an IP address with leading zeros", host: "010.0.0.1", input: `{allowedHosts: ["*.*.*.*"], ingress: {}}`, want: "spec.host: Invalid value"},
		"ZerosPattern":  {reason: "A pattern must not be an IP address", input: `{ingress: {host: "010.0.0.1"}}`, want: "input.ingress.host: Invalid value"},
		"NameOfAddress": {reason: "The name of the XR makes the host an IP address", name: "010", input: `{ingress: {host: "{name}.0.0.1"}}`, want: `metadata.name: Invalid value: "010": gives an invalid host name: 010.0.0.1 is an IP address`},
		"LongName":      {reason: "The name of the XR is too long for a label of the host", name: long, input: `{ingress: {host: "{name}.example.com"}}`, want: "metadata.name: Invalid value: \"" + long + "\": gives an invalid host name: " + long + ".example.com is an IP address, or has more than 253 characters, or more than 63 between two dots: choose another name"},
		"LongSecret":    {reason: "The name of the XR is too long for the name of the Secret", name: strings.Repeat("a", 250), input: `{ingress: {host: example.com, tls: {secretName: "{name}-tls"}}}`, want: "metadata.name: Invalid value: \"" + strings.Repeat("a", 80) + "…\": is too long for the name of the Secret"},
		"LongestName":   {reason: "A label of a host has at most 63 characters", name: long[:63], input: `{ingress: {host: "{name}.example.com"}}`},
		"LongestSecret": {reason: "The name of a Secret has at most 253 characters", name: strings.Repeat("a", 249), input: `{ingress: {host: example.com, tls: {secretName: "{name}-tls"}}}`},
		"Both":          {reason: "A book has one public address", input: `{route: {` + gateway + `, host: a.b}, ingress: {host: a.b}}`, want: "input.ingress: Forbidden: set route or ingress, not both"},
		"NoPattern":     {reason: "The Input must have a pattern or allow hosts", input: `{ingress: {}}`, want: "input.ingress.host: Required value"},
		"BadPattern":    {reason: "An unknown variable is not part of a host", input: `{ingress: {host: "{title}.example.com"}}`, want: "input.ingress.host: Invalid value"},
		"Wildcard":      {reason: "A route has one host", input: `{route: {` + gateway + `, host: "*.example.com"}}`, want: "input.route.host: Invalid value"},
		"BadAllowed":    {reason: "An upper case pattern matches no host", input: `{allowedHosts: ["A.example.com"], ingress: {host: a.b}}`, want: "input.allowedHosts[0]: Invalid value"},
		"AllowedAlone":  {reason: "Allowed hosts have no effect without route or ingress", input: `{allowedHosts: ["*.example.com"]}`, want: "input.allowedHosts: Forbidden: has no effect without route or ingress"},
		"NoParent":      {reason: "A route needs a Gateway", input: `{route: {host: a.b}}`, want: "input.route.parentRefs: Required value"},
		"BadParent":     {reason: "A parent needs the name of a Gateway", input: `{route: {parentRefs: [{namespace: infra}], host: a.b}}`, want: "input.route.parentRefs[0].name: Required value"},
		"TwoParents":    {reason: "The same Gateway twice", input: `{route: {parentRefs: [{name: a}, {name: a}], host: a.b}}`, want: "input.route.parentRefs[1]: Invalid value: names a Gateway that the list has already: remove it, or give both entries a sectionName of their own"},
		"Sections":      {reason: "Entries for one Gateway have their own sections, and entries for others need none", input: `{route: {parentRefs: [{name: a, sectionName: b}, {name: a, sectionName: c}, {name: b}, {name: b, namespace: c}], host: a.b}}`},
		"SameSection":   {reason: "The same section twice", input: `{route: {parentRefs: [{name: a, sectionName: b}, {name: a, sectionName: b, port: 80}], host: a.b}}`, want: "input.route.parentRefs[1]: Invalid value"},
		"NoSection":     {reason: "Gateway API rejects a second entry for a Gateway if one has no section", input: `{route: {parentRefs: [{name: a, sectionName: b}, {name: a}], host: a.b}}`, want: "input.route.parentRefs[1]: Invalid value"},
		"SectionLater":  {reason: "Gateway API rejects a second entry for a Gateway, also if only the first has no section", input: `{route: {parentRefs: [{name: a}, {name: a, sectionName: b}], host: a.b}}`, want: "input.route.parentRefs[1]: Invalid value"},
		"ParentPorts":   {reason: "Gateway API rejects entries that differ only in port", input: `{route: {parentRefs: [{name: a, port: 80}, {name: a, port: 443}], host: a.b}}`, want: "input.route.parentRefs[1]: Invalid value"},
		"MostParents":   {reason: "Gateway API accepts 32 parents", input: `{route: {parentRefs: [` + parents(32) + `], host: a.b}}`},
		"ManyParents":   {reason: "Gateway API rejects 33 parents", input: `{route: {parentRefs: [` + parents(33) + `], host: a.b}}`, want: "input.route.parentRefs: Too many: 33: must have at most 32 items"},
		"ParentPort":    {reason: "A port must be at most 65535", input: `{route: {parentRefs: [{name: a, port: 70000}], host: a.b}}`, want: "input.route.parentRefs[0].port: Invalid value"},
		"ParentSpace":   {reason: "The name of a namespace has no dots", input: `{route: {parentRefs: [{name: a, namespace: a.b}], host: a.b}}`, want: "input.route.parentRefs[0].namespace: Invalid value"},
		"Section":       {reason: "The name of a listener is in lower case", input: `{route: {parentRefs: [{name: a, sectionName: A}], host: a.b}}`, want: "input.route.parentRefs[0].sectionName: Invalid value"},
		"Scheme":        {reason: "The scheme is http or https", input: `{route: {` + gateway + `, host: a.b, scheme: ftp}}`, want: "input.route.scheme: Unsupported value"},
		"Class":         {reason: "The name of a class has no underscore", input: `{ingress: {className: A_B, host: a.b}}`, want: "input.ingress.className: Invalid value"},
		"Secret":        {reason: "An unknown variable is not part of the name of a Secret", input: `{ingress: {host: a.b, tls: {secretName: "{title}"}}}`, want: "input.ingress.tls.secretName: Invalid value"},
		"Annotations":   {reason: "Annotations are checked", input: `{ingress: {host: a.b, annotations: {"a b": c}}}`, want: "input.ingress.annotations: Invalid value"},
		"OfRoute":       {reason: "Annotations of a route are checked", input: `{route: {` + gateway + `, host: a.b, annotations: {"a b": c}}}`, want: "input.route.annotations: Invalid value"},
		"Budget":        {reason: "A number of pods must not be negative", input: `{podDisruptionBudget: {maxUnavailable: -1}}`, want: "input.podDisruptionBudget.maxUnavailable: Invalid value"},
		"BudgetPercent": {reason: "A text must be a percentage", input: `{podDisruptionBudget: {minAvailable: half}}`, want: "input.podDisruptionBudget.minAvailable: Invalid value"},
		"BudgetZero":    {reason: "No pod can be unavailable", input: `{podDisruptionBudget: {maxUnavailable: 0}}`},
		"BudgetMost":    {reason: "All pods can be unavailable", input: `{podDisruptionBudget: {maxUnavailable: "100%"}}`},
		"BudgetAbove":   {reason: "Kubernetes rejects more than 100%", input: `{podDisruptionBudget: {maxUnavailable: "150%"}}`, want: "input.podDisruptionBudget.maxUnavailable: Invalid value: \"150%\": must be a number of pods such as 1, or a percentage from \"0%\" to \"100%\""},
		"BudgetMin":     {reason: "Kubernetes rejects more than 100%", input: `{podDisruptionBudget: {minAvailable: "101%"}}`, want: "input.podDisruptionBudget.minAvailable: Invalid value"},
		"BudgetHuge":    {reason: "A number too large for an integer is more than 100%", input: `{podDisruptionBudget: {minAvailable: "99999999999999999999%"}}`, want: "input.podDisruptionBudget.minAvailable: Invalid value"},
		"BudgetSign":    {reason: "A percentage has no sign", input: `{podDisruptionBudget: {minAvailable: "-1%"}}`, want: "input.podDisruptionBudget.minAvailable: Invalid value"},
		"BudgetNoSign":  {reason: "A text without % is not a percentage", input: `{podDisruptionBudget: {minAvailable: "50"}}`, want: "input.podDisruptionBudget.minAvailable: Invalid value"},
		"BudgetBoth":    {reason: "Kubernetes rejects both fields together", input: `{podDisruptionBudget: {minAvailable: 1, maxUnavailable: 1}}`, want: "input.podDisruptionBudget.minAvailable: Forbidden: set maxUnavailable or minAvailable, not both"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.name == "" {
				tc.name = "sample"
			}
			got := invalidWith(t, tc.name, tc.host, tc.input)
			if tc.want == "" && len(got) > 0 || tc.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], tc.want)) {
				t.Errorf("\n%s\nvalidate(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

func TestPublicURL(t *testing.T) {
	cases := map[string]struct {
		reason, host, input, want string
	}{
		"Inside":     {reason: "By default the address is inside the cluster", input: `{}`, want: "http://viewer-sample.default.svc"},
		"Route":      {reason: "TLS is the default of a route", input: `{route: {host: "{name}.{namespace}.example.com"}}`, want: "https://sample.default.example.com"},
		"PlainRoute": {reason: "The Input sets the scheme", input: `{route: {host: example.com, scheme: http}}`, want: "http://example.com"},
		"Ingress":    {reason: "An Ingress without tls uses HTTP", input: `{ingress: {host: example.com}}`, want: "http://example.com"},
		"TLS":        {reason: "An Ingress with tls uses HTTPS", input: `{ingress: {host: example.com, tls: {}}}`, want: "https://example.com"},
		"Chosen":     {reason: "The MarkdownView sets the host", host: "a.example.com", input: `{ingress: {host: example.com}}`, want: "http://a.example.com"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := settledView()
			v.Spec.Host, v.input = tc.host, *decoded[v1beta1.Input](t, tc.input)
			if got := urlOf(v, service(v).Spec.Ports); got != tc.want {
				t.Errorf("\n%s\nurlOf(): want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}

func TestRouteReady(t *testing.T) {
	const yes = `{type: Accepted, status: "True", observedGeneration: 2}`
	cases := map[string]struct {
		reason   string
		observed string
		want     bool
		why      string
	}{
		"Absent":     {reason: "There is no route yet"},
		"Unreported": {reason: "No controller has reported", observed: `{metadata: {generation: 2}}`},
		"Accepted":   {reason: "Both Gateways accept the route", observed: `{metadata: {generation: 2}, status: {parents: [{parentRef: {name: a, namespace: default}, conditions: [` + yes + `]}, {parentRef: {name: b, namespace: infra, sectionName: https}, conditions: [` + yes + `]}]}}`, want: true},
		"Deleted":    {reason: "The route is being deleted", observed: `{metadata: {generation: 2, deletionTimestamp: "2026-01-02T03:04:05Z"}, status: {parents: [{parentRef: {name: a}, conditions: [` + yes + `]}, {parentRef: {name: b, namespace: infra, sectionName: https}, conditions: [` + yes + `]}]}}`},
		"One":        {reason: "One Gateway has not reported", observed: `{metadata: {generation: 2}, status: {parents: [{parentRef: {name: a}, conditions: [` + yes + `]}]}}`},
		"Other":      {reason: "The report is about another listener", observed: `{metadata: {generation: 2}, status: {parents: [{parentRef: {name: a}, conditions: [` + yes + `]}, {parentRef: {name: b, namespace: infra}, conditions: [` + yes + `]}]}}`},
		"Old":        {reason: "The report is about an earlier generation of the route", observed: `{metadata: {generation: 3}, status: {parents: [{parentRef: {name: a}, conditions: [` + yes + `]}, {parentRef: {name: b, namespace: infra, sectionName: https}, conditions: [` + yes + `]}]}}`},
		"Rejected":   {reason: "A Gateway rejects the route", observed: `{metadata: {generation: 2}, status: {parents: [{parentRef: {name: a}, conditions: [{type: Accepted, status: "False", reason: NoMatchingListenerHostname, observedGeneration: 2}]}]}}`, why: "NoMatchingListenerHostname"},
		"Unresolved": {reason: "A Gateway cannot resolve the Service", observed: `{metadata: {generation: 2}, status: {parents: [{parentRef: {name: a}, conditions: [` + yes + `, {type: ResolvedRefs, status: "False", message: no such Service, observedGeneration: 2}]}]}}`, why: "no such Service"},
		"Conflict":   {reason: "A Gateway drops the rule, because another route has the same host", observed: `{metadata: {generation: 2}, status: {parents: [{parentRef: {name: a}, conditions: [` + yes + `, {type: PartiallyInvalid, status: "True", reason: RuleMatchPartiallyConflict, observedGeneration: 2}]}]}}`, why: "RuleMatchPartiallyConflict"},
		"Valid":      {reason: "A Gateway drops no rule", observed: `{metadata: {generation: 2}, status: {parents: [{parentRef: {name: a}, conditions: [{type: PartiallyInvalid, status: "False", observedGeneration: 2}, ` + yes + `]}, {parentRef: {name: b, namespace: infra, sectionName: https}, conditions: [` + yes + `]}]}}`, want: true},
		"Silent":     {reason: "A Gateway gives no reason", observed: `{metadata: {generation: 2}, status: {parents: [{parentRef: {name: a}, conditions: [{type: Accepted, status: "False", observedGeneration: 2}]}]}}`, why: "Accepted is False"},
		"Pending":    {reason: "A Gateway has not decided", observed: `{metadata: {generation: 2}, status: {parents: [{parentRef: {name: a}, conditions: [` + yes + `]}, {parentRef: {name: b, namespace: infra, sectionName: https}, conditions: [{type: Accepted, status: Unknown, reason: Pending, observedGeneration: 2}]}]}}`},
		"Resolved":   {reason: "A Gateway has resolved the Service, and not decided about the route", observed: `{metadata: {generation: 2}, status: {parents: [{parentRef: {name: a}, conditions: [` + yes + `]}, {parentRef: {name: b, namespace: infra, sectionName: https}, conditions: [{type: ResolvedRefs, status: "True", observedGeneration: 2}]}]}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := settledView()
			v.input = *decoded[v1beta1.Input](t, `{route: {host: a.b, parentRefs: [{name: a}, {name: b, namespace: infra, sectionName: https}]}}`)
			o := decoded[observedRoute](t, tc.observed)
			if got, why := o.ready(v), o.rejected(nil); got != tc.want || why != tc.why {
				t.Errorf("\n%s\nready(), rejected(): want %t and %q, got %t and %q", tc.reason, tc.want, tc.why, got, why)
			}
		})
	}
}

func TestIngressReady(t *testing.T) {
	cases := map[string]struct {
		reason, observed string
		want             bool
	}{
		"Absent":    {reason: "There is no Ingress yet"},
		"NoAddress": {reason: "No controller has given it an address", observed: `{metadata: {name: a}, status: {loadBalancer: {}}}`},
		"Address":   {reason: "It has an address", observed: `{status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}}`, want: true},
		"Deleted":   {reason: "It is being deleted", observed: `{metadata: {deletionTimestamp: "2026-01-02T03:04:05Z"}, status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := decoded[observedIngress](t, tc.observed).ready(); got != tc.want {
				t.Errorf("\n%s\nready(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestBudgetReady(t *testing.T) {
	cases := map[string]struct {
		reason, observed string
		want             bool
	}{
		"Absent":   {reason: "There is no budget yet"},
		"Created":  {reason: "The controller has not observed it", observed: `{metadata: {generation: 1}}`},
		"NoNumber": {reason: "Nobody has observed a budget without a generation", observed: `{metadata: {name: a}}`},
		"Observed": {reason: "The controller has observed it", observed: `{metadata: {generation: 2}, status: {observedGeneration: 2}}`, want: true},
		"Changed":  {reason: "The controller has not observed the change", observed: `{metadata: {generation: 2}, status: {observedGeneration: 1}}`},
		"Deleted":  {reason: "It is being deleted", observed: `{metadata: {generation: 2, deletionTimestamp: "2026-01-02T03:04:05Z"}, status: {observedGeneration: 2}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := decoded[observedBudget](t, tc.observed).ready(); got != tc.want {
				t.Errorf("\n%s\nready(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestRoutePort checks that a route uses the port of the Service that a template has
// changed.
func TestRoutePort(t *testing.T) {
	v := settledView()
	v.input = *decoded[v1beta1.Input](t, `{route: {host: a.b, parentRefs: [{name: a}]}}`)
	v.input.Templates.Service = template(t, `{spec: {ports: [{port: 80, $patch: delete}, {port: 8080, name: http, targetPort: http}]}}`)
	d, problems := compose(v, observed{})
	if len(problems) > 0 {
		t.Fatal(messages(problems))
	}
	r, _ := publish(v, d)
	if got := r.object.(*httpRoute).Spec.Rules[0].BackendRefs[0]; got != (backendRef{"viewer-sample", 8080}) {
		t.Errorf("want port 8080, got %v", got)
	}
}

func TestBudget(t *testing.T) {
	cases := map[string]struct {
		reason   string
		replicas *int32
		observed string
		input    string
		want     string
	}{
		"None":       {reason: "The Input has no podDisruptionBudget", replicas: ptr.To[int32](3), input: `{}`},
		"One":        {reason: "A budget for one pod would allow either every eviction or none", replicas: ptr.To[int32](1), input: `{podDisruptionBudget: {}}`},
		"Default":    {reason: "By default, one pod can be unavailable", replicas: ptr.To[int32](2), input: `{podDisruptionBudget: {}}`, want: "max 1"},
		"Max":        {reason: "The Input sets maxUnavailable", replicas: ptr.To[int32](2), input: `{podDisruptionBudget: {maxUnavailable: "50%"}}`, want: "max 50%"},
		"Min":        {reason: "The Input sets minAvailable", replicas: ptr.To[int32](2), input: `{podDisruptionBudget: {minAvailable: 1}}`, want: "min 1"},
		"Autoscaled": {reason: "An autoscaler has set three replicas", observed: `{spec: {replicas: 3}}`, input: `{podDisruptionBudget: {}}`, want: "max 1"},
		"ScaledDown": {reason: "An autoscaler has set one replica", observed: `{spec: {replicas: 1}}`, input: `{podDisruptionBudget: {}}`},
		"Unknown":    {reason: "A Deployment has one replica by default", input: `{podDisruptionBudget: {}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := settledView()
			v.Spec.Replicas, v.input = tc.replicas, *decoded[v1beta1.Input](t, tc.input)
			o := observed{deployment: decoded[observedDeployment](t, tc.observed)}
			d, problems := compose(v, o)
			if len(problems) > 0 {
				t.Fatal(messages(problems))
			}
			got := ""
			if r, ok := budget(v, o, d); ok {
				spec := r.object.(*podDisruptionBudget).Spec
				if spec.MaxUnavailable != nil {
					got += "max " + spec.MaxUnavailable.String()
				}
				if spec.MinAvailable != nil {
					got += "min " + spec.MinAvailable.String()
				}
				if diff := gocmp.Diff(v.selector(), spec.Selector.MatchLabels); diff != "" {
					t.Errorf("selector of the budget: -want, +got:\n%s", diff)
				}
			}
			if got != tc.want {
				t.Errorf("\n%s\nbudget(): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
