package fn_test

import (
	"maps"
	"math"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// TestOddRequests has a case for every request that has broken a law, or could. Each
// case changes the request of a settled MarkdownView.
func TestOddRequests(t *testing.T) {
	t.Parallel()

	template := func(kind string, template object) func(*testing.T, *fnv1.RunFunctionRequest) {
		return inputOf(object{"templates": object{kind: template}})
	}
	pod := func(spec any) object { return object{"spec": object{"template": object{"spec": spec}}} }
	spec := func(name string, value any) func(*testing.T, *fnv1.RunFunctionRequest) {
		return func(t *testing.T, req *fnv1.RunFunctionRequest) { specOf(req).Fields[name] = valueOf(t, value) }
	}
	const large = 1 << 20

	cases := map[string]struct {
		reason string
		change func(t *testing.T, req *fnv1.RunFunctionRequest)
		// error is part of the message of the fatal result. It is empty if there is none.
		error string
	}{
		"Untouched":        {reason: "The unchanged request is valid", change: func(*testing.T, *fnv1.RunFunctionRequest) {}},
		"Exponent":         {reason: "A large exponent must not take minutes to compare", change: spec("resources", object{"requests": object{"memory": "1e999999999"}}), error: "spec.resources.requests[memory]"},
		"SmallExponent":    {reason: "A small exponent must not take minutes to compare", change: spec("resources", object{"limits": object{"cpu": "1E-999999999"}}), error: "spec.resources.limits[cpu]"},
		"InputExponent":    {reason: "An exponent in the Input must not take minutes to compare", change: inputOf(object{"resources": object{"limits": object{"cpu": "1e999999999"}}}), error: "input.resources.limits[cpu]"},
		"LongQuantity":     {reason: "An error quotes only the beginning of a long quantity", change: spec("resources", object{"requests": object{"memory": strings.Repeat("9", large)}}), error: "99…"},
		"LongImage":        {reason: "An error quotes only the beginning of a long image", change: spec("viewerImage", strings.Repeat("\x00", large)), error: "spec.viewerImage"},
		"LongName":         {reason: "An error quotes only the beginning of a long name", change: spec("markdowns", object{strings.Repeat("\n", large): "", "SUMMARY.md": ""}), error: "spec.markdowns"},
		"LongField":        {reason: "An error quotes only the beginning of a long field", change: inputOf(object{strings.Repeat("k\n", large/2): ""}), error: "input.k k k"},
		"ManyErrors":       {reason: "A message has only the first of many errors", change: inputOf(hundreds(object{})), error: "; and more"},
		"LongKind":         {reason: "A long kind is valid if no error quotes it", change: xrOf("kind", strings.Repeat("K\n", large)), error: ""},
		"LongKindError":    {reason: "An error quotes only the beginning of a long kind", change: both(xrOf("kind", strings.Repeat("K\n", large)), spec("replicas", 9.0)), error: "K K K"},
		"StatusOfOthers":   {reason: "The XRD of another author can have other types in its status", change: xrOf("status", object{"status": object{"a": "b"}, "conditions": "none"})},
		"NullType":         {reason: "A template can remove the type of the Service, which has a default", change: template("service", object{"spec": object{"type": nil}})},
		"NoPorts":          {reason: "A template cannot remove the ports of the Service", change: template("service", object{"spec": object{"ports": nil}}), error: "input.templates.service.spec.ports: Required value: keep a port: a template cannot remove all of them"},
		"NoPod":            {reason: "A template cannot remove the pod", change: template("deployment", pod(nil)), error: "input.templates.deployment.spec.template.spec.containers: Required value: keep the container mdbook and its image: a template cannot remove them"},
		"NoViewer":         {reason: "A template cannot remove the container", change: template("deployment", pod(object{"containers": []any{object{"name": "mdbook", "$patch": "delete"}}})), error: "input.templates.deployment.spec.template.spec.containers: Required value: keep the container mdbook and its image: a template cannot remove them"},
		"NoImage":          {reason: "A template cannot remove the image of the container", change: template("deployment", pod(object{"containers": []any{object{"name": "mdbook", "image": nil}}})), error: "input.templates.deployment.spec.template.spec.containers: Required value: keep the container mdbook and its image: a template cannot remove them"},
		"OtherViewer":      {reason: "A template cannot replace the container", change: template("deployment", pod(object{"containers": []any{object{"$patch": "replace"}, object{"name": "other", "image": "other"}}})), error: "input.templates.deployment.spec.template.spec.containers: Required value: keep the container mdbook and its image: a template cannot remove them"},
		"UID":              {reason: "A precondition on the UID would always fail", change: template("service", object{"metadata": object{"uid": "a", "resourceVersion": "1", "generation": 1.0, "creationTimestamp": "2026-01-02T03:04:05Z", "deletionTimestamp": "2026-01-02T03:04:05Z", "deletionGracePeriodSeconds": 1.0}}), error: "metadata.creationTimestamp: Forbidden: remove it: a template cannot change this field; input.templates.service.metadata.deletionGracePeriodSeconds: Forbidden: remove it: a template cannot change this field; input.templates.service.metadata.deletionTimestamp: Forbidden: remove it: a template cannot change this field; input.templates.service.metadata.generation: Forbidden: remove it: a template cannot change this field; input.templates.service.metadata.resourceVersion: Forbidden: remove it: a template cannot change this field; input.templates.service.metadata.uid: Forbidden"},
		"BadLabel":         {reason: "A label that the API server rejects", change: template("deployment", object{"metadata": object{"labels": object{"a b": "c"}}}), error: "input.templates.deployment.metadata.labels: Invalid value"},
		"BadServiceLabel":  {reason: "The labels of every resource are checked", change: template("service", object{"metadata": object{"labels": object{"a b": "c"}}}), error: "input.templates.service.metadata.labels: Invalid value"},
		"BadPodLabel":      {reason: "The labels of pods are checked", change: template("deployment", object{"spec": object{"template": object{"metadata": object{"labels": object{"a": "b c"}}}}}), error: "input.templates.deployment.spec.template.metadata.labels: Invalid value"},
		"BadAnnotation":    {reason: "The annotations of every resource are checked", change: template("configMap", object{"metadata": object{"annotations": object{"a b": "c"}}}), error: "input.templates.configMap.metadata.annotations: Invalid value"},
		"Annotations":      {reason: "Two lists of annotations can be too long together", change: inputOf(object{"annotations": object{"a": strings.Repeat("x", 140_000)}, "service": object{"annotations": object{"b": strings.Repeat("x", 140_000)}}}), error: "input.service.annotations: Forbidden: shorten them: together with input.annotations, annotations size"},
		"BinaryFile":       {reason: "A key cannot be in data and in binaryData", change: template("configMap", object{"binaryData": object{"SUMMARY.md": "Zw=="}}), error: "input.templates.configMap.binaryData[SUMMARY.md]: Forbidden: rename this file or that of the MarkdownView: they have the same name"},
		"DataAndBinary":    {reason: "A key of a template cannot be in data and in binaryData", change: template("configMap", object{"data": object{"a": ""}, "binaryData": object{"a": ""}}), error: "input.templates.configMap.binaryData[a]: Duplicate"},
		"BadKey":           {reason: "A key that the API server rejects", change: template("configMap", object{"data": object{"a b": ""}}), error: "input.templates.configMap.data[a b]: Invalid value: a valid config key"},
		"BadBinaryKey":     {reason: "A key of binaryData that the API server rejects", change: template("configMap", object{"binaryData": object{"..": ""}}), error: "input.templates.configMap.binaryData[..]: Invalid value"},
		"TooMuchData":      {reason: "A template and a book that together are too large", change: template("configMap", object{"data": object{"large": strings.Repeat("x", large)}}), error: "input.templates.configMap: Forbidden: shorten or remove files: together with those of the MarkdownView they have more than 1 MiB"},
		"MostData":         {reason: "A template and a book that together have exactly 1 MiB", change: both(spec("markdowns", object{"SUMMARY.md": "- [A](a.md)", "a.md": ""}), template("configMap", object{"data": object{"large": strings.Repeat("x", large-len("- [A](a.md)"))}}))},
		"OneByteMore":      {reason: "A template and a book that are one byte too large together", change: both(spec("markdowns", object{"SUMMARY.md": "- [A](a.md)", "a.md": ""}), template("configMap", object{"data": object{"large": strings.Repeat("x", large-len("- [A](a.md)")+1)}})), error: "input.templates.configMap: Forbidden: shorten or remove files: together with those"},
		"BadPullSecret":    {reason: "A name that a Secret cannot have", change: inputOf(object{"imagePullSecrets": []any{object{"name": "A"}}}), error: `input.imagePullSecrets[0].name: Invalid value: "A"`},
		"NullQuantity":     {reason: "Null counts as absent, not as zero", change: inputOf(object{"resources": object{"limits": object{"memory": nil}}})},
		"OddDirective":     {reason: "A directive is an unknown field outside of templates", change: inputOf(object{"$allowedImages": []any{}}), error: "input.$allowedImages: Forbidden: unknown field"},
		"ControlCharacter": {reason: "A control character that the API server cannot read", change: inputOf(object{"annotations": object{"note": "a\u0080b"}}), error: "input.annotations[note]: Invalid value: remove the control character"},
		"ServiceControl":   {reason: "A control character in an annotation of the Service", change: inputOf(object{"service": object{"annotations": object{"note": "a\u0080b"}}}), error: "input.service.annotations[note]: Invalid value: remove the control character"},
		"TemplateControl":  {reason: "A control character in a template", change: template("service", object{"spec": object{"ports": []any{object{"port": 80.0, "name": "\x7feb"}}}}), error: "input.templates.service.spec.ports[0].name: Invalid value: remove the control character"},
		"TemplateKey":      {reason: "A control character in a key of a template", change: template("deployment", object{"spec": object{"template": object{"spec": object{"nodeSelector": object{"a\u0080": "b"}}}}}), error: "input.templates.deployment.spec.template.spec.nodeSelector[a ]: Invalid value: remove the control character"},
		"ManagedFields":    {reason: "Server-side apply rejects managedFields", change: template("configMap", object{"metadata": object{"managedFields": []any{object{"manager": "a"}}}}), error: "input.templates.configMap.metadata.managedFields: Forbidden"},
		"PullSecretTwice":  {reason: "Server-side apply rejects duplicate names", change: inputOf(object{"imagePullSecrets": []any{object{"name": "a"}, object{"name": "b"}, object{"name": "a"}}}), error: `input.imagePullSecrets[2].name: Duplicate value: "a"`},
		"NoStatusField":    {reason: "An empty name is not a status field", change: inputOf(object{"statusFields": []any{"status", ""}}), error: `input.statusFields[1]: Unsupported value: ""`},
		"NullStatusField":  {reason: "Null is not a status field", change: inputOf(object{"statusFields": []any{nil}}), error: `input.statusFields[0]: Unsupported value: ""`},
		"Deep":             {reason: "A deeply nested value", change: spec("viewerImage", deep(3000)), error: "spec.viewerImage"},
		"DeepQuantity":     {reason: "A deeply nested value of a type with its own JSON form", change: spec("resources", object{"requests": object{"cpu": deep(3000)}}), error: "spec.resources.requests[cpu]"},
		"DeepTemplate":     {reason: "A deeply nested value in a template", change: deepTemplate, error: "input.templates.deployment.spec.replicas"},
		"NotANumber":       {reason: "A number that JSON cannot represent", change: spec("resources", object{"requests": object{"cpu": nan()}}), error: "spec.resources.requests[cpu]"},
		"Nothing":          {reason: "A value without a kind counts as absent", change: spec("viewerImage", &structpb.Value{})},
		"NoMap":            {reason: "A list in place of the files", change: spec("markdowns", []any{"SUMMARY.md"}), error: "spec.markdowns: Invalid value: must be an object"},
		"TextOfNothing":    {reason: "A file without a kind counts as absent", change: spec("markdowns", object{"SUMMARY.md": &structpb.Value{}}), error: "spec.markdowns: Required value: add SUMMARY.md"},
		"NullFile":         {reason: "A file that is null counts as absent", change: spec("markdowns", object{"SUMMARY.md": "- [A](a.md)", "a.md": "", "page.md": nil})},
		"OddPatches":       {reason: "Several errors are reported in the same order each time", change: template("deployment", object{"spec": object{"$patch": "mangle"}, "metadata": object{"$patch": "foo"}}), error: `input.templates.deployment.metadata.$patch: Unsupported value: supported values: "replace", "delete"; input.templates.deployment.spec.$patch`},
		"RetainKeys":       {reason: "The directive $retainKeys is valid", change: template("deployment", object{"spec": object{"strategy": object{"type": "Recreate", "$retainKeys": []any{"type"}}}})},
		"NullItem":         {reason: "An item of a list must not be null", change: template("deployment", pod(object{"tolerations": []any{nil}})), error: "spec.tolerations[0]: Invalid value: must not be null"},
		"TwoPorts":         {reason: "Ports are merged by their number, and their names must differ", change: template("service", object{"spec": object{"ports": []any{object{"name": "http", "port": 8080.0, "targetPort": "http"}}}}), error: `input.templates.service.spec.ports: Forbidden: to replace the default port, remove it with {port: 80, $patch: delete}: ports are merged by number, so two are named "http"`},
		"OtherPort":        {reason: "A template can replace the port as the error describes", change: template("service", object{"spec": object{"ports": []any{object{"name": "http", "port": 8080.0, "targetPort": "http"}, object{"port": 80.0, "$patch": "delete"}}}})},
		"PodAnnotations":   {reason: "The revision annotation counts toward the limit", change: template("deployment", object{"spec": object{"template": object{"metadata": object{"annotations": object{"a": strings.Repeat("x", 256<<10-1)}}}}}), error: "input.templates.deployment.spec.template.metadata.annotations: Too long"},
		"OtherName": {
			reason: "Crossplane keeps the name of a resource that another function composed, so the pods would not find the ConfigMap",
			change: func(t *testing.T, req *fnv1.RunFunctionRequest) {
				t.Helper()
				req.GetObserved().GetResources()["configmap"].GetResource().GetFields()["metadata"].GetStructValue().Fields["name"] = valueOf(t, "legacy")
			},
			error: `observed.resources[configmap]: Forbidden: delete "legacy", and Crossplane creates it again as "markdowns-sample": Crossplane never renames a resource`,
		},
		"OtherNamespace": {
			reason: "A desired resource in another namespace is another resource",
			change: desiredOf("service", object{"apiVersion": "v1", "kind": "Service", "metadata": object{"name": "viewer-sample", "namespace": "elsewhere"}}),
			error:  "desired.resources[service]: Forbidden",
		},
		"Directives": {
			reason: "Unknown directives of a merge patch",
			change: template("deployment", pod(object{"$setElementOrder/containers": 5.0, "$retainKeys": "x", "containers": []any{object{"name": "mdbook", "$deleteFromPrimitiveList/args": object{}}}})),
			error:  "input.templates.deployment",
		},
		"LongCause": {
			reason: "A message of the Deployment controller is shortened and put on one line",
			change: func(t *testing.T, req *fnv1.RunFunctionRequest) {
				t.Helper()
				d := req.GetObserved().GetResources()["deployment"].GetResource()
				d.GetFields()["status"].GetStructValue().Fields["conditions"] = valueOf(t, []any{
					object{"type": "Progressing", "status": "False", "message": strings.Repeat("cause\n", large)},
				})
			},
		},
		"OtherFunctions": {
			reason: "The desired state of other functions is passed on, whatever it has",
			change: func(_ *testing.T, req *fnv1.RunFunctionRequest) {
				odd := &structpb.Struct{Fields: map[string]*structpb.Value{"nothing": {}, "nan": structpb.NewNumberValue(nan())}}
				req.Context = odd
				req.Desired = &fnv1.State{
					Composite: &fnv1.Resource{Resource: odd, Ready: fnv1.Ready_READY_FALSE},
					Resources: map[string]*fnv1.Resource{"other": {Resource: odd}, "empty": {}},
				}
			},
		},
		"SameKind": {
			reason: "A desired Service of another group is another resource, which would be lost",
			change: desiredOf("service", object{"apiVersion": "serving.knative.dev/v1", "kind": "Service", "metadata": object{"name": "viewer-sample"}}),
			error:  "desired.resources[service]",
		},
		"SameKindOtherName": {
			reason: "A desired resource with another name is another resource",
			change: desiredOf("configmap", object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "other"}}),
			error:  "desired.resources[configmap]",
		},
		"Same": {
			reason: "An earlier step can run this function too and desire the same Deployment",
			change: desiredOf("deployment", object{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"name": "viewer-sample"}}),
		},
		"SameConfigMap": {
			reason: "An earlier step can desire the same ConfigMap",
			change: desiredOf("configmap", object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "markdowns-sample"}}),
		},
		"SameService": {
			reason: "An earlier step can desire the same Service",
			change: desiredOf("service", object{"apiVersion": "v1", "kind": "Service", "metadata": object{"name": "viewer-sample"}}),
		},
		"NoState": {reason: "A request without a desired state", change: func(_ *testing.T, req *fnv1.RunFunctionRequest) { req.Desired, req.Context = nil, nil }},
		"Name": {
			reason: "A name that an XR cannot have",
			change: func(t *testing.T, req *fnv1.RunFunctionRequest) {
				t.Helper()
				observedXR(req)["metadata"].GetStructValue().Fields["name"] = valueOf(t, strings.Repeat("一", large))
			},
			error: "metadata.name",
		},
	}
	settled := goldenRequests(t)["available"]
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := proto.Clone(settled).(*fnv1.RunFunctionRequest)
			tc.change(t, req)
			rsp := checkLaws(t, req)
			switch {
			case isFatal(rsp) && tc.error == "":
				t.Errorf("\n%s\nunexpected error: %s", tc.reason, rsp.GetResults()[0].GetMessage())
			case tc.error != "" && (!isFatal(rsp) || !strings.Contains(rsp.GetResults()[0].GetMessage(), tc.error)):
				t.Errorf("\n%s\nwant error %q, got %v", tc.reason, tc.error, rsp.GetResults())
			}
		})
	}
}

