package fn_test

import (
	"math"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// A change changes a request.
type change = func(t *testing.T, req *fnv1.RunFunctionRequest)

// An oddRequest is a change with its reason, and a part of the error. It is empty if there is none.
type oddRequest struct {
	reason string
	change change
	error  string
}

func of(reason string, change change, err string) oddRequest {
	return oddRequest{reason, change, err}
}

// xrOf returns a change of a field of the XR, spec of a field of its spec, inputOf of the Input,
// template of one of its templates, and desiredOf of what another function desires.
func xrOf(name string, value any) change {
	return func(t *testing.T, req *fnv1.RunFunctionRequest) {
		t.Helper()
		req.GetObserved().GetComposite().GetResource().Fields[name] = valueOf(t, value)
	}
}

func spec(name string, value any) change {
	return func(t *testing.T, req *fnv1.RunFunctionRequest) {
		t.Helper()
		specOf(req).Fields[name] = valueOf(t, value)
	}
}

func inputOf(input object) change {
	return func(t *testing.T, req *fnv1.RunFunctionRequest) {
		t.Helper()
		req.Input = valueOf(t, input).GetStructValue()
	}
}

func template(kind string, template object) change {
	return inputOf(object{"templates": object{kind: template}})
}

func desiredOf(key, apiVersion, kind string, metadata object) change {
	return func(t *testing.T, req *fnv1.RunFunctionRequest) {
		t.Helper()
		req.Desired = toState(t, key, object{"apiVersion": apiVersion, "kind": kind, "metadata": metadata})
	}
}

// TestOddRequests has a case for every request that has broken a law, or could. Each
// case changes the request of a settled MarkdownView. Package compose has more templates.
func TestOddRequests(t *testing.T) {
	t.Parallel()

	const (
		large     = 1 << 20
		noViewer  = "spec.containers: Required value: keep the container mdbook and its image: a template cannot remove them"
		noControl = "Invalid value: remove the control character"
		together  = "input.templates.configMap: Forbidden: shorten or remove files: together with those of the MarkdownView"
		twoPorts  = `to replace the default port, remove it with {port: 80, $patch: delete}: ports are merged by number, ` +
			`so two are named "http"`
	)
	pod := func(spec any) change {
		return template("deployment", object{"spec": object{"template": object{"spec": spec}}})
	}
	viewer := func(containers ...any) change { return pod(object{"containers": containers}) }
	ports := func(ports ...any) change { return template("service", object{"spec": object{"ports": ports}}) }
	limit := func(kind, name string, value any) change { return spec("resources", object{kind: object{name: value}}) }
	// full adds files of a template to a book of 11 bytes.
	full := func(size int) change {
		return func(t *testing.T, req *fnv1.RunFunctionRequest) {
			t.Helper()
			spec("markdowns", object{"SUMMARY.md": "- [A](a.md)", "a.md": ""})(t, req)
			template("configMap", data(object{"large": strings.Repeat("x", size-len("- [A](a.md)"))}))(t, req)
		}
	}
	http := object{"name": "http", "port": 8080.0, "targetPort": "http"}
	hundreds, long := object{}, func(text string) string { return strings.Repeat(text, large/len(text)) }
	for i := range 900 {
		hundreds[strings.Repeat("k", i+1)] = ""
	}
	meta := func(fields ...string) object {
		all := object{}
		for _, name := range fields {
			all[name] = map[string]any{"generation": 1.0, "deletionGracePeriodSeconds": 1.0}[name]
			if all[name] == nil {
				all[name] = "2026-01-02T03:04:05Z"
			}
		}

		return object{"metadata": all}
	}

	settled := goldenRequests(t)["2-available"]
	for name, tc := range map[string]oddRequest{
		"Exponent": of("A large exponent must not take minutes to compare",
			limit("requests", "memory", "1e999999999"), "spec.resources.requests[memory]"),
		"SmallExponent": of("Nor must a small one", limit("limits", "cpu", "1E-999999999"), "spec.resources.limits[cpu]"),
		"LongQuantity":  of("An error quotes only its beginning", limit("requests", "memory", long("9")), "99…"),
		"LongImage":     of("An error quotes only its beginning", spec("viewerImage", long("\x00")), "spec.viewerImage"),
		"LongName": of("An error quotes only the beginning of a name",
			spec("markdowns", object{long("\n"): "", "SUMMARY.md": ""}), "spec.markdowns"),
		"LongField":  of("An error quotes only its beginning", inputOf(object{long("k\n"): ""}), "input.k k k"),
		"ManyErrors": of("A message has only the first of many errors", inputOf(hundreds), "; and more"),
		"LongKind":   of("A long kind is valid if no error quotes it", xrOf("kind", long("K\n")), ""),
		"LongKindError": of("An error quotes only its beginning", func(t *testing.T, req *fnv1.RunFunctionRequest) {
			t.Helper()
			xrOf("kind", long("K\n"))(t, req)
			spec("replicas", 9.0)(t, req)
		}, "K K K"),
		"Name": of("An XR cannot have the name", xrOf("metadata", object{"name": long("一")}), "metadata.name"),
		"StatusOfOthers": of("The XRD of another author can have other types in its status",
			xrOf("status", object{"status": object{"a": "b"}, "conditions": "none"}), ""),
		"NullType": of("The type has a default", template("service", object{"spec": object{"type": nil}}), ""),
		"NoPorts": of("The Service needs a port", template("service", object{"spec": object{"ports": nil}}),
			"input.templates.service.spec.ports: Required value: keep a port: a template cannot remove all of them"),
		"NoPod":    of("A template cannot remove the pod", pod(nil), noViewer),
		"NoViewer": of("mdBook serves the book", viewer(object{"name": "mdbook", "$patch": "delete"}), noViewer),
		"NoImage":  of("A template cannot remove the image", viewer(object{"name": "mdbook", "image": nil}), noViewer),
		"OtherViewer": of("A template cannot replace the container",
			viewer(object{"$patch": "replace"}, object{"name": "other", "image": "other"}), noViewer),
		"Metadata": of("A template cannot change what the API server sets", template("service", meta("creationTimestamp",
			"deletionGracePeriodSeconds", "deletionTimestamp", "generation", "resourceVersion", "uid")),
			strings.Join([]string{
				"metadata.creationTimestamp", "input.templates.service.metadata.deletionGracePeriodSeconds",
				"input.templates.service.metadata.deletionTimestamp", "input.templates.service.metadata.generation",
				"input.templates.service.metadata.resourceVersion", "input.templates.service.metadata.uid: Forbidden",
			}, ": Forbidden: remove it: a template cannot change this field; ")),
		"ManagedFields": of("Server-side apply rejects managedFields",
			template("configMap", object{"metadata": object{"managedFields": []any{object{"manager": "a"}}}}),
			"input.templates.configMap.metadata.managedFields: Forbidden"),
		"BadPodLabel": of("The labels of pods are checked",
			template("deployment", object{"spec": object{"template": object{"metadata": object{"labels": object{"a": "b c"}}}}}),
			"input.templates.deployment.spec.template.metadata.labels: Invalid value"),
		"PodAnnotations": of("The revision annotation counts toward the limit",
			template("deployment", object{"spec": object{"template": object{"metadata": object{
				"annotations": object{"a": strings.Repeat("x", 256<<10-1)},
			}}}}),
			"input.templates.deployment.spec.template.metadata.annotations: Too long"),
		"Annotations": of("Two lists of annotations can be too long together", inputOf(object{
			"annotations": object{"a": strings.Repeat("x", 140_000)},
			"service":     object{"annotations": object{"b": strings.Repeat("x", 140_000)}},
		}), "input.service.annotations: Forbidden: shorten them: together with input.annotations, annotations size"),
		"BinaryFile": of("A key cannot be in data and in binaryData",
			template("configMap", object{"binaryData": object{"SUMMARY.md": "Zw=="}}),
			"input.templates.configMap.binaryData[SUMMARY.md]: Forbidden: rename this file or that of the MarkdownView"),
		"BadBinaryKey": of("The API server rejects the key", template("configMap", object{"binaryData": object{"..": ""}}),
			"input.templates.configMap.binaryData[..]: Invalid value"),
		"MostData":    of("A template and a book together have exactly 1 MiB", full(large), ""),
		"OneByteMore": of("A template and a book are one byte too large together", full(large+1), together),
		"BadPullSecret": of("A Secret cannot have the name", inputOf(object{"imagePullSecrets": []any{object{"name": "A"}}}),
			`input.imagePullSecrets[0].name: Invalid value: "A"`),
		"PullSecretTwice": of("Server-side apply rejects duplicate names",
			inputOf(object{"imagePullSecrets": []any{object{"name": "a"}, object{"name": "b"}, object{"name": "a"}}}),
			`input.imagePullSecrets[2].name: Duplicate value: "a"`),
		"NullQuantity": of("Null is absent", inputOf(object{"resources": object{"limits": object{"memory": nil}}}), ""),
		"OddDirective": of("A directive is an unknown field outside of templates",
			inputOf(object{"$allowedImages": []any{}}), "input.$allowedImages: Forbidden: unknown field"),
		"ControlCharacter": of("The API server cannot read the character",
			inputOf(object{"annotations": object{"note": "a\u0080b"}}), "input.annotations[note]: "+noControl),
		"ServiceControl": of("Nor in an annotation of the Service",
			inputOf(object{"service": object{"annotations": object{"a": "\u0080"}}}), "service.annotations[a]: "+noControl),
		"TemplateKey": of("Nor in a key of a template", pod(object{"nodeSelector": object{"a\u0080": "b"}}),
			"input.templates.deployment.spec.template.spec.nodeSelector[a ]: "+noControl),
		"NoStatusField": of("An empty name is not a status field", inputOf(object{"statusFields": []any{"status", ""}}),
			`input.statusFields[1]: Unsupported value: ""`),
		"NullStatusField": of("Null is not a status field", inputOf(object{"statusFields": []any{nil}}),
			`input.statusFields[0]: Unsupported value: ""`),
		"Deep":         of("A deeply nested value", spec("viewerImage", deep(3000)), "spec.viewerImage"),
		"DeepQuantity": of("Its type has its own JSON form", limit("requests", "cpu", deep(3000)), "requests[cpu]"),
		"DeepTemplate": of("Another deep value", template("deployment", object{"spec": object{"replicas": deep(3000)}}),
			"input.templates.deployment.spec.replicas"),
		"NotANumber": of("JSON has no such number", limit("requests", "cpu", math.NaN()), "spec.resources.requests[cpu]"),
		"Nothing":    of("A value without a kind counts as absent", spec("viewerImage", &structpb.Value{}), ""),
		"NoMap":      of("A list in place of the files", spec("markdowns", []any{""}), "spec.markdowns: Invalid"),
		"TextOfNothing": of("So does a file", spec("markdowns", object{"SUMMARY.md": &structpb.Value{}}),
			"spec.markdowns: Required value: add SUMMARY.md"),
		"NullFile": of("A file that is null counts as absent",
			spec("markdowns", object{"SUMMARY.md": "- [A](a.md)", "a.md": "", "page.md": nil}), ""),
		"NullItem": of("An item of a list must not be null", pod(object{"tolerations": []any{nil}}),
			"spec.tolerations[0]: Invalid value: must not be null"),
		"TwoPorts":  of("Ports are merged by their number, and their names must differ", ports(http), twoPorts),
		"OtherPort": of("The error describes how", ports(http, object{"port": 80.0, "$patch": "delete"}), ""),
		"OtherName": of("Crossplane keeps the name of a resource, so the pods would not find the ConfigMap",
			func(t *testing.T, req *fnv1.RunFunctionRequest) {
				t.Helper()
				configMap := req.GetObserved().GetResources()["configmap"].GetResource()
				configMap.GetFields()["metadata"].GetStructValue().Fields["name"] = valueOf(t, "legacy")
			}, `observed.resources[configmap]: Forbidden: delete "legacy", and Crossplane creates it again as`),
		"LongCause": of("A message of the Deployment controller is shortened and put on one line",
			func(t *testing.T, req *fnv1.RunFunctionRequest) {
				t.Helper()
				d := req.GetObserved().GetResources()["deployment"].GetResource()
				d.GetFields()["status"].GetStructValue().Fields["conditions"] = valueOf(t, []any{
					object{"type": "Progressing", "status": "False", "message": strings.Repeat("cause\n", large)},
				})
			}, ""),
		"OtherFunctions": of("The desired state of other functions is passed on, whatever it has",
			func(t *testing.T, req *fnv1.RunFunctionRequest) {
				t.Helper()
				odd := valueOf(t, object{"nothing": &structpb.Value{}, "nan": math.NaN()}).GetStructValue()
				req.Context = odd
				req.Desired = &fnv1.State{
					Composite: &fnv1.Resource{Resource: odd, Ready: fnv1.Ready_READY_FALSE},
					Resources: map[string]*fnv1.Resource{"other": {Resource: odd}, "empty": {}},
				}
			}, ""),
		"NoState": of("A request without a desired state", func(_ *testing.T, req *fnv1.RunFunctionRequest) {
			req.Desired, req.Context = nil, nil
		}, ""),
		"SameKind": of("A Service of another group is another resource, which would be lost",
			desiredOf("service", "knative.dev/v1", "Service", object{"name": "viewer-sample"}), "desired.resources[service]"),
		"OtherNamespace": of("A resource in another namespace is another resource",
			desiredOf("service", "v1", "Service", object{"name": "viewer-sample", "namespace": "b"}), "resources[service]"),
		"SameKindOtherName": of("A resource with another name is another resource",
			desiredOf("configmap", "v1", "ConfigMap", object{"name": "other"}), "desired.resources[configmap]"),
		"Same": of("An earlier step can run this function too, and desire the same Deployment",
			desiredOf("deployment", "apps/v1", "Deployment", object{"name": "viewer-sample"}), ""),
		"SameText": of("Or the ConfigMap", desiredOf("configmap", "v1", "ConfigMap", object{"name": "markdowns-sample"}), ""),
		"SameService": of("Or the Service, of which ours has no field",
			desiredOf("service", "v1", "Service", object{"name": "viewer-sample", "labels": object{"before": "ours"}}), ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := proto.Clone(settled).(*fnv1.RunFunctionRequest)
			tc.change(t, req)
			rsp := checkLaws(t, req)
			switch got := strings.Join(reported(rsp), "\n"); {
			case isFatal(rsp) != (tc.error != "") || !strings.Contains(got, tc.error):
				t.Errorf("%s: want error %q, got %v", tc.reason, tc.error, got)
			case textAt(objectsIn(rsp.GetDesired())["service"], "metadata", "labels", "before") != "" && tc.error == "":
				t.Errorf("%s: got its labels", tc.reason)
			}
		})
	}
}

// TestMove checks that resources of a cluster-scoped XR cannot move to another
// namespace.
func TestMove(t *testing.T) {
	req := goldenRequests(t)["cluster-scoped-available"]
	req.GetInput().Fields["namespace"] = valueOf(t, "elsewhere")
	const want = "input.namespace: Forbidden: set namespace"
	if got := degraded(checkLaws(t, req)); !strings.Contains(got, want) {
		t.Errorf("want error %q, got %v", want, got)
	}
}
