package gateway

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestServe(t *testing.T) {
	ours := Backend{Name: "viewer", Port: 80}
	other := Backend{Name: "other", Port: 8080}
	redirect := Rule{Filters: []Filter{{Type: "RequestRedirect", RequestRedirect: &Redirect{Scheme: "https"}}}}
	header := Filter{Type: "ResponseHeaderModifier", ResponseHeaderModifier: &HeaderFilter{Remove: []string{"Server"}}}
	r := HTTPRoute{Spec: Spec{Rules: []Rule{{}, {BackendRefs: []Backend{other}}, redirect, {Filters: []Filter{header}}}}}
	r.Serve(ours)
	want := []Rule{{BackendRefs: []Backend{ours}}, {BackendRefs: []Backend{other}}, redirect, {Filters: []Filter{header}, BackendRefs: []Backend{ours}}}
	if diff := cmp.Diff(want, r.Spec.Rules); diff != "" {
		t.Errorf("Only a rule that needs a backend gets ours: -want, +got:\n%s", diff)
	}
}