// TestMove checks that resources of a cluster-scoped XR cannot move to another
// namespace.
func TestMove(t *testing.T) {
	req := proto.Clone(goldenRequests(t)["cluster-scoped-available"]).(*fnv1.RunFunctionRequest)
	req.GetInput().Fields["namespace"] = valueOf(t, "elsewhere")
	rsp := checkLaws(t, req)
	const want = "input.namespace: Forbidden: set namespace"
	if !isFatal(rsp) || !strings.Contains(rsp.GetResults()[0].GetMessage(), want) {
		t.Errorf("want error %q, got %v", want, rsp.GetResults())
	}
}

func inputOf(input object) func(*testing.T, *fnv1.RunFunctionRequest) {
	return func(t *testing.T, req *fnv1.RunFunctionRequest) {
		t.Helper()
		req.Input = toStruct(t, input)
	}
}

func deepTemplate(t *testing.T, req *fnv1.RunFunctionRequest) {
	t.Helper()
	req.Input = valueOf(t, object{"templates": object{"deployment": object{"spec": object{"replicas": deep(3000)}}}}).GetStructValue()
}

func desiredOf(key string, o object) func(*testing.T, *fnv1.RunFunctionRequest) {
	return func(t *testing.T, req *fnv1.RunFunctionRequest) {
		t.Helper()
		req.Desired = &fnv1.State{Resources: map[string]*fnv1.Resource{key: {Resource: toStruct(t, o)}}}
	}
}

