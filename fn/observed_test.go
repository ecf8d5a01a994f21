package fn

import (
	"cmp"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
)

// settledView is a view whose Deployment wants two viewers of revision.
func settledView() view {
	v := view{}
	v.Metadata.Name, v.Metadata.Namespace = "sample", "default"
	v.Spec.Markdowns = map[string]string{"SUMMARY.md": "# Summary"}
	v.Spec.Replicas = ptr.To[int32](2)

	return v
}

// settledRevision is the revision of settledView. It is a literal, so that a
// change of what it is made of is seen: such a change restarts every viewer there
// is.
const settledRevision = "0c3774288c58e8b6"

func stateOf[T any](t *testing.T, text string) *T {
	t.Helper()
	if text == "" {
		return nil
	}
	s := new(T)
	if faults := decode(structpb.NewStructValue(object(t, text)), s, nil, lenient); len(faults) > 0 {
		t.Fatal(faults)
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
			reason:   "A Deployment that is not there is not ready",
			replicas: ptr.To[int32](2),
		},
		"Settled": {
			reason:   "All wanted viewers run what is asked for",
			replicas: ptr.To[int32](2),
			observed: `{metadata: {generation: 3}, spec: {replicas: 2, ` + revision + `}, status: {observedGeneration: 3, replicas: 2, updatedReplicas: 2, availableReplicas: 2, readyReplicas: 2}}`,
			want:     true,
		},
		"NotCaughtUp": {
			reason:   "Its status is about an earlier spec",
			replicas: ptr.To[int32](2),
			observed: `{metadata: {generation: 4}, spec: {replicas: 2, ` + revision + `}, status: {observedGeneration: 3, replicas: 2, updatedReplicas: 2, availableReplicas: 2}}`,
		},
		"OtherRevision": {
			reason:   "Its viewers run something else than what is asked for now",
			replicas: ptr.To[int32](2),
			observed: `{metadata: {generation: 3}, spec: {replicas: 2, template: {metadata: {annotations: {markdownview.fn.crossplane.io/revision: other}}}}, status: {observedGeneration: 3, replicas: 2, updatedReplicas: 2, availableReplicas: 2}}`,
		},
		"NoRevision": {
			reason:   "It was not asked by us",
			replicas: ptr.To[int32](2),
			observed: `{metadata: {generation: 3}, spec: {replicas: 2}, status: {observedGeneration: 3, replicas: 2, updatedReplicas: 2, availableReplicas: 2}}`,
		},
		"OtherReplicas": {
			reason:   "It has as many viewers as it wants, which is not what is asked for now",
			replicas: ptr.To[int32](3),
			observed: `{metadata: {generation: 3}, spec: {replicas: 2, ` + revision + `}, status: {observedGeneration: 3, replicas: 2, updatedReplicas: 2, availableReplicas: 2}}`,
		},
		"ReplicasOfOthers": {
			reason:   "An autoscaler owns the number when the XR has none",
			observed: `{metadata: {generation: 3}, spec: {replicas: 7, ` + revision + `}, status: {observedGeneration: 3, replicas: 7, updatedReplicas: 7, availableReplicas: 7}}`,
			want:     true,
		},
		"DefaultReplicas": {
			reason:   "Without a number Kubernetes means one",
			observed: `{metadata: {generation: 1}, spec: {` + revision + `}, status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1}}`,
			want:     true,
		},
		"Zero": {
			reason:   "None is wanted and there is none: Kubernetes leaves zeros out",
			observed: `{metadata: {generation: 3}, spec: {replicas: 0, ` + revision + `}, status: {observedGeneration: 3}}`,
			want:     true,
		},
		"ZeroNotYet": {
			reason:   "None is wanted and there is one",
			observed: `{metadata: {generation: 3}, spec: {replicas: 0, ` + revision + `}, status: {observedGeneration: 3, replicas: 1, availableReplicas: 1}}`,
		},
		"NotUpdated": {
			reason:   "One viewer is of before",
			replicas: ptr.To[int32](2),
			observed: `{metadata: {generation: 3}, spec: {replicas: 2, ` + revision + `}, status: {observedGeneration: 3, replicas: 2, updatedReplicas: 1, availableReplicas: 2}}`,
		},
		"OldLeft": {
			reason:   "One of before is left over",
			replicas: ptr.To[int32](2),
			observed: `{metadata: {generation: 3}, spec: {replicas: 2, ` + revision + `}, status: {observedGeneration: 3, replicas: 3, updatedReplicas: 2, availableReplicas: 2}}`,
		},
		"Deleted": {
			reason:   "It is on its way out",
			replicas: ptr.To[int32](2),
			observed: `{metadata: {generation: 3, deletionTimestamp: "2026-01-02T03:04:05Z"}, spec: {replicas: 2, ` + revision + `}, status: {observedGeneration: 3, replicas: 2, updatedReplicas: 2, availableReplicas: 2}}`,
		},
		"Negative": {
			reason:   "No number of viewers is below zero",
			observed: `{spec: {replicas: -1, ` + revision + `}, status: {replicas: -1, updatedReplicas: -1, availableReplicas: -1}}`,
		},
		"NotAvailable": {
			reason:   "One does not serve",
			replicas: ptr.To[int32](2),
			observed: `{metadata: {generation: 3}, spec: {replicas: 2, ` + revision + `}, status: {observedGeneration: 3, replicas: 2, updatedReplicas: 2, availableReplicas: 1}}`,
		},
		"Unavailable": {
			reason:   "One is counted as unavailable",
			replicas: ptr.To[int32](2),
			observed: `{metadata: {generation: 3}, spec: {replicas: 2, ` + revision + `}, status: {observedGeneration: 3, replicas: 2, updatedReplicas: 2, availableReplicas: 2, unavailableReplicas: 1}}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			want, _ := compose(settledView())
			want.deployment.Spec.Replicas = tc.replicas

			if got := stateOf[deploymentState](t, tc.observed).ready(want); got != tc.want {
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
		"Absent":  {reason: "A ConfigMap that is not there is not ready"},
		"Same":    {reason: "It holds the content asked for now", observed: `{data: {SUMMARY.md: "# Summary"}}`, want: true},
		"Changed": {reason: "It holds another text", observed: `{data: {SUMMARY.md: "# summary"}}`},
		"Deleted": {reason: "It is on its way out", observed: `{metadata: {deletionTimestamp: "2026-01-02T03:04:05Z"}, data: {SUMMARY.md: "# Summary"}}`},
		"Missing": {reason: "It lacks a file", observed: `{data: {}}`},
		"Removed": {reason: "It still holds a file that was removed", observed: `{data: {SUMMARY.md: "# Summary", old.md: ""}}`, revision: "old"},
		"Alone":   {reason: "Also where there is no Deployment yet", observed: `{data: {SUMMARY.md: "# Summary", old.md: ""}}`},
		"Others":  {reason: "A key that somebody else has added is theirs", observed: `{data: {SUMMARY.md: "# Summary", ca-bundle.crt: ""}, binaryData: {x.png: aGk=}}`, revision: settledRevision, want: true},
		"Lacking": {reason: "But takes the place of none of ours", observed: `{data: {ca-bundle.crt: ""}}`, revision: settledRevision},
		"Binary":  {reason: "It holds the text in the other of the two maps", observed: `{data: {}, binaryData: {SUMMARY.md: IyBTdW1tYXJ5}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			want, _ := compose(settledView())

			var d *deploymentState
			if tc.revision != "" {
				d = stateOf[deploymentState](t, "{spec: {template: {metadata: {annotations: {markdownview.fn.crossplane.io/revision: "+tc.revision+"}}}}}")
			}
			if got := stateOf[configMapState](t, tc.observed).ready(want, d); got != tc.want {
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
		"Absent":              {reason: "A Service that is not there is not ready", kind: "ClusterIP"},
		"ClusterIP":           {reason: "It has its address", kind: "ClusterIP", observed: `{spec: {clusterIP: 10.0.0.1}}`, want: true},
		"Headless":            {reason: "None is an address too", kind: "ClusterIP", observed: `{spec: {clusterIP: None}}`, want: true},
		"Deleted":             {reason: "It is on its way out", kind: "ClusterIP", observed: `{metadata: {deletionTimestamp: "2026-01-02T03:04:05Z"}, spec: {clusterIP: 10.0.0.1}}`},
		"NoAddress":           {reason: "It has no address yet", kind: "ClusterIP", observed: `{spec: {}}`},
		"NodePort":            {reason: "A node port needs no more", kind: "NodePort", observed: `{spec: {clusterIP: 10.0.0.1}}`, want: true},
		"LoadBalancerPending": {reason: "A load balancer has no address outside yet", kind: "LoadBalancer", observed: `{spec: {clusterIP: 10.0.0.1}, status: {loadBalancer: {}}}`},
		"LoadBalancer":        {reason: "Now it has", kind: "LoadBalancer", observed: `{spec: {clusterIP: 10.0.0.1}, status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}}`, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := settledView()
			v.input.Service.Type = corev1.ServiceType(tc.kind)
			want, _ := compose(v)

			if got := stateOf[serviceState](t, tc.observed).ready(want); got != tc.want {
				t.Errorf("\n%s\nready(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestRevision(t *testing.T) {
	original, _ := compose(settledView())
	if got := revisionOf(original); got != settledRevision {
		t.Errorf("A change of the revision restarts every viewer there is: want %q, got %q", settledRevision, got)
	}

	cases := map[string]struct {
		reason string
		change func(*view)
		same   bool
	}{
		"Text":        {reason: "A change of text rolls", change: func(v *view) { v.Spec.Markdowns = map[string]string{"SUMMARY.md": "# summary"} }},
		"File":        {reason: "A new file rolls", change: func(v *view) { v.Spec.Markdowns = map[string]string{"SUMMARY.md": "# Summary", "a.md": ""} }},
		"MovedText":   {reason: "Text that moves between name and content rolls", change: func(v *view) { v.Spec.Markdowns = map[string]string{"SUMMARY.md#": " Summary"} }},
		"Image":       {reason: "Another image rolls", change: func(v *view) { v.Spec.ViewerImage = "a" }},
		"Replicas":    {reason: "More viewers are of the same revision", change: func(v *view) { v.Spec.Replicas = nil }, same: true},
		"Labels":      {reason: "Labels of the resources do not roll", change: func(v *view) { v.input.Labels = map[string]string{"a": "b"} }, same: true},
		"ServiceType": {reason: "Nor does the Service", change: func(v *view) { v.input.Service.Type = "NodePort" }, same: true},
		"PullSecrets": {reason: "All that is asked of the pod rolls", change: func(v *view) { v.input.ImagePullPolicy = "Always" }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := settledView()
			tc.change(&v)
			changed, _ := compose(v)

			if got := revisionOf(changed) == revisionOf(original); got != tc.same {
				t.Errorf("\n%s\nsame revision: want %t, got %t", tc.reason, tc.same, got)
			}
		})
	}
}

func TestMoved(t *testing.T) {
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
		"Nothing":    {reason: "Before anything is there any namespace will do", input: "books"},
		"Home":       {reason: "Nothing moves", input: "books", configMap: "books", deployment: "books", service: "books"},
		"Elsewhere":  {reason: "One fault is enough", input: "other", configMap: "books", deployment: "books", service: "books", want: 1},
		"ConfigMap":  {reason: "One resource that stays behind is enough", input: "other", configMap: "books", want: 1},
		"Deployment": {reason: "Whichever it is", input: "other", deployment: "books", want: 1},
		"Service":    {reason: "Whichever it is", input: "other", service: "books", want: 1},
		"Claim":      {reason: "Whoever names the namespace", claim: "other", service: "books", want: 1, path: "spec.claimRef.namespace"},
		"Namespaced": {reason: "Where those of a namespaced XR live is up to Crossplane", namespace: "a", input: "other", service: "b"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := view{}
			v.Metadata.Namespace, v.input.Namespace, v.Spec.ClaimRef.Namespace = tc.namespace, tc.input, tc.claim
			o := observed{}
			if tc.configMap != "" {
				o.configMap = stateOf[configMapState](t, "{metadata: {namespace: "+tc.configMap+"}}")
			}
			if tc.deployment != "" {
				o.deployment = stateOf[deploymentState](t, "{metadata: {namespace: "+tc.deployment+"}}")
			}
			if tc.service != "" {
				o.service = stateOf[serviceState](t, "{metadata: {namespace: "+tc.service+"}}")
			}
			got := o.moved(v)
			if len(got) != tc.want {
				t.Fatalf("\n%s\nmoved(...): got %v, want %d faults", tc.reason, got, tc.want)
			}
			if path := cmp.Or(tc.path, "input.namespace"); tc.want > 0 && got[0].Field != path {
				t.Errorf("\n%s\nmoved(...): got a fault of %s, want one of %s", tc.reason, got[0].Field, path)
			}
		})
	}
}

// TestNullQuantity shows that null is nothing, not zero.
func TestNullQuantity(t *testing.T) {
	if got := stateOf[v1beta1.Input](t, "{resources: {limits: {memory: null, cpu: 1}}}").Resources.Limits; len(got) != 1 || got.Cpu().Value() != 1 {
		t.Errorf("decode(...): got %v, want one CPU alone", got)
	}
}
