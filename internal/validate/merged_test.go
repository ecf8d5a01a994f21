package validate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/compose"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/validate"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// invalidTemplates returns the errors of an Input, before and after its templates are merged.
func invalidTemplates(t *testing.T, input, text string) []string {
	t.Helper()
	v := viewtest.View()
	v.Spec.Markdowns["a.md"] = text
	v.Input = *viewtest.Decode[v1beta1.Input](t, input)
	problems := validate.Request(request.Request{View: v})
	if len(problems) == 0 {
		_, problems = compose.Compose(v, request.Observed{})
	}
	got := viewtest.Messages(problems)
	slices.Sort(got)

	return got
}

// TestMerged checks which errors templates have, before and after they are merged.
func TestMerged(t *testing.T) {
	deployment := func(spec string) string { return `{templates: {deployment: {spec: ` + spec + `}}}` }
	pod := func(spec string) string { return deployment(`{template: {spec: ` + spec + `}}`) }
	static := func(spec string) string { return strings.Replace(pod(spec), "{", "{server: {}, ", 1) }
	const (
		inDeployment = "input.templates.deployment.spec."
		inPod        = inDeployment + "template.spec."
		strategy     = inDeployment + "strategy: Required value: set type to Recreate, or to RollingUpdate with maxSurge and maxUnavailable"
		noPort       = "ports: Required value: keep the port named http: the Service needs it"
		route        = "route: {host: a.b, parentRefs: [{name: a}]}"
	)
	cases := map[string]struct {
		reason, input string
		// want has the beginning of each error.
		want []string
	}{
		"Unmerged": {
			reason: "Errors of one template hide none of another",
			input: `{` + route + `, podDisruptionBudget: {}, templates: {httpRoute: {spec: {rules: [{timeout: 10s, filters: [{type: 1}]}]}}, ingress: {text: a},
				podDisruptionBudget: {spec: {$patch: merge}}, configMap: {text: a}, deployment: {text: a}, service: {text: a}}}`,
			want: []string{
				"input.templates.configMap.text: Forbidden: unknown field",
				"input.templates.deployment.text: Forbidden: unknown field",
				"input.templates.httpRoute.spec.rules[0].filters[0].type: Invalid value: must be a string",
				"input.templates.httpRoute.spec.rules[0].timeout: Forbidden: unknown field: use one of backendRefs, filters, matches, name, timeouts",
				"input.templates.ingress.text: Forbidden: unknown field", "input.templates.ingress: Forbidden: set input.ingress, or remove the template: it has no effect",
				`input.templates.podDisruptionBudget.spec.$patch: Unsupported value: supported values: "replace", "delete"`,
				"input.templates.service.text: Forbidden: unknown field",
			},
		},
		"NoEffect": {reason: "The Input has no such resource", input: `{templates: {httpRoute: {}, podDisruptionBudget: {}}}`, want: []string{
			"input.templates.httpRoute: Forbidden: set input.route, or remove the template", "input.templates.podDisruptionBudget: Forbidden: set input.podDisruptionBudget, or",
		}},
		"Files": {
			reason: "A key of a ConfigMap has no folders and is in one of both maps, and a template cannot change a file of the MarkdownView",
			input:  `{templates: {configMap: {data: {SUMMARY.md: mine, a/b.md: text, x.txt: text}, binaryData: {x.txt: dGV4dA==}}}}`,
			want: []string{
				"input.templates.configMap.binaryData[x.txt]: Duplicate value",
				"input.templates.configMap.data[SUMMARY.md]: Forbidden: rename this file or that of the MarkdownView: they have the same name",
				"input.templates.configMap.data[a/b.md]: Invalid value: a valid config key must consist of ",
			},
		},
		"Labels": {
			reason: "Labels of all objects are checked",
			input: `{` + route + `, podDisruptionBudget: {}, templates: {configMap: {metadata: {labels: {a b: c}}}, service: {metadata: {labels: {a b: c}}}, httpRoute: {metadata: {labels: {a b: c}}},
				podDisruptionBudget: {metadata: {labels: {a b: c}}}, deployment: {metadata: {labels: {a b: c}}, spec: {template: {metadata: {labels: {a b: c}}}}}}}`,
			want: []string{
				"input.templates.configMap.metadata.labels: Invalid value: ", "input.templates.deployment.metadata.labels: Invalid value: ", inDeployment + "template.metadata.labels: Invalid value: ",
				"input.templates.httpRoute.metadata.labels: Invalid value: ", "input.templates.podDisruptionBudget.metadata.labels: Invalid value: ", "input.templates.service.metadata.labels: Invalid value: ",
			},
		},
		"Ingress":  {reason: "Annotations are checked", input: `{ingress: {host: a.b}, templates: {ingress: {metadata: {annotations: {a b: c}}}}}`, want: []string{"input.templates.ingress.metadata.annotations: Invalid value: "}},
		"Revision": {reason: "The annotations of pods leave room for the revision", input: deployment(`{template: {metadata: {annotations: {a: ` + strings.Repeat("x", 256<<10-1) + `}}}}`), want: []string{inDeployment + "template.metadata.annotations: Too long"}},
		"Rules":    {reason: "A route needs a rule", input: `{` + route + `, templates: {httpRoute: {spec: {rules: null}}}}`, want: []string{"input.templates.httpRoute.spec.rules: Required value: keep a rule: a template cannot remove all of them"}},
		"Budget":   {reason: "Kubernetes rejects both fields together", input: `{podDisruptionBudget: {}, templates: {podDisruptionBudget: {spec: {minAvailable: 1}}}}`, want: []string{"input.templates.podDisruptionBudget.spec.minAvailable: Forbidden: set maxUnavailable or minAvailable, not both"}},
		"NoPorts":  {reason: "A Service needs a port", input: `{templates: {service: {spec: {ports: null}}}}`, want: []string{"input.templates.service.spec.ports: Required value: keep a port: a template cannot remove all of them"}},
		"TwoPorts": {reason: "Ports are merged by their number", input: `{templates: {service: {spec: {ports: [{name: http, port: 8080}]}}}}`, want: []string{`input.templates.service.spec.ports: Forbidden: to replace the default port, remove it with {port: 80, $patch: delete}: ports are merged by number`}},
		"Replicas": {reason: "The API server rejects a negative number", input: deployment(`{replicas: -1}`), want: []string{inDeployment + "replicas: Invalid value: -1: must not be negative"}},
		"Limit":    {reason: "A limit must not be below the request of the MarkdownView", input: pod(`{containers: [{name: mdbook, resources: {limits: {memory: 32Mi}}}]}`), want: []string{inPod + `containers[mdbook].resources.requests[memory]: Invalid value: "64Mi": must not be above the limit 32Mi`}},
		"Volume":   {reason: "A volume that is mounted must exist", input: pod(`{volumes: [{name: markdowns, $patch: delete}]}`), want: []string{inPod + `containers[mdbook].volumeMounts[0].name: Not found: "markdowns"`}},
		"Port": {reason: "The probes and the Service name the port", input: pod(`{containers: [{name: mdbook, ports: [{containerPort: 3000, $patch: delete}]}]}`), want: []string{
			inPod + `containers[mdbook].livenessProbe: Not found: "port http"`, inPod + "containers[mdbook]." + noPort,
			inPod + `containers[mdbook].readinessProbe: Not found: "port http"`, inPod + `containers[mdbook].startupProbe: Not found: "port http"`,
		}},
		"NumberedPort": {reason: "A probe can have the number of a port, or a command", input: pod(`{containers: [{name: a, image: a, startupProbe: {tcpSocket: {port: 80}}, livenessProbe: {httpGet: {port: 80}}, readinessProbe: {exec: {command: [a]}}}]}`)},
		"SameName":     {reason: "Two containers cannot have the same name", input: pod(`{initContainers: [{name: mdbook, image: a}]}`), want: []string{inPod + "containers[mdbook]: Duplicate value"}},
		"NoImage":      {reason: "mdBook needs an image", input: pod(`{containers: [{name: mdbook, image: null}]}`), want: []string{inPod + "containers: Required value: keep the container mdbook and its image: a template cannot remove them"}},
		"NoServer":     {reason: "The pod needs the web server", input: static(`{containers: [{name: server, $patch: delete}, {name: x, image: a}]}`), want: []string{inPod + "containers: Required value: keep the container server and its image: a template cannot remove them"}},
		"NoBuilder":    {reason: "The pod needs mdBook", input: static(`{initContainers: [{name: mdbook, $patch: delete}]}`), want: []string{inPod + "initContainers: Required value: keep the container mdbook and its image: a template cannot remove them"}},
		"NoConfig":     {reason: "nginx mounts its configuration", input: static(`{volumes: [{name: nginx, $patch: delete}]}`), want: []string{inPod + `containers[server].volumeMounts[2].name: Not found: "nginx"`}},
		"Misplaced": {reason: "With a web server, mdBook runs in an init container", input: static(`{containers: [{name: mdbook, env: [{name: A, value: b}]}]}`), want: []string{
			inPod + "containers[mdbook]: Duplicate value", inPod + "containers[mdbook]: Forbidden: move this to initContainers: with input.server, mdBook runs in an init container",
		}},
		"NoServerPort": {
			reason: "The Service needs the port of the web server",
			input:  static(`{containers: [{name: server, ports: [{containerPort: 8080, $patch: delete}], startupProbe: null, readinessProbe: null, livenessProbe: null}]}`),
			want:   []string{inPod + "containers[server]." + noPort},
		},
	}
	// Kubernetes would set the missing fields, and reject them together with a later Recreate.
	for _, spec := range []string{"null", "{type: null}", "{type: A}", "{rollingUpdate: null}", "{rollingUpdate: {maxSurge: null}}", "{rollingUpdate: {maxUnavailable: null}}"} {
		tc := cases["Rules"]
		tc.reason = "Kubernetes would set the missing fields"
		tc.input, tc.want = deployment(`{strategy: `+spec+`}`), []string{strategy}
		cases["Strategy"+spec] = tc
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := invalidTemplates(t, tc.input, ""); !slices.EqualFunc(got, tc.want, strings.HasPrefix) {
				t.Errorf("\n%s\nerrors: -want, +got:\n%s", tc.reason, cmp.Diff(tc.want, got))
			}
		})
	}
}

// TestExtraSize checks how large the files are that a template adds.
func TestExtraSize(t *testing.T) {
	const half, more = 1 << 19, "input.templates.configMap: Forbidden: shorten or remove files: together with those of the MarkdownView they have more than 1 MiB"
	text := strings.Repeat("a", half-len("- [A](a.md)"))
	for binary, want := range map[string][]string{"AQ==": nil, "AQI=": {more}} {
		if diff := cmp.Diff(want, invalidTemplates(t, `{templates: {configMap: {data: {a.txt: `+strings.Repeat("a", half-1)+`}, binaryData: {b.png: `+binary+`}}}}`, text)); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", binary, diff)
		}
	}
}
