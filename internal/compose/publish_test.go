package compose

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/gateway"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// TestRoutePort checks that a route uses the port of the Service that a template has
// changed.
func TestRoutePort(t *testing.T) {
	v := viewtest.View()
	v.Input = *viewtest.Decode[v1beta1.Input](t, `{route: {host: a.b, parentRefs: [{name: a}]}}`)
	v.Input.Templates.Service = viewtest.Template(t, `{spec: {ports: [{port: 80, $patch: delete}, {port: 8080, name: http, targetPort: http}]}}`)
	d, problems := Compose(v, request.Observed{})
	if len(problems) > 0 {
		t.Fatal(viewtest.Messages(problems))
	}
	got := d.Resources[len(d.Resources)-1].Object.(*gateway.HTTPRoute).Spec.Rules
	if diff := cmp.Diff([]gateway.Rule{{BackendRefs: []gateway.Backend{{Name: "viewer-sample", Port: 8080}}}}, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestOptionalTemplates checks the templates of the resources that the Input adds.
func TestOptionalTemplates(t *testing.T) {
	const (
		route  = `route: {host: a.b, parentRefs: [{name: a}]}`
		budget = `podDisruptionBudget: {}`
	)
	cases := map[string]struct {
		reason, input string
		want          map[string]string
		errors        []string
	}{
		"Filter": {
			reason: "A rule of a template gets the Service, and a redirect does not",
			input: `{` + route + `, templates: {httpRoute: {metadata: {labels: {a: b}}, spec: {rules: [
				{filters: [{type: ExtensionRef, extensionRef: {group: traefik.io, kind: Middleware, name: login}}], timeouts: {request: 10s}},
				{matches: [{path: {value: /old}}], filters: [{type: RequestRedirect, requestRedirect: {hostname: c.d}}]}]}}}}`,
			want: map[string]string{"httproute": `{"parentRefs":[{"name":"a"}],"hostnames":["a.b"],"rules":[` +
				`{"filters":[{"type":"ExtensionRef","extensionRef":{"group":"traefik.io","kind":"Middleware","name":"login"}}],"backendRefs":[{"name":"viewer-sample","port":80}],"timeouts":{"request":"10s"}},` +
				`{"matches":[{"path":{"value":"/old"}}],"filters":[{"type":"RequestRedirect","requestRedirect":{"hostname":"c.d"}}]}]}`},
		},
		"Ingress": {
			reason: "A template changes the class of an Ingress",
			input:  `{ingress: {host: a.b, className: c}, templates: {ingress: {spec: {ingressClassName: d}}}}`,
			want: map[string]string{"ingress": `{"ingressClassName":"d","rules":[{"host":"a.b","http":{"paths":[` +
				`{"path":"/","pathType":"Prefix","backend":{"service":{"name":"viewer-sample","port":{"number":80}}}}]}}]}`},
		},
		"Budget": {
			reason: "A template replaces the default",
			input:  `{` + budget + `, templates: {podDisruptionBudget: {spec: {maxUnavailable: null, minAvailable: 1}}}}`,
			want: map[string]string{"poddisruptionbudget": `{"minAvailable":1,"selector":{"matchLabels":{"app.kubernetes.io/created-by":"function-markdownview","app.kubernetes.io/instance":"sample",` +
				`"app.kubernetes.io/name":"mdbook"}},"unhealthyPodEvictionPolicy":"AlwaysAllow"}`},
		},
		"Guarded": {
			reason: "Fields that follow from the Input are named, of all templates at once",
			input:  `{` + route + `, ` + budget + `, templates: {service: {metadata: {name: a}}, httpRoute: {spec: {hostnames: [c.d], parentRefs: null}}, podDisruptionBudget: {spec: {selector: null}}}}`,
			errors: []string{
				"input.templates.service.metadata.name: Forbidden: remove it: a template cannot change this field",
				"input.templates.httpRoute.spec.parentRefs: Forbidden: remove it: a template cannot change this field",
				"input.templates.httpRoute.spec.hostnames: Forbidden: remove it: a template cannot change this field",
				"input.templates.podDisruptionBudget.spec.selector: Forbidden: remove it: a template cannot change this field",
			},
		},
		"GuardedIngress": {
			reason: "The rules and TLS of an Ingress follow from the Input", input: `{ingress: {host: a.b}, templates: {ingress: {spec: {rules: null, tls: [{secretName: a}]}}}}`,
			errors: []string{
				"input.templates.ingress.spec.rules: Forbidden: remove it: a template cannot change this field",
				"input.templates.ingress.spec.tls: Forbidden: remove it: a template cannot change this field",
			},
		},
		"Merged": {
			reason: "Errors that show after the merge", input: `{` + route + `, ` + budget + `, templates: {httpRoute: {metadata: {labels: {"a b": c}}, spec: {rules: null}}, podDisruptionBudget: {spec: {minAvailable: 1}}}}`,
			errors: []string{
				"input.templates.httpRoute.spec.rules: Required value: keep a rule: a template cannot remove all of them",
				"input.templates.podDisruptionBudget.spec.minAvailable: Forbidden: set maxUnavailable or minAvailable, not both",
				`input.templates.httpRoute.metadata.labels: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Input = *viewtest.Decode[v1beta1.Input](t, tc.input)
			d, problems := Compose(v, request.Observed{})
			if diff := cmp.Diff(tc.errors, viewtest.Messages(problems)); diff != "" {
				t.Fatalf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if d == nil {
				return
			}
			got := map[string]string{}
			for _, r := range d.Resources[3:] {
				b, err := json.Marshal(r.Object)
				if err != nil {
					t.Fatal(err)
				}
				var object struct {
					Spec json.RawMessage `json:"spec"`
				}
				if err := json.Unmarshal(b, &object); err != nil {
					t.Fatal(err)
				}
				got[r.Key] = string(object.Spec)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