func xrOf(name string, value any) func(*testing.T, *fnv1.RunFunctionRequest) {
	return func(t *testing.T, req *fnv1.RunFunctionRequest) {
		t.Helper()
		observedXR(req)[name] = valueOf(t, value)
	}
}

func both(one, other func(*testing.T, *fnv1.RunFunctionRequest)) func(*testing.T, *fnv1.RunFunctionRequest) {
	return func(t *testing.T, req *fnv1.RunFunctionRequest) {
		t.Helper()
		one(t, req)
		other(t, req)
	}
}

// valueOf returns a Value. It keeps Values that are already in value, at any depth.
func valueOf(t *testing.T, value any) *structpb.Value {
	t.Helper()

	switch value := value.(type) {
	case *structpb.Value:
		return value
	case object:
		fields := map[string]*structpb.Value{}
		for name, child := range value {
			fields[name] = valueOf(t, child)
		}

		return structpb.NewStructValue(&structpb.Struct{Fields: fields})
	default:
		v, err := structpb.NewValue(value)
		if err != nil {
			t.Fatalf("cannot create a Value: %v", err)
		}

		return v
	}
}

func hundreds(o object) object {
	for i := range 900 {
		maps.Copy(o, object{strings.Repeat("k", i+1): ""})
	}

	return o
}

func nan() float64 { return math.NaN() }
