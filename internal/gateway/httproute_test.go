package gateway

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestServe(t *testing.T) {
	ours := Rule{Matches: []Match{{Path: &PathMatch{Type: "PathPrefix", Value: "/book"}}}, BackendRefs: []Backend{{Name: "viewer", Port: 80}}}
	old := []Match{{Path: &PathMatch{Type: "PathPrefix", Value: "/old"}}}
	other := Backend{Name: "other", Port: 8080}
	redirect := Rule{Matches: old, Filters: []Filter{{Type: "RequestRedirect", RequestRedirect: &Redirect{Scheme: "https"}}}}
	header := Filter{Type: "ResponseHeaderModifier", ResponseHeaderModifier: &HeaderFilter{Remove: []string{"Server"}}}
	r := HTTPRoute{Spec: Spec{Rules: []Rule{{}, {BackendRefs: []Backend{other}}, redirect, {Filters: []Filter{header}}}}}
	r.Serve(ours)
	want := []Rule{ours, {Matches: ours.Matches, BackendRefs: []Backend{other}}, redirect, {Matches: ours.Matches, Filters: []Filter{header}, BackendRefs: ours.BackendRefs}}
	if diff := cmp.Diff(want, r.Spec.Rules); diff != "" {
		t.Errorf("Rules get what they lack: -want, +got:\n%s", diff)
	}
}
