package compose

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// TestPublished checks the last composed resource with a template. The golden responses have
// those without one.
func TestPublished(t *testing.T) {
	for name, tc := range map[string]struct{ reason, input, want string }{
		"Filter": {
			reason: "A rule of a template gets the Service, with a port that a template has changed, and a redirect does not",
			input: `{route: {host: a.b, parentRefs: [{name: a}]}, templates: {
				service: {spec: {ports: [{port: 80, $patch: delete}, {port: 8080, name: http, targetPort: http}]}},
				httpRoute: {metadata: {labels: {a: b}}, spec: {rules: [
				{filters: [{type: ExtensionRef, extensionRef: {group: traefik.io, kind: Middleware, name: login}}], timeouts: {request: 10s}},
				{matches: [{path: {value: /old}}], filters: [{type: RequestRedirect, requestRedirect: {hostname: c.d}}]}]}}}}`,
			want: `{"parentRefs":[{"name":"a"}],"hostnames":["a.b"],"rules":[` +
				`{"filters":[{"type":"ExtensionRef","extensionRef":{"group":"traefik.io","kind":"Middleware","name":"login"}}],"backendRefs":[{"name":"viewer-sample","port":8080}],"timeouts":{"request":"10s"}},` +
				`{"matches":[{"path":{"value":"/old"}}],"filters":[{"type":"RequestRedirect","requestRedirect":{"hostname":"c.d"}}]}]}`,
		},
		"Ingress": {
			reason: "A template changes the class of an Ingress, which keeps its path",
			input:  `{ingress: {host: a.b, path: /c/, className: c}, templates: {ingress: {spec: {ingressClassName: d}}, service: {spec: {ports: [{port: 80, $patch: delete}, {port: 8080}]}}}}`,
			want: `{"ingressClassName":"d","rules":[{"host":"a.b","http":{"paths":[` +
				`{"path":"/c","pathType":"Prefix","backend":{"service":{"name":"viewer-sample","port":{"number":8080}}}}]}}]}`,
		},
		"Budget": {
			reason: "A template replaces the default",
			input:  `{podDisruptionBudget: {}, templates: {podDisruptionBudget: {spec: {maxUnavailable: null, minAvailable: 1}}}}`,
			want: `{"minAvailable":1,"selector":{"matchLabels":{"app.kubernetes.io/created-by":"function-markdownview","app.kubernetes.io/instance":"sample",` +
				`"app.kubernetes.io/name":"mdbook"}},"unhealthyPodEvictionPolicy":"AlwaysAllow"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := viewtest.With(t, tc.input)
			d := composed(t, v, request.Observed{})
			b, err := json.Marshal(d.Resources[len(d.Resources)-1].Object)
			if err != nil {
				t.Fatal(err)
			}
			var got struct{ Spec json.RawMessage }
			if err := json.Unmarshal(b, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got.Spec)); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
