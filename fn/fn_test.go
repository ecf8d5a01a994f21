package fn

import (
	"context"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

const (
	sampleXR = `{apiVersion: markdownview.fn.crossplane.io/v1alpha1, kind: MarkdownView,
	             metadata: {name: sample, namespace: default, generation: 7},
	             spec: {replicas: 2, markdowns: {SUMMARY.md: "- [A](a.md)", a.md: ""}}`
	settledDeployment = `{metadata: {generation: 1}, spec: {replicas: 2, template: {metadata: {annotations: {markdownview.fn.crossplane.io/revision: ` + viewtest.Revision + `}}}},
	                      status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2}}`
	settledConfigMap = `{data: {SUMMARY.md: "- [A](a.md)", a.md: ""}}`
	settledService   = `{spec: {clusterIP: 10.0.0.1}}`
	settledStatus    = `{status: {conditions: [{type: Available, status: "True", reason: Available}, {type: Degraded, status: "False", reason: AsExpected}, {type: BookComplete, status: "True", reason: Complete}]}}`
)

// settledRequest returns a request for a MarkdownView whose pods all run the desired
// revision.
func settledRequest(t *testing.T) *fnv1.RunFunctionRequest {
	t.Helper()
	req := &fnv1.RunFunctionRequest{
		Meta: &fnv1.RequestMeta{Tag: "tag"},
		Observed: &fnv1.State{
			Composite: viewtest.Resource(t, sampleXR+`}`),
			Resources: map[string]*fnv1.Resource{
				"configmap":  viewtest.Resource(t, settledConfigMap),
				"deployment": viewtest.Resource(t, settledDeployment),
				"service":    viewtest.Resource(t, settledService),
			},
		},
	}
	proto.Merge(req.GetObserved().GetComposite().GetResource(), viewtest.Object(t, settledStatus))

	return req
}

func run(t *testing.T, req *fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse {
	t.Helper()
	before := proto.Clone(req)
	rsp, err := New(logging.NewNopLogger(), 0).RunFunction(context.Background(), req)
	if err != nil {
		t.Fatalf("An error of the MarkdownView is a result, not a gRPC error: %v", err)
	}
	if diff := cmp.Diff(before, req, protocmp.Transform()); diff != "" {
		t.Fatalf("The function modified the request: -before, +after:\n%s", diff)
	}

	return rsp
}

func conditionProto(kind string, status fnv1.Status, reason, message string) *fnv1.Condition {
	return &fnv1.Condition{Type: kind, Status: status, Reason: reason, Message: &message, Target: fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum()}
}

// TestRunFunction checks everything except the desired resources, which the golden
// responses show.
func TestRunFunction(t *testing.T) {
	const (
		yes = fnv1.Status_STATUS_CONDITION_TRUE
		no  = fnv1.Status_STATUS_CONDITION_FALSE
	)
	available := conditionProto("Available", yes, "Available", "The book is served")
	asExpected := conditionProto("Degraded", no, "AsExpected", "No errors found")
	complete := conditionProto("BookComplete", yes, "Complete", "No problems found in the book")
	const selector = `app.kubernetes.io/created-by=function-markdownview,app.kubernetes.io/instance=sample,app.kubernetes.io/name=mdbook`

	type want struct {
		ready      map[string]fnv1.Ready
		status     string
		conditions []*fnv1.Condition
		results    []*fnv1.Result
		ttl        time.Duration
	}

	cases := map[string]struct {
		reason string
		change func(req *fnv1.RunFunctionRequest)
		want   want
	}{
		"Settled": {
			reason: "There is no event when everything is as requested",
			change: func(*fnv1.RunFunctionRequest) {},
			want: want{
				ready:      map[string]fnv1.Ready{"configmap": fnv1.Ready_READY_TRUE, "deployment": fnv1.Ready_READY_TRUE, "service": fnv1.Ready_READY_TRUE},
				status:     `{status: Healthy, replicas: 2, readyReplicas: 2, observedGeneration: 7, url: http://viewer-sample.default.svc, selector: "` + selector + `"}`,
				conditions: []*fnv1.Condition{available, asExpected, complete},
			},
		},
		"First": {
			reason: "The first response has every status field and the readiness of every resource",
			change: func(req *fnv1.RunFunctionRequest) {
				req.Observed.Resources = nil
				req.Observed.Composite = viewtest.Resource(t, sampleXR+`}`)
			},
			want: want{
				ready:      map[string]fnv1.Ready{"configmap": fnv1.Ready_READY_FALSE, "deployment": fnv1.Ready_READY_FALSE, "service": fnv1.Ready_READY_FALSE},
				status:     `{status: NotReady, replicas: 0, readyReplicas: 0, observedGeneration: 7, url: http://viewer-sample.default.svc, selector: "` + selector + `"}`,
				conditions: []*fnv1.Condition{conditionProto("Available", no, "Creating", "The book is not served yet: no pod is available"), asExpected, complete},
			},
		},
		"BecameAvailable": {
			reason: "An event reports that the book is served for the first time",
			change: func(req *fnv1.RunFunctionRequest) {
				req.Observed.Composite = viewtest.Resource(t, sampleXR+`, status: {conditions: [{type: Available, status: "False", reason: Creating}]}}`)
			},
			want: want{
				ready:      map[string]fnv1.Ready{"configmap": fnv1.Ready_READY_TRUE, "deployment": fnv1.Ready_READY_TRUE, "service": fnv1.Ready_READY_TRUE},
				status:     `{status: Healthy, replicas: 2, readyReplicas: 2, observedGeneration: 7, url: http://viewer-sample.default.svc, selector: "` + selector + `"}`,
				conditions: []*fnv1.Condition{available, asExpected, complete},
				results: []*fnv1.Result{{
					Severity: fnv1.Severity_SEVERITY_NORMAL, Reason: ptr.To("Available"), Message: "The book is served", Target: fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum(),
				}},
			},
		},
		"Changed": {
			reason: "The status is not Healthy before a change has rolled out, even if all pods are available",
			change: func(req *fnv1.RunFunctionRequest) {
				spec := req.GetObserved().GetComposite().GetResource().GetFields()["spec"].GetStructValue()
				spec.GetFields()["markdowns"].GetStructValue().Fields["SUMMARY.md"] = structpb.NewStringValue("- [B](a.md)")
			},
			want: want{
				ready:      map[string]fnv1.Ready{"configmap": fnv1.Ready_READY_TRUE, "deployment": fnv1.Ready_READY_FALSE, "service": fnv1.Ready_READY_TRUE},
				status:     `{status: Available, replicas: 2, readyReplicas: 2, observedGeneration: 7, url: http://viewer-sample.default.svc, selector: "` + selector + `"}`,
				conditions: []*fnv1.Condition{conditionProto("Available", yes, "RollingOut", "The book is served while a change rolls out"), asExpected, complete},
				ttl:        30 * time.Second,
			},
		},
		"OldContent": {
			reason: "The status is not Healthy while the ConfigMap has other content, even if pods run the desired revision",
			change: func(req *fnv1.RunFunctionRequest) {
				req.Observed.Resources["configmap"] = viewtest.Resource(t, `{data: {}}`)
			},
			want: want{
				ready:      map[string]fnv1.Ready{"configmap": fnv1.Ready_READY_FALSE, "deployment": fnv1.Ready_READY_TRUE, "service": fnv1.Ready_READY_TRUE},
				status:     `{status: Available, replicas: 2, readyReplicas: 2, observedGeneration: 7, url: http://viewer-sample.default.svc, selector: "` + selector + `"}`,
				conditions: []*fnv1.Condition{available, asExpected, complete},
			},
		},
		"ServiceGone": {
			reason: "An event reports a resource that was deleted",
			change: func(req *fnv1.RunFunctionRequest) { delete(req.GetObserved().GetResources(), "service") },
			want: want{
				ready:      map[string]fnv1.Ready{"configmap": fnv1.Ready_READY_TRUE, "deployment": fnv1.Ready_READY_TRUE, "service": fnv1.Ready_READY_FALSE},
				status:     `{status: Available, replicas: 2, readyReplicas: 2, observedGeneration: 7, url: http://viewer-sample.default.svc, selector: "` + selector + `"}`,
				conditions: []*fnv1.Condition{available, conditionProto("Degraded", yes, "Missing", "Deleted resources are created again: Service viewer-sample"), complete},
				results: []*fnv1.Result{{
					Severity: fnv1.Severity_SEVERITY_WARNING, Reason: ptr.To("Missing"), Message: "Deleted resources are created again: Service viewer-sample", Target: fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum(),
				}},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := settledRequest(t)
			tc.change(req)
			rsp := run(t, req)

			ready := map[string]fnv1.Ready{}
			for key, r := range rsp.GetDesired().GetResources() {
				ready[key] = r.GetReady()
			}
			if diff := cmp.Diff(tc.want.ready, ready); diff != "" {
				t.Errorf("\n%s\nreadiness: -want, +got:\n%s", tc.reason, diff)
			}
			composite := &fnv1.Resource{Resource: viewtest.Object(t, `{apiVersion: markdownview.fn.crossplane.io/v1alpha1, kind: MarkdownView, status: `+tc.want.status+`}`)}
			if diff := cmp.Diff(composite, rsp.GetDesired().GetComposite(), protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\ncomposite: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want.conditions, rsp.GetConditions(), protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\nconditions: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want.results, rsp.GetResults(), protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\nresults: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(&fnv1.ResponseMeta{Tag: "tag", Ttl: durationpb.New(tc.want.ttl)}, rsp.GetMeta(), protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\nmeta: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFatal(t *testing.T) {
	const why = `input.typo: Forbidden: unknown field: use one of allowedBookImages, allowedHosts, allowedImages, annotations, apiVersion, imagePullPolicy, imagePullSecrets, immutableConfigMaps, ingress, kind, labels, listenAddress, ` +
		`metadata, namespace, podDisruptionBudget, resources, route, server, service, statusFields, templates, theme, ttl, viewerImage; spec.replicas: Invalid value: 9: must be from 1 to 5`

	req := settledRequest(t)
	req.Input = viewtest.Object(t, `{typo: 1}`)
	spec := req.GetObserved().GetComposite().GetResource().GetFields()["spec"].GetStructValue()
	spec.Fields["replicas"] = structpb.NewNumberValue(9)
	req.Desired = &fnv1.State{Resources: map[string]*fnv1.Resource{"other": viewtest.Resource(t, `{kind: Other}`)}}

	want := &fnv1.RunFunctionResponse{
		Meta:    &fnv1.ResponseMeta{Tag: "tag", Ttl: durationpb.New(0)},
		Desired: req.GetDesired(),
		Conditions: []*fnv1.Condition{
			conditionProto("Available", fnv1.Status_STATUS_CONDITION_TRUE, "Available", "The book is served"),
			conditionProto("Degraded", fnv1.Status_STATUS_CONDITION_TRUE, "InvalidSpec", why),
			conditionProto("BookComplete", fnv1.Status_STATUS_CONDITION_TRUE, "Complete", "No problems found in the book"),
		},
		Results: []*fnv1.Result{{
			Severity: fnv1.Severity_SEVERITY_FATAL,
			Reason:   ptr.To("InvalidSpec"),
			Message:  `cannot compose MarkdownView "sample": ` + why,
			Target:   fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum(),
		}},
	}
	if diff := cmp.Diff(want, run(t, req), protocmp.Transform()); diff != "" {
		t.Errorf("All errors are in one fatal result, and nothing else changes: -want, +got:\n%s", diff)
	}
}

func TestOthers(t *testing.T) {
	req := settledRequest(t)
	req.Context = viewtest.Object(t, `{a: b}`)
	req.Desired = &fnv1.State{
		Composite: &fnv1.Resource{
			Resource:          viewtest.Object(t, `{apiVersion: v1, kind: Theirs, status: {theirs: 1, status: theirs}}`),
			ConnectionDetails: map[string][]byte{"secret": []byte("s")},
			Ready:             fnv1.Ready_READY_FALSE,
		},
		Resources: map[string]*fnv1.Resource{
			"other":   {Resource: viewtest.Object(t, `{kind: Other}`), ConnectionDetails: map[string][]byte{"k": []byte("v")}, Ready: fnv1.Ready_READY_TRUE},
			"service": {Resource: viewtest.Object(t, `{apiVersion: v1, kind: Service, metadata: {name: viewer-sample, labels: {before: ours}}}`)},
		},
	}
	rsp := run(t, req)

	if diff := cmp.Diff(req.GetContext(), rsp.GetContext(), protocmp.Transform()); diff != "" {
		t.Errorf("The context is passed on: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(req.GetDesired().GetResources()["other"], rsp.GetDesired().GetResources()["other"], protocmp.Transform()); diff != "" {
		t.Errorf("Desired resources of other functions are passed on: -want, +got:\n%s", diff)
	}
	composite := rsp.GetDesired().GetComposite()
	if composite.GetReady() != fnv1.Ready_READY_FALSE || string(composite.GetConnectionDetails()["secret"]) != "s" {
		t.Errorf("Readiness and connection details of the XR are passed on: got %v", composite)
	}
	status := composite.GetResource().GetFields()["status"].GetStructValue().GetFields()
	if status["theirs"].GetNumberValue() != 1 || status["status"].GetStringValue() != "Healthy" {
		t.Errorf("Status fields of other functions stay: got %v", status)
	}
	if got := rsp.GetDesired().GetResources()["service"].GetResource().GetFields()["metadata"].GetStructValue().GetFields()["labels"].GetStructValue().GetFields(); got["before"] != nil {
		t.Errorf("Our resource replaces the same one of an earlier step: got labels %v", got)
	}

	req.Desired.Resources["service"] = viewtest.Resource(t, `{kind: Ingress}`)
	rsp = run(t, req)
	want := `cannot compose MarkdownView "sample": desired.resources[service]: Forbidden: rename it in the other function of the pipeline, which desires a different resource with this name`
	if len(rsp.GetResults()) != 1 || rsp.GetResults()[0].GetMessage() != want || rsp.GetResults()[0].GetReason() != "PipelineConflict" {
		t.Errorf("Two resources cannot have the same name: want %q, got %v", want, rsp.GetResults())
	}
}

func TestNamespaceOfResources(t *testing.T) {
	cases := map[string]struct {
		reason string
		xr     string
		input  string
		want   string
	}{
		"Namespaced": {reason: "Crossplane sets the namespace of the resources of a namespaced XR", xr: `{metadata: {name: a, namespace: b}, spec: {markdowns: {SUMMARY.md: "- [A](a.md)", a.md: a}}}`},
		"Claim":      {reason: "The resources of a legacy XR are in the namespace of its claim", xr: `{metadata: {name: a}, spec: {claimRef: {namespace: c}, markdowns: {SUMMARY.md: "- [A](a.md)", a.md: a}}}`, want: "c"},
		"Cluster":    {reason: "The resources of a cluster-scoped XR are in the namespace of the Input", xr: `{metadata: {name: a}, spec: {markdowns: {SUMMARY.md: "- [A](a.md)", a.md: a}}}`, input: `{namespace: d}`, want: "d"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := &fnv1.RunFunctionRequest{Observed: &fnv1.State{Composite: viewtest.Resource(t, tc.xr)}}
			if tc.input != "" {
				req.Input = viewtest.Object(t, tc.input)
			}

			got := map[string]string{}
			for key, r := range run(t, req).GetDesired().GetResources() {
				got[key] = r.GetResource().GetFields()["metadata"].GetStructValue().GetFields()["namespace"].GetStringValue()
			}
			want := map[string]string{"configmap": tc.want, "deployment": tc.want, "service": tc.want}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\nnamespaces: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
