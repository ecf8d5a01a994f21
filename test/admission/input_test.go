package admission_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// TestInput checks which Inputs the CRD of the Input rejects. The API server does not
// validate an Input in a Composition; tools such as "crossplane resource validate" do.
func TestInput(t *testing.T) {
	a, err := serveCRD(read[extv1.CustomResourceDefinition](t, inputCRD))
	must(t, err)
	const overlap = `route.parentRefs: Invalid value: remove one of two entries that name the same Gateway, or give both a sectionName of their own`
	themeFiles := []string{
		"ayu-highlight.css", "book.js", "clipboard.min.js", "css/chrome.css", "css/general.css", "css/print.css", "css/variables.css", "favicon.svg", "fonts/fonts.css",
		"head.hbs", "header.hbs", "highlight.css", "highlight.js", "index.hbs", "redirect.hbs", "toc.html.hbs", "toc.js.hbs", "tomorrow-night.css",
	}
	cases := map[string]struct {
		reason, input string
		want          []string
	}{
		"Numbers":     {reason: "Budgets are numbers of pods.", input: `podDisruptionBudget: {maxUnavailable: 2, minAvailable: 0}`},
		"Percentages": {reason: "Budgets are percentages.", input: `podDisruptionBudget: {maxUnavailable: "100%", minAvailable: "0%"}`},
		"Budget": {
			reason: "A budget is at most 100%.", input: `podDisruptionBudget: {maxUnavailable: "150%"}`,
			want: []string{`podDisruptionBudget.maxUnavailable: Invalid value: "150%": podDisruptionBudget.maxUnavailable in body should match '^0*(100|[0-9]{1,2})%$'`},
		},
		"Parents": {
			reason: "Gateways differ in name or namespace, or in the sections of one Gateway.",
			input:  `route: {host: a.b, parentRefs: [{name: a}, {name: b}, {name: a, namespace: c}, {name: d, sectionName: e}, {name: d, sectionName: f}]}`,
		},
		"NoSection": {reason: "One of two entries has no sectionName.", input: `route: {host: a.b, parentRefs: [{name: a}, {name: a, sectionName: b}]}`, want: []string{overlap}},
		"Ports":     {reason: "Gateway API does not tell parents apart by port.", input: `route: {host: a.b, parentRefs: [{name: a, port: 80}, {name: a, port: 443}]}`, want: []string{overlap}},
		"Path": {
			reason: "A path has placeholders.",
			input:  "server: {}\nroute: {path: \"/docs/{namespace}/{name}/\", parentRefs: [{name: a}]}\ningress: {path: \"/{name}/\"}",
		},
		"PathAlone": {
			reason: "mdBook serves a book only at /.", input: `ingress: {path: "/{name}/"}`,
			want: []string{`<nil>: Invalid value: set server, or remove path: mdbook serve serves a book only at /`},
		},
		"PathNoName": {
			reason: "Two books would have the same path.", input: "server: {}\ningress: {path: \"/{namespace}/\"}",
			want: []string{`ingress.path: Invalid value: "/{namespace}/": must have {name} once, and {namespace} at most once`},
		},
		"PathJoined": {
			reason: "Two books could have the same path.", input: "server: {}\ningress: {path: \"/{namespace}-{name}/\"}",
			want: []string{`ingress.path: Invalid value: "/{namespace}-{name}/": ingress.path in body should match '^/(([A-Za-z0-9][A-Za-z0-9._~-]*|\{name\}|\{namespace\})/)+$'`},
		},
		"Theme": {
			reason: "mdBook reads certain files.", input: `theme: {css/custom.css: "", head.hbs: ""}`,
			want: []string{`theme: Invalid value: use only the names of text files that mdBook reads from a theme, such as head.hbs`},
		},
		"AllOfTheme": {
			reason: "All files that mdBook reads.",
			input:  "theme: {" + strings.Join(themeFiles, `: "", `) + `: ""}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := map[string]any{}
			const header = "apiVersion: markdownview.fn.crossplane.io/v1beta1\nkind: Input\nmetadata: {name: input, namespace: default}\n"
			must(t, yaml.Unmarshal([]byte(header+tc.input), &in))
			_, got := a.create(t, in)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nerrors of the Input: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
