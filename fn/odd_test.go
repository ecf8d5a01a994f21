package fn_test

import (
	"math"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"sigs.k8s.io/yaml"
)

// setIn sets fields at any depth.
func setIn(t *testing.T, in *structpb.Struct, fields object) {
	t.Helper()
	for name, value := range fields {
		below, ok := value.(object)
		if child := in.GetFields()[name].GetStructValue(); ok && child != nil {
			setIn(t, child, below)
		} else {
			in.Fields[name] = valueOf(t, value)
		}
	}
}

// TestOddRequests has a case for every request that has broken a law, or could. Each case changes
// the request of a settled MarkdownView. Packages validate and template have more errors.
func TestOddRequests(t *testing.T) {
	t.Parallel()

	inSpec := func(name string, value any) object { return object{"spec": object{name: value}} }
	limit := func(name string, value any) object {
		return inSpec("resources", object{"requests": object{name: value}})
	}
	hundreds, long := object{}, func(text string) string { return strings.Repeat(text, 1<<20/len(text)) }
	for i := range 900 {
		hundreds[strings.Repeat("k", i+1)] = ""
	}
	deepTemplate := object{"templates": object{"deployment": inSpec("replicas", deep(3000))}}

	settled := goldenRequests(t)["2-available"]
	for name, tc := range map[string]struct {
		reason string
		// The case sets fields of the XR and of the ConfigMap, the Input, and what another function
		// desires under the key of its kind.
		xr, configMap, input object
		desired              string
		// want is a part of the error. It is empty if there is none.
		want string
	}{
		"Exponent": {
			reason: "A large exponent must not take minutes to compare",
			xr:     limit("memory", "1e999999999"), want: "spec.resources.requests[memory]",
		},
		"LongQuantity": {reason: "An error quotes only its beginning", xr: limit("memory", long("9")), want: "99…"},
		"LongImage": {
			reason: "An error quotes only its beginning",
			xr:     inSpec("viewerImage", long("\x00")), want: "spec.viewerImage",
		},
		"LongName": {
			reason: "An error quotes only the beginning of a name",
			xr:     inSpec("markdowns", object{long("\n"): ""}), want: "spec.markdowns",
		},
		"LongField":  {reason: "An error quotes only its beginning", input: object{long("k\n"): ""}, want: "input.k k k"},
		"ManyErrors": {reason: "A message has only the first of many errors", input: hundreds, want: "; and more"},
		"LongKind":   {reason: "A long kind is valid if no error quotes it", xr: object{"kind": long("K\n")}},
		"LongKindError": {
			reason: "An error quotes only its beginning",
			xr:     object{"kind": long("K\n"), "spec": object{"replicas": 9.0}}, want: "K K K",
		},
		"Name": {
			reason: "An XR cannot have the name",
			xr:     object{"metadata": object{"name": long("一")}}, want: "metadata.name",
		},
		"StatusOfOthers": {
			reason: "The XRD of another author can have other types in its status",
			xr:     object{"status": object{"status": object{"a": "b"}, "conditions": "none"}},
		},
		"OddDirective": {
			reason: "A directive is an unknown field outside of templates",
			input:  object{"$allowedImages": []any{}}, want: "input.$allowedImages: Forbidden: unknown field",
		},
		"Deep":         {reason: "A deeply nested value", xr: inSpec("viewerImage", deep(3000)), want: "spec.viewerImage"},
		"DeepQuantity": {reason: "Its type has its own JSON form", xr: limit("cpu", deep(3000)), want: "requests[cpu]"},
		"DeepTemplate": {reason: "Another deep value", input: deepTemplate, want: "templates.deployment.spec.replicas"},
		"NotANumber":   {reason: "JSON has no such number", xr: limit("cpu", math.NaN()), want: "requests[cpu]"},
		"Nothing":      {reason: "A value without a kind counts as absent", xr: inSpec("viewerImage", &structpb.Value{})},
		"NoMap": {
			reason: "A list in place of the files",
			xr:     inSpec("markdowns", []any{""}), want: "spec.markdowns: Invalid",
		},
		"TextOfNothing": {
			reason: "A file without a kind counts as absent, too",
			xr:     inSpec("markdowns", object{"SUMMARY.md": &structpb.Value{}}),
			want:   "spec.markdowns: Required value: add SUMMARY.md",
		},
		"OtherName": {
			reason:    "Crossplane keeps the name of a resource, so the pods would not find the ConfigMap",
			configMap: object{"metadata": object{"name": "legacy"}},
			want:      `observed.resources[configmap]: Forbidden: delete "legacy", and Crossplane creates it again as`,
		},
		"SameKind": {
			reason:  "A Service of another group is another resource, which would be lost",
			desired: "{apiVersion: knative.dev/v1, kind: Service, metadata: {name: viewer-sample}}",
			want:    "desired.resources[service]",
		},
		"OtherNamespace": {
			reason:  "A resource in another namespace is another resource",
			desired: "{apiVersion: v1, kind: Service, metadata: {name: viewer-sample, namespace: b}}",
			want:    "desired.resources[service]",
		},
		"SameKindOtherName": {
			reason:  "A resource with another name is another resource",
			desired: "{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}", want: "desired.resources[configmap]",
		},
		"Same": {
			reason:  "An earlier step can run this function too, and desire the same Deployment",
			desired: "{apiVersion: apps/v1, kind: Deployment, metadata: {name: viewer-sample}}",
		},
		"SameText": {
			reason:  "Or the ConfigMap",
			desired: "{apiVersion: v1, kind: ConfigMap, metadata: {name: markdowns-sample}}",
		},
		"SameService": {
			reason:  "Or the Service, of which ours has no field",
			desired: "{apiVersion: v1, kind: Service, metadata: {name: viewer-sample, labels: {before: ours}}}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := proto.Clone(settled).(*fnv1.RunFunctionRequest)
			setIn(t, req.GetObserved().GetComposite().GetResource(), tc.xr)
			setIn(t, req.GetObserved().GetResources()["configmap"].GetResource(), tc.configMap)
			if tc.input != nil {
				req.Input = valueOf(t, tc.input).GetStructValue()
			}
			if tc.desired != "" {
				theirs := object{}
				if err := yaml.Unmarshal([]byte(tc.desired), &theirs); err != nil {
					t.Fatal(err)
				}
				req.Desired = toState(t, strings.ToLower(textAt(theirs, "kind")), theirs)
			}
			rsp := checkLaws(t, req)
			switch got := strings.Join(reported(rsp), "\n"); {
			case isFatal(rsp) != (tc.want != "") || !strings.Contains(got, tc.want):
				t.Errorf("%s: want error %q, got %v", tc.reason, tc.want, got)
			case textAt(objectsIn(rsp.GetDesired())["service"], "metadata", "labels", "before") != "" && tc.want == "":
				t.Errorf("%s: got its labels", tc.reason)
			}
		})
	}
}
