package fn

import (
	"cmp"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/objects"
)

// settledView returns a view that requests two replicas.
func settledView() view {
	v := view{}
	v.Metadata.Name, v.Metadata.Namespace = "sample", "default"
	v.Spec.Markdowns = map[string]string{"SUMMARY.md": "- [A](a.md)", "a.md": ""}
	v.Spec.Replicas = ptr.To[int32](2)

	return v
}

// settledRevision is the revision of settledView. It is a literal, so that a test
// fails when revisions change: such a change restarts every pod of every book.
const settledRevision = "01bc3c27ea1374f4"

func decoded[T any](t *testing.T, text string) *T {
	t.Helper()
	if text == "" {
		return nil
	}
	s := new(T)
	if errs, err := objects.Decode(encoded(t, object(t, text)), s, nil, objects.Options{}); err != nil || len(errs) > 0 {
		t.Fatalf("cannot decode %s: %v, %v", text, err, errs)
	}

	return s
}

func TestDeploymentReady(t *testing.T) {
	const revision = `template: {metadata: {annotations: {markdownview.fn.crossplane.io/revision: ` + settledRevision + `}}}`

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
			d, _ := compose(settledView(), observed{})
			d.deployment.Spec.Replicas = tc.replicas

			if got := decoded[observedDeployment](t, tc.observed).ready(d); got != tc.want {
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
		"Other":   {reason: "It has another text, although the Deployment has the desired revision", observed: `{data: {SUMMARY.md: "- [B](a.md)", a.md: ""}}`, revision: settledRevision},
		"Others":  {reason: "A key that somebody else added does not matter", observed: `{data: {SUMMARY.md: "- [A](a.md)", a.md: "", ca-bundle.crt: ""}, binaryData: {x.png: aGk=}}`, revision: settledRevision, want: true},
		"Lacking": {reason: "A key that somebody else added does not replace one of ours", observed: `{data: {ca-bundle.crt: ""}}`, revision: settledRevision},
		"Binary":  {reason: "It has the text in binaryData instead of data", observed: `{data: {}, binaryData: {SUMMARY.md: LSBbQV0oYS5tZCk=, a.md: ""}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, _ := compose(settledView(), observed{})

			var deployment *observedDeployment
			if tc.revision != "" {
				deployment = decoded[observedDeployment](t, "{spec: {template: {metadata: {annotations: {markdownview.fn.crossplane.io/revision: "+tc.revision+"}}}}}")
			}
			if got := decoded[observedConfigMap](t, tc.observed).ready(d, deployment); got != tc.want {
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
			v := settledView()
			v.input.Service.Type = corev1.ServiceType(tc.kind)
			d, _ := compose(v, observed{})

			if got := decoded[observedService](t, tc.observed).ready(d); got != tc.want {
				t.Errorf("\n%s\nready(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestRevision(t *testing.T) {
	original, _ := compose(settledView(), observed{})
	if got := original.revision; got != settledRevision {
		t.Errorf("A change of the revision restarts every pod of every book: want %q, got %q", settledRevision, got)
	}

	cases := map[string]struct {
		reason string
		change func(*view)
		same   bool
	}{
		"Text": {reason: "A changed text is another revision", change: func(v *view) { v.Spec.Markdowns = map[string]string{"SUMMARY.md": "- [B](a.md)", "a.md": ""} }},
		"File": {reason: "A new file is another revision", change: func(v *view) {
			v.Spec.Markdowns = map[string]string{"SUMMARY.md": "- [A](a.md)", "a.md": "", "b.png": ""}
		}},
		"MovedText": {reason: "Moving text from the content to the name is another revision", change: func(v *view) {
			v.Spec.Markdowns = map[string]string{"SUMMARY.md": "- [A](a.md)", "a.mdb": "", "a.md": ""}
		}},
		"Image":       {reason: "Another image is another revision", change: func(v *view) { v.Spec.ViewerImage = "a" }},
		"Replicas":    {reason: "The number of replicas is not part of the revision", change: func(v *view) { v.Spec.Replicas = nil }, same: true},
		"Labels":      {reason: "Labels of the resources are not part of the revision", change: func(v *view) { v.input.Labels = map[string]string{"a": "b"} }, same: true},
		"ServiceType": {reason: "The Service is not part of the revision", change: func(v *view) { v.input.Service.Type = "NodePort" }, same: true},
		"PullPolicy":  {reason: "Every field of the pod template is part of the revision", change: func(v *view) { v.input.ImagePullPolicy = "Always" }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := settledView()
			tc.change(&v)
			changed, _ := compose(v, observed{})

			if got := changed.revision == original.revision; got != tc.same {
				t.Errorf("\n%s\nsame revision: want %t, got %t", tc.reason, tc.same, got)
			}
		})
	}
}

func TestConflictsInCluster(t *testing.T) {
	cases := map[string]struct {
		reason     string
		namespace  string
		input      string
		configMap  string
		deployment string
		service    string
		claim      string
		want       int
		path       string
	}{
		"Nothing":    {reason: "Any namespace is valid before resources exist", input: "books"},
		"Unchanged":  {reason: "The namespace did not change", input: "books", configMap: "books", deployment: "books", service: "books"},
		"Elsewhere":  {reason: "Three resources that cannot move are one problem", input: "other", configMap: "books", deployment: "books", service: "books", want: 1},
		"ConfigMap":  {reason: "One resource that cannot move is a problem", input: "other", configMap: "books", want: 1},
		"Deployment": {reason: "A Deployment cannot move", input: "other", deployment: "books", want: 1},
		"Service":    {reason: "A Service cannot move", input: "other", service: "books", want: 1},
		"Claim":      {reason: "The error names the field that sets the namespace", claim: "other", service: "books", want: 1, path: "spec.claimRef.namespace"},
		"Namespaced": {reason: "Crossplane sets the namespace of the resources of a namespaced XR", namespace: "a", input: "other", service: "b"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := settledView()
			v.Metadata.Namespace, v.input.Namespace, v.Spec.ClaimRef.Namespace = tc.namespace, tc.input, tc.claim
			o := observed{identities: map[string]identity{}}
			for key, namespace := range map[string]string{keyConfigMap: tc.configMap, keyDeployment: tc.deployment, keyService: tc.service} {
				if namespace != "" {
					o.identities[key] = identity{Namespace: namespace}
				}
			}
			d, _ := compose(v, observed{})
			got := conflictsInCluster(v, d.resources, o)
			if len(got) != tc.want {
				t.Fatalf("\n%s\nconflictsInCluster(...): got %v, want %d problems", tc.reason, messages(got), tc.want)
			}
			if path := cmp.Or(tc.path, "input.namespace"); tc.want > 0 && (got[0].Field != path || got[0].reason != ReasonInvalidInput) {
				t.Errorf("\n%s\nconflictsInCluster(...): got %s for %s, want %s for %s", tc.reason, got[0].reason, got[0].Field, ReasonInvalidInput, path)
			}
		})
	}
}

// TestNullQuantity checks that null counts as absent, not as zero.
func TestNullQuantity(t *testing.T) {
	if got := decoded[v1beta1.Input](t, "{resources: {limits: {memory: null, cpu: 1}}}").Resources.Limits; len(got) != 1 || got.Cpu().Value() != 1 {
		t.Errorf("limits: got %v, want only one CPU", got)
	}
}

// TestKept checks the data of the ConfigMap that pods still serve.
func TestKept(t *testing.T) {
	const was = "configmap-0123456789abcdef"
	v := settledView()
	o := observed{configMaps: map[string]*observedConfigMap{was: decoded[observedConfigMap](t,
		`{data: {a.md: text, added.md: "\u0085", more.md: "\uFFFE"}, binaryData: {a.png: AAE=}}`)}}
	d := &desired{configMap: &composedConfigMap{}, text: "configmap-fedcba9876543210", serving: []string{was}}

	all := kept(v, o, d)
	if len(all) != 1 {
		t.Fatalf("want one ConfigMap, got %d", len(all))
	}
	got := all[0].object.(*composedConfigMap)
	if diff := gocmp.Diff(map[string]string{"a.md": "text"}, got.Data); diff != "" {
		t.Errorf("Somebody else added the texts that the function never writes: data: -want, +got:\n%s", diff)
	}
	if diff := gocmp.Diff(map[string]string{"a.png": "AAE="}, got.BinaryData); diff != "" {
		t.Errorf("binaryData: -want, +got:\n%s", diff)
	}
	if got.Name != "markdowns-sample.0123456789abcdef" || !ptr.Deref(got.Immutable, false) {
		t.Errorf("want an immutable ConfigMap of the pods, got %q, immutable %v", got.Name, got.Immutable)
	}
	if len(o.configMaps[was].Data) != 3 {
		t.Error("kept() must not change the observed ConfigMap")
	}

	d.serving = []string{d.text}
	if got := kept(v, o, d); got != nil {
		t.Errorf("The pods serve the desired ConfigMap: want none, got %v", got)
	}
	d.serving = []string{"configmap-0000000000000000"}
	if got := kept(v, o, d); got != nil {
		t.Errorf("The ConfigMap of the pods is gone: want none, got %v", got)
	}
}
