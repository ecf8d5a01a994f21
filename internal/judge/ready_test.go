package judge

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/compose"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

func TestImageChangedByHand(t *testing.T) {
	cases := map[string]struct {
		reason   string
		image    string
		managers string
		want     bool
	}{
		"Same":    {reason: "The pods run the desired image", image: "docker.io/peaceiris/mdbook:v0.5.0", managers: viewtest.CrossplaneManager, want: true},
		"ByHand":  {reason: "Somebody changed the image", image: "evil", managers: viewtest.OtherManager + ", " + viewtest.HandManager},
		"Webhook": {reason: "A webhook changes each image to one of a mirror while Crossplane applies it", image: "mirror.example/mdbook", managers: viewtest.CrossplaneManager, want: true},
		"Unknown": {reason: "Nobody owns the image", image: "evil"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			d, _ := compose.Compose(v, request.Observed{})
			o := viewtest.ObserveDeployment(t, "{metadata: {generation: 1, managedFields: ["+tc.managers+"]}, "+
				"spec: {replicas: 2, template: {metadata: {annotations: {markdownview.fn.crossplane.io/revision: "+viewtest.Revision+"}}, spec: {containers: [{name: sidecar, image: s}, {name: mdbook, image: "+tc.image+"}]}}}, "+
				"status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 2}}")

			if got := deploymentReady(o.Deployment, d); got != tc.want {
				t.Errorf("\n%s\nready(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestDeploymentReady(t *testing.T) {
	const revision = `template: {metadata: {annotations: {markdownview.fn.crossplane.io/revision: ` + viewtest.Revision + `}}}`

	cases := map[string]struct {
		reason   string
		replicas *int32
		observed string
		want     bool
	}{
		"Absent": {
			reason:   "A Deployment that does not exist is not ready",
			replicas: ptr.To[int32](2),
		},
		"Settled": {
			reason:   "All requested pods run the desired revision",
			replicas: ptr.To[int32](2),
			observed: `{metadata: {generation: 3}, spec: {replicas: 2, ` + revision + `}, status: {observedGeneration: 3, replicas: 2, updatedReplicas: 2, availableReplicas: 2, readyReplicas: 2}}`,
			want:     true,
		},
		"NotCaughtUp": {
			reason:   "The status is that of an earlier spec",
			replicas: ptr.To[int32](2),
			observed: `{metadata: {generation: 4}, spec: {replicas: 2, ` + revision + `}, status: {observedGeneration: 3, replicas: 2, updatedReplicas: 2, availableReplicas: 2}}`,
		},
		"OtherRevision": {
			reason:   "The pods do not run the desired revision",
			replicas: ptr.To[int32](2),
			observed: `{metadata: {generation: 3}, spec: {replicas: 2, template: {metadata: {annotations: {markdownview.fn.crossplane.io/revision: other}}}}, status: {observedGeneration: 3, replicas: 2, updatedReplicas: 2, availableReplicas: 2}}`,
		},
		"NoRevision": {
			reason:   "The Deployment has no revision of ours",
			replicas: ptr.To[int32](2),
			observed: `{metadata: {generation: 3}, spec: {replicas: 2}, status: {observedGeneration: 3, replicas: 2, updatedReplicas: 2, availableReplicas: 2}}`,
		},
		"OtherReplicas": {
			reason:   "The Deployment has all of its pods, but the spec requests another number",
			replicas: ptr.To[int32](3),
			observed: `{metadata: {generation: 3}, spec: {replicas: 2, ` + revision + `}, status: {observedGeneration: 3, replicas: 2, updatedReplicas: 2, availableReplicas: 2}}`,
		},
		"ReplicasOfOthers": {
			reason:   "An autoscaler owns the number when the XR has none",
			observed: `{metadata: {generation: 3}, spec: {replicas: 7, ` + revision + `}, status: {observedGeneration: 3, replicas: 7, updatedReplicas: 7, availableReplicas: 7}}`,
			want:     true,
		},
		"DefaultReplicas": {
			reason:   "Kubernetes defaults the number of replicas to one",
			observed: `{metadata: {generation: 1}, spec: {` + revision + `}, status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1}}`,
			want:     true,
		},
		"Zero": {
			reason:   "No replica is requested, and there is none: Kubernetes omits zeros",
			observed: `{metadata: {generation: 3}, spec: {replicas: 0, ` + revision + `}, status: {observedGeneration: 3}}`,
			want:     true,
		},
		"ZeroNotYet": {
			reason:   "No replica is requested, and there is one",
			observed: `{metadata: {generation: 3}, spec: {replicas: 0, ` + revision + `}, status: {observedGeneration: 3, replicas: 1, availableReplicas: 1}}`,
		},
		"NotUpdated": {
			reason:   "One pod runs the previous revision",
			replicas: ptr.To[int32](2),
			observed: `{metadata: {generation: 3}, spec: {replicas: 2, ` + revision + `}, status: {observedGeneration: 3, replicas: 2, updatedReplicas: 1, availableReplicas: 2}}`,
		},
		"OldLeft": {
			reason:   "A pod of the previous revision still exists",
			replicas: ptr.To[int32](2),
			observed: `{metadata: {generation: 3}, spec: {replicas: 2, ` + revision + `}, status: {observedGeneration: 3, replicas: 3, updatedReplicas: 2, availableReplicas: 2}}`,
		},
		"Deleted": {
			reason:   "The resource is being deleted",
			replicas: ptr.To[int32](2),
			observed: `{metadata: {generation: 3, deletionTimestamp: "2026-01-02T03:04:05Z"}, spec: {replicas: 2, ` + revision + `}, status: {observedGeneration: 3, replicas: 2, updatedReplicas: 2, availableReplicas: 2}}`,
		},
		"Negative": {
			reason:   "A Deployment cannot have a negative number of replicas",
			observed: `{spec: {replicas: -1, ` + revision + `}, status: {replicas: -1, updatedReplicas: -1, availableReplicas: -1}}`,
		},
		"NotAvailable": {
			reason:   "One pod is not available",
			replicas: ptr.To[int32](2),
			observed: `{metadata: {generation: 3}, spec: {replicas: 2, ` + revision + `}, status: {observedGeneration: 3, replicas: 2, updatedReplicas: 2, availableReplicas: 1}}`,
		},
		"Unavailable": {
			reason:   "One pod counts as unavailable",
			replicas: ptr.To[int32](2),
			observed: `{metadata: {generation: 3}, spec: {replicas: 2, ` + revision + `}, status: {observedGeneration: 3, replicas: 2, updatedReplicas: 2, availableReplicas: 2, unavailableReplicas: 1}}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, _ := compose.Compose(viewtest.View(), request.Observed{})
			d.Deployment.Spec.Replicas = tc.replicas

			if got := deploymentReady(viewtest.Decode[request.ObservedDeployment](t, tc.observed), d); got != tc.want {
				t.Errorf("\n%s\nready(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestConfigMapReady(t *testing.T) {
	cases := map[string]struct {
		reason   string
		observed string
		revision string
		want     bool
	}{
		"Absent":  {reason: "A ConfigMap that does not exist is not ready"},
		"Same":    {reason: "It has the desired content", observed: `{data: {SUMMARY.md: "- [A](a.md)", a.md: ""}}`, want: true},
		"Changed": {reason: "It has another text", observed: `{data: {SUMMARY.md: "- [B](a.md)", a.md: ""}}`},
		"Deleted": {reason: "The resource is being deleted", observed: `{metadata: {deletionTimestamp: "2026-01-02T03:04:05Z"}, data: {SUMMARY.md: "- [A](a.md)", a.md: ""}}`},
		"Missing": {reason: "A file is missing", observed: `{data: {}}`},
		"Rolling": {reason: "Until the Deployment has the desired revision, only the Deployment is not ready", observed: `{data: {SUMMARY.md: "- [B](a.md)"}}`, revision: "old", want: true},
		"Other":   {reason: "It has another text, although the Deployment has the desired revision", observed: `{data: {SUMMARY.md: "- [B](a.md)", a.md: ""}}`, revision: viewtest.Revision},
		"Others":  {reason: "A key that somebody else added does not matter", observed: `{data: {SUMMARY.md: "- [A](a.md)", a.md: "", ca-bundle.crt: ""}, binaryData: {x.png: aGk=}}`, revision: viewtest.Revision, want: true},
		"Lacking": {reason: "A key that somebody else added does not replace one of ours", observed: `{data: {ca-bundle.crt: ""}}`, revision: viewtest.Revision},
		"Binary":  {reason: "It has the text in binaryData instead of data", observed: `{data: {}, binaryData: {SUMMARY.md: LSBbQV0oYS5tZCk=, a.md: ""}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, _ := compose.Compose(viewtest.View(), request.Observed{})

			var deployment *request.ObservedDeployment
			if tc.revision != "" {
				deployment = viewtest.Decode[request.ObservedDeployment](t, "{spec: {template: {metadata: {annotations: {markdownview.fn.crossplane.io/revision: "+tc.revision+"}}}}}")
			}
			if got := configMapReady(viewtest.Decode[view.ConfigMap](t, tc.observed), d, deployment); got != tc.want {
				t.Errorf("\n%s\nready(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestServiceReady(t *testing.T) {
	cases := map[string]struct {
		reason   string
		kind     string
		observed string
		want     bool
	}{
		"Absent":              {reason: "A Service that does not exist is not ready", kind: "ClusterIP"},
		"ClusterIP":           {reason: "The Service has its address", kind: "ClusterIP", observed: `{spec: {clusterIP: 10.0.0.1}}`, want: true},
		"Headless":            {reason: "The value None counts as an address", kind: "ClusterIP", observed: `{spec: {clusterIP: None}}`, want: true},
		"Deleted":             {reason: "The resource is being deleted", kind: "ClusterIP", observed: `{metadata: {deletionTimestamp: "2026-01-02T03:04:05Z"}, spec: {clusterIP: 10.0.0.1}}`},
		"NoAddress":           {reason: "The Service has no address yet", kind: "ClusterIP", observed: `{spec: {}}`},
		"NodePort":            {reason: "A Service of type NodePort needs only its cluster IP", kind: "NodePort", observed: `{spec: {clusterIP: 10.0.0.1}}`, want: true},
		"LoadBalancerPending": {reason: "The load balancer has no external address yet", kind: "LoadBalancer", observed: `{spec: {clusterIP: 10.0.0.1}, status: {loadBalancer: {}}}`},
		"LoadBalancer":        {reason: "The load balancer has an external address", kind: "LoadBalancer", observed: `{spec: {clusterIP: 10.0.0.1}, status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}}`, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Input.Service.Type = corev1.ServiceType(tc.kind)
			d, _ := compose.Compose(v, request.Observed{})

			if got := serviceReady(viewtest.Decode[request.ObservedService](t, tc.observed), d); got != tc.want {
				t.Errorf("\n%s\nready(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestNullQuantity checks that null counts as absent, not as zero.
func TestNullQuantity(t *testing.T) {
	if got := viewtest.Decode[v1beta1.Input](t, "{resources: {limits: {memory: null, cpu: 1}}}").Resources.Limits; len(got) != 1 || got.Cpu().Value() != 1 {
		t.Errorf("limits: got %v, want only one CPU", got)
	}
}

func TestRouteReady(t *testing.T) {
	const yes = `{type: Accepted, status: "True", observedGeneration: 2}`
	cases := map[string]struct {
		reason   string
		observed string
		want     bool
		why      string
	}{
		"Absent":     {reason: "There is no route yet"},
		"Unreported": {reason: "No controller has reported", observed: `{metadata: {generation: 2}}`},
		"Accepted":   {reason: "Both Gateways accept the route", observed: `{metadata: {generation: 2}, status: {parents: [{parentRef: {name: a, namespace: default}, conditions: [` + yes + `]}, {parentRef: {name: b, namespace: infra, sectionName: https}, conditions: [` + yes + `]}]}}`, want: true},
		"Deleted":    {reason: "The route is being deleted", observed: `{metadata: {generation: 2, deletionTimestamp: "2026-01-02T03:04:05Z"}, status: {parents: [{parentRef: {name: a}, conditions: [` + yes + `]}, {parentRef: {name: b, namespace: infra, sectionName: https}, conditions: [` + yes + `]}]}}`},
		"One":        {reason: "One Gateway has not reported", observed: `{metadata: {generation: 2}, status: {parents: [{parentRef: {name: a}, conditions: [` + yes + `]}]}}`},
		"Other":      {reason: "The report is about another listener", observed: `{metadata: {generation: 2}, status: {parents: [{parentRef: {name: a}, conditions: [` + yes + `]}, {parentRef: {name: b, namespace: infra}, conditions: [` + yes + `]}]}}`},
		"Old":        {reason: "The report is about an earlier generation of the route", observed: `{metadata: {generation: 3}, status: {parents: [{parentRef: {name: a}, conditions: [` + yes + `]}, {parentRef: {name: b, namespace: infra, sectionName: https}, conditions: [` + yes + `]}]}}`},
		"Rejected":   {reason: "A Gateway rejects the route", observed: `{metadata: {generation: 2}, status: {parents: [{parentRef: {name: a}, conditions: [{type: Accepted, status: "False", reason: NoMatchingListenerHostname, observedGeneration: 2}]}]}}`, why: "NoMatchingListenerHostname"},
		"Unresolved": {reason: "A Gateway cannot resolve the Service", observed: `{metadata: {generation: 2}, status: {parents: [{parentRef: {name: a}, conditions: [` + yes + `, {type: ResolvedRefs, status: "False", message: no such Service, observedGeneration: 2}]}]}}`, why: "no such Service"},
		"Conflict":   {reason: "A Gateway drops the rule, because another route has the same host", observed: `{metadata: {generation: 2}, status: {parents: [{parentRef: {name: a}, conditions: [` + yes + `, {type: PartiallyInvalid, status: "True", reason: RuleMatchPartiallyConflict, observedGeneration: 2}]}]}}`, why: "RuleMatchPartiallyConflict"},
		"Valid":      {reason: "A Gateway drops no rule", observed: `{metadata: {generation: 2}, status: {parents: [{parentRef: {name: a}, conditions: [{type: PartiallyInvalid, status: "False", observedGeneration: 2}, ` + yes + `]}, {parentRef: {name: b, namespace: infra, sectionName: https}, conditions: [` + yes + `]}]}}`, want: true},
		"Silent":     {reason: "A Gateway gives no reason", observed: `{metadata: {generation: 2}, status: {parents: [{parentRef: {name: a}, conditions: [{type: Accepted, status: "False", observedGeneration: 2}]}]}}`, why: "Accepted is False"},
		"Pending":    {reason: "A Gateway has not decided", observed: `{metadata: {generation: 2}, status: {parents: [{parentRef: {name: a}, conditions: [` + yes + `]}, {parentRef: {name: b, namespace: infra, sectionName: https}, conditions: [{type: Accepted, status: Unknown, reason: Pending, observedGeneration: 2}]}]}}`},
		"Resolved":   {reason: "A Gateway has resolved the Service, and not decided about the route", observed: `{metadata: {generation: 2}, status: {parents: [{parentRef: {name: a}, conditions: [` + yes + `]}, {parentRef: {name: b, namespace: infra, sectionName: https}, conditions: [{type: ResolvedRefs, status: "True", observedGeneration: 2}]}]}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Input = *viewtest.Decode[v1beta1.Input](t, `{route: {host: a.b, parentRefs: [{name: a}, {name: b, namespace: infra, sectionName: https}]}}`)
			o := viewtest.Decode[request.ObservedRoute](t, tc.observed)
			if got, why := routeReady(o, v), routeRejected(o, nil); got != tc.want || why != tc.why {
				t.Errorf("\n%s\nready(), rejected(): want %t and %q, got %t and %q", tc.reason, tc.want, tc.why, got, why)
			}
		})
	}
}

func TestIngressReady(t *testing.T) {
	cases := map[string]struct {
		reason, observed string
		want             bool
	}{
		"Absent":    {reason: "There is no Ingress yet"},
		"NoAddress": {reason: "No controller has given it an address", observed: `{metadata: {name: a}, status: {loadBalancer: {}}}`},
		"Address":   {reason: "It has an address", observed: `{status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}}`, want: true},
		"Deleted":   {reason: "It is being deleted", observed: `{metadata: {deletionTimestamp: "2026-01-02T03:04:05Z"}, status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := ingressReady(viewtest.Decode[request.ObservedIngress](t, tc.observed)); got != tc.want {
				t.Errorf("\n%s\nready(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestBudgetReady(t *testing.T) {
	cases := map[string]struct {
		reason, observed string
		want             bool
	}{
		"Absent":   {reason: "There is no budget yet"},
		"Created":  {reason: "The controller has not observed it", observed: `{metadata: {generation: 1}}`},
		"NoNumber": {reason: "Nobody has observed a budget without a generation", observed: `{metadata: {name: a}}`},
		"Observed": {reason: "The controller has observed it", observed: `{metadata: {generation: 2}, status: {observedGeneration: 2}}`, want: true},
		"Changed":  {reason: "The controller has not observed the change", observed: `{metadata: {generation: 2}, status: {observedGeneration: 1}}`},
		"Deleted":  {reason: "It is being deleted", observed: `{metadata: {generation: 2, deletionTimestamp: "2026-01-02T03:04:05Z"}, status: {observedGeneration: 2}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := budgetReady(viewtest.Decode[request.ObservedBudget](t, tc.observed)); got != tc.want {
				t.Errorf("\n%s\nready(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestConfigMapTemplate(t *testing.T) {
	v := viewtest.View()
	v.Input.Templates.ConfigMap = viewtest.Template(t, `{metadata: {labels: {a: b}}, data: {theme.css: body}, binaryData: {x.png: aGk=}}`)
	composed, problems := compose.Compose(v, request.Observed{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}

	if diff := gocmp.Diff(map[string]string{"SUMMARY.md": "- [A](a.md)", "a.md": "", "theme.css": "body"}, composed.ConfigMap.Data); diff != "" {
		t.Errorf("A template adds files to those of the book: -want, +got:\n%s", diff)
	}
	if diff := gocmp.Diff(map[string]string{"SUMMARY.md": "- [A](a.md)", "a.md": ""}, v.Spec.Markdowns); diff != "" {
		t.Errorf("A template does not change the MarkdownView: -want, +got:\n%s", diff)
	}
	if !configMapReady(viewtest.Decode[view.ConfigMap](t, `{data: {SUMMARY.md: "- [A](a.md)", a.md: "", theme.css: body}, binaryData: {x.png: aGk=}}`), composed, nil) {
		t.Errorf("The ConfigMap must be ready with all desired files")
	}
	if configMapReady(viewtest.Decode[view.ConfigMap](t, `{data: {SUMMARY.md: "- [A](a.md)", a.md: "", theme.css: body}, binaryData: {x.png: aGo=}}`), composed, nil) {
		t.Errorf("The ConfigMap must not be ready with another binary file")
	}
	if composed.Revision == viewtest.Revision {
		t.Errorf("A file that a template adds must be part of the revision")
	}
}
