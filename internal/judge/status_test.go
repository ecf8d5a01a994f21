package judge

import (
	"testing"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/compose"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

func TestURL(t *testing.T) {
	cases := map[string]struct {
		reason  string
		service string
		want    string
	}{
		"None":  {reason: "Port 80 is omitted from the URL", service: `{}`, want: "http://viewer-sample.default.svc"},
		"Port":  {reason: "Another port is part of the URL", service: `{spec: {ports: [{$patch: replace}, {name: http, port: 8080, targetPort: http}]}}`, want: "http://viewer-sample.default.svc:8080"},
		"Other": {reason: "The port named http serves the book", service: `{spec: {ports: [{name: metrics, port: 9090}]}}`, want: "http://viewer-sample.default.svc"},
		"First": {reason: "Without a port named http, the first port serves the book", service: `{spec: {ports: [{$patch: replace}, {name: web, port: 81}, {name: more, port: 82}]}}`, want: "http://viewer-sample.default.svc:81"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Input.Templates.Service = viewtest.Template(t, tc.service)
			composed, problems := compose.Compose(v, request.Observed{})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if got := URLOf(v, composed.Service.Spec.Ports); got != tc.want {
				t.Errorf("\n%s\nurlOf(...): got %q, want %q", tc.reason, got, tc.want)
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
		"Path":       {reason: "The host has many books", input: `{server: {}, route: {host: example.com, path: "/{namespace}/{name}/"}}`, want: "https://example.com/default/sample/"},
		"PathToo":    {reason: "An Ingress has paths, too", input: `{server: {}, ingress: {host: example.com, path: "/{name}/{namespace}/"}}`, want: "http://example.com/sample/default/"},
		"Chosen":     {reason: "The MarkdownView sets the host", host: "a.example.com", input: `{ingress: {host: example.com}}`, want: "http://a.example.com"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Spec.Host, v.Input = tc.host, *viewtest.Decode[v1beta1.Input](t, tc.input)
			if got := URLOf(v, compose.Service(v).Spec.Ports); got != tc.want {
				t.Errorf("\n%s\nurlOf(): want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}
