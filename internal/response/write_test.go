package response

import (
	"slices"
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/crossplane-contrib/function-markdownview/internal/judge"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// TestWrite checks responses without desired resources of ours. The golden files of package
// fn have the others.
func TestWrite(t *testing.T) {
	desired := &fnv1.State{Resources: map[string]*fnv1.Resource{"other": viewtest.Resource(t, `{kind: Other}`)}}
	read, err := request.Read(viewtest.Encode(t, &fnv1.RunFunctionRequest{
		Meta: &fnv1.RequestMeta{Tag: "tag", Capabilities: []fnv1.Capability{fnv1.Capability_CAPABILITY_REQUIRED_SCHEMAS}},
		Observed: &fnv1.State{Composite: viewtest.Resource(t, `{apiVersion: example.com/v1, kind: Handbook,
			metadata: {name: x, namespace: books}, spec: {markdownsFrom: [{configMap: {name: b}}, {configMap: {name: a}}]}}`)},
		Desired: desired,
		Context: viewtest.Object(t, `{a: b}`),
	}))
	if err != nil {
		t.Fatal(err)
	}
	target := fnv1.Target_TARGET_COMPOSITE_AND_CLAIM
	selector := func(name string) *fnv1.ResourceSelector {
		namespace := "books"

		return &fnv1.ResourceSelector{ApiVersion: "v1", Kind: "ConfigMap", Namespace: &namespace, Match: &fnv1.ResourceSelector_MatchName{MatchName: name}}
	}
	for name, tc := range map[string]struct {
		reason  string
		verdict judge.Verdict
		want    *fnv1.RunFunctionResponse
		results []report.Result
	}{
		"Waiting": {
			reason:  "The response requires the ConfigMaps, and passes on what others desire",
			verdict: judge.Verdict{TTL: 90*time.Second + time.Millisecond, Conditions: []report.Condition{{Type: "A", Status: report.Unknown, Reason: "B", Message: "c"}}},
			want: &fnv1.RunFunctionResponse{
				Meta: &fnv1.ResponseMeta{Tag: "tag", Ttl: durationpb.New(90*time.Second + time.Millisecond)}, Desired: desired, Context: viewtest.Object(t, `{a: b}`),
				Conditions: []*fnv1.Condition{{Type: "A", Status: fnv1.Status_STATUS_CONDITION_UNKNOWN, Reason: "B", Message: proto.String("c"), Target: &target}},
				Requirements: &fnv1.Requirements{
					Schemas:   map[string]*fnv1.SchemaSelector{"xr": {ApiVersion: "example.com/v1", Kind: "Handbook"}},
					Resources: map[string]*fnv1.ResourceSelector{"configmap/a": selector("a"), "configmap/b": selector("b")},
				},
			},
		},
		"Fatal": {
			reason:  "A fatal response requires nothing",
			verdict: judge.Verdict{Events: []judge.Event{{Severity: judge.SeverityFatal, Reason: "R", Message: "m"}, {Severity: judge.SeverityNormal, Reason: "N", Message: "n"}}},
			want: &fnv1.RunFunctionResponse{
				Meta: &fnv1.ResponseMeta{Tag: "tag", Ttl: &durationpb.Duration{}}, Desired: desired, Context: viewtest.Object(t, `{a: b}`),
				Results: []*fnv1.Result{
					{Severity: fnv1.Severity_SEVERITY_FATAL, Reason: proto.String("R"), Message: "m", Target: &target},
					{Severity: fnv1.Severity_SEVERITY_NORMAL, Reason: proto.String("N"), Message: "n", Target: &target},
				},
			},
			results: []report.Result{{Severity: "normal", Reason: "N"}, {Severity: "fatal", Reason: "R"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			rsp := Write(read, nil, tc.verdict)
			got := &fnv1.RunFunctionResponse{}
			if err := proto.Unmarshal(slices.Concat(rsp.Parts...), got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, protocmp.Transform()); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.results, rsp.Results); diff != "" {
				t.Errorf("results for metrics: -want, +got:\n%s", diff)
			}
			if size := proto.Size(tc.want); rsp.Size() != size {
				t.Errorf("want %d bytes, got %d", size, rsp.Size())
			}
		})
	}
}
