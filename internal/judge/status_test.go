package judge

import (
	"testing"

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
