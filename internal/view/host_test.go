package view_test

import (
	"testing"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

func TestPublicURL(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, host, input, want string
	}{
		"Route":      {"TLS is the default of a route", "", `{route: {host: "{name}.{namespace}.a"}}`, "https://sample.default.a"},
		"PlainRoute": {"The Input sets the scheme", "", `{route: {host: a.b, scheme: http}}`, "http://a.b"},
		"Ingress":    {"An Ingress without tls uses HTTP", "", `{ingress: {host: a.b}}`, "http://a.b"},
		"TLS":        {"An Ingress with tls uses HTTPS", "", `{ingress: {host: a.b, tls: {}}}`, "https://a.b"},
		"Path":       {"The host has many books", "", `{route: {host: a.b, path: "/{namespace}/{name}/"}}`, "https://a.b/default/sample/"},
		"PathToo":    {"An Ingress has paths, too", "", `{ingress: {host: a.b, path: "/{name}/"}}`, "http://a.b/sample/"},
		"Chosen":     {"The MarkdownView sets the host", "c.d", `{ingress: {host: a.b}}`, "http://c.d"},
	} {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Spec.Host, v.Input = tc.host, *viewtest.Decode[v1beta1.Input](t, tc.input)
			if got := v.PublicURL(); got != tc.want {
				t.Errorf("\n%s\nPublicURL(): want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
	v := viewtest.View()
	if v.Spec.Host = "a.b"; v.Host() != "" || v.Path() != "/" {
		t.Errorf("A book is not public unless the Input makes it public: got %q and %q", v.Host(), v.Path())
	}
}
