package compose

import (
	"testing"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
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
	r, _ := publish(v, d)
	if got := r.Object.(*HTTPRoute).Spec.Rules[0].BackendRefs[0]; got != (backendRef{"viewer-sample", 8080}) {
		t.Errorf("want port 8080, got %v", got)
	}
}
