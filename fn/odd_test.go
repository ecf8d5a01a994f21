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

// TestOddRequests holds what broke a law once, or could. Each case changes a
// request of a settled MarkdownView.
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
		// fault is in the message of the fatal result. Empty means none.
		fault string
	}{
		"Untouched":        {reason: "Nothing is wrong to begin with", change: func(*testing.T, *fnv1.RunFunctionRequest) {}},
		"Exponent":         {reason: "To compare a quantity must not take minutes", change: spec("resources", object{"requests": object{"memory": "1e999999999"}}), fault: "spec.resources.requests[memory]"},
		"SmallExponent":    {reason: "Nor must a small one", change: spec("resources", object{"limits": object{"cpu": "1E-999999999"}}), fault: "spec.resources.limits[cpu]"},
		"InputExponent":    {reason: "Nor must one of the Input", change: inputOf(object{"resources": object{"limits": object{"cpu": "1e999999999"}}}), fault: "input.resources.limits[cpu]"},
		"LongQuantity":     {reason: "A fault quotes no book", change: spec("resources", object{"requests": object{"memory": strings.Repeat("9", large)}}), fault: "99…"},
		"LongImage":        {reason: "A fault quotes no book", change: spec("viewerImage", strings.Repeat("\x00", large)), fault: "spec.viewerImage"},
		"LongName":         {reason: "Nor a name as long as one", change: spec("markdowns", object{strings.Repeat("\n", large): "", "SUMMARY.md": ""}), fault: "spec.markdowns"},
		"LongField":        {reason: "Nor a field as long as one", change: inputOf(object{strings.Repeat("k\n", large/2): ""}), fault: "input.k k k"},
		"ManyFaults":       {reason: "Nor all of many faults", change: inputOf(hundreds(object{})), fault: "and 880 more"},
		"LongKind":         {reason: "Nor a kind", change: xrOf("kind", strings.Repeat("K\n", large)), fault: ""},
		"LongKindFault":    {reason: "Not even where it is told", change: both(xrOf("kind", strings.Repeat("K\n", large)), spec("replicas", 9.0)), fault: "K K K"},
		"StatusOfOthers":   {reason: "What an XRD of others has in its status is no fault", change: xrOf("status", object{"status": object{"a": "b"}, "conditions": "none"})},
		"NullType":         {reason: "A template may leave the type of the Service to Kubernetes", change: template("service", object{"spec": object{"type": nil}})},
		"NoPorts":          {reason: "But not take its ports away", change: template("service", object{"spec": object{"ports": nil}}), fault: "input.templates.service.spec.ports: Required value: a port must stay"},
		"NoPod":            {reason: "Nor the pod", change: template("deployment", pod(nil)), fault: "input.templates.deployment.spec.template.spec.containers: Required value: the container mdbook and its image must stay"},
		"NoViewer":         {reason: "Nor the viewer", change: template("deployment", pod(object{"containers": []any{object{"name": "mdbook", "$patch": "delete"}}})), fault: "input.templates.deployment.spec.template.spec.containers: Required value: the container mdbook and its image must stay"},
		"NoImage":          {reason: "Nor its image", change: template("deployment", pod(object{"containers": []any{object{"name": "mdbook", "image": nil}}})), fault: "input.templates.deployment.spec.template.spec.containers: Required value: the container mdbook and its image must stay"},
		"OtherViewer":      {reason: "Nor replace it", change: template("deployment", pod(object{"containers": []any{object{"$patch": "replace"}, object{"name": "other", "image": "other"}}})), fault: "input.templates.deployment.spec.template.spec.containers: Required value: the container mdbook and its image must stay"},
		"UID":              {reason: "A precondition would never be met", change: template("service", object{"metadata": object{"uid": "a", "resourceVersion": "1", "generation": 1.0, "creationTimestamp": "2026-01-02T03:04:05Z", "deletionTimestamp": "2026-01-02T03:04:05Z", "deletionGracePeriodSeconds": 1.0}}), fault: "metadata.creationTimestamp: Forbidden: a template cannot change this field: remove it; input.templates.service.metadata.deletionGracePeriodSeconds: Forbidden: a template cannot change this field: remove it; input.templates.service.metadata.deletionTimestamp: Forbidden: a template cannot change this field: remove it; input.templates.service.metadata.generation: Forbidden: a template cannot change this field: remove it; input.templates.service.metadata.resourceVersion: Forbidden: a template cannot change this field: remove it; input.templates.service.metadata.uid: Forbidden"},
		"BadLabel":         {reason: "A label that the API server refuses", change: template("deployment", object{"metadata": object{"labels": object{"a b": "c"}}}), fault: "input.templates.deployment.metadata.labels: Invalid value"},
		"BadServiceLabel":  {reason: "On each of the resources", change: template("service", object{"metadata": object{"labels": object{"a b": "c"}}}), fault: "input.templates.service.metadata.labels: Invalid value"},
		"BadPodLabel":      {reason: "On pods too", change: template("deployment", object{"spec": object{"template": object{"metadata": object{"labels": object{"a": "b c"}}}}}), fault: "input.templates.deployment.spec.template.metadata.labels: Invalid value"},
		"BadAnnotation":    {reason: "And an annotation", change: template("configMap", object{"metadata": object{"annotations": object{"a b": "c"}}}), fault: "input.templates.configMap.metadata.annotations: Invalid value"},
		"Annotations":      {reason: "Two lists of annotations may be too long together", change: inputOf(object{"annotations": object{"a": strings.Repeat("x", 140_000)}, "service": object{"annotations": object{"b": strings.Repeat("x", 140_000)}}}), fault: "input.service.annotations: Forbidden: together with input.annotations the annotations size"},
		"BinaryFile":       {reason: "A key is in data or in binaryData", change: template("configMap", object{"binaryData": object{"SUMMARY.md": "Zw=="}}), fault: "input.templates.configMap.binaryData[SUMMARY.md]: Forbidden: is a file of the MarkdownView: rename one of them"},
		"DataAndBinary":    {reason: "Also one of a template alone", change: template("configMap", object{"data": object{"a": ""}, "binaryData": object{"a": ""}}), fault: "input.templates.configMap.binaryData[a]: Duplicate"},
		"BadKey":           {reason: "A key that the API server refuses", change: template("configMap", object{"data": object{"a b": ""}}), fault: "input.templates.configMap.data[a b]: Invalid value: is no file name: a valid config key"},
		"BadBinaryKey":     {reason: "Of either kind", change: template("configMap", object{"binaryData": object{"..": ""}}), fault: "input.templates.configMap.binaryData[..]: Invalid value"},
		"TooMuchData":      {reason: "A template and a book that fit alone, and not together", change: template("configMap", object{"data": object{"large": strings.Repeat("x", large)}}), fault: "input.templates.configMap: Forbidden: holds more than 1 MiB together with the files of the MarkdownView: leave something out"},
		"MostData":         {reason: "And a template that just fits", change: both(spec("markdowns", object{"SUMMARY.md": "# Summary\n"}), template("configMap", object{"data": object{"large": strings.Repeat("x", large-len("# Summary\n"))}}))},
		"OneByteMore":      {reason: "And one that just does not", change: both(spec("markdowns", object{"SUMMARY.md": "# Summary\n"}), template("configMap", object{"data": object{"large": strings.Repeat("x", large-len("# Summary\n")+1)}})), fault: "input.templates.configMap: Forbidden: holds more than 1 MiB together"},
		"BadPullSecret":    {reason: "A Secret cannot have this name", change: inputOf(object{"imagePullSecrets": []any{object{"name": "A"}}}), fault: `input.imagePullSecrets[0].name: Invalid value: "A"`},
		"NullQuantity":     {reason: "Null is nothing, not zero", change: inputOf(object{"resources": object{"limits": object{"memory": nil}}})},
		"OddDirective":     {reason: "A typo after a dollar is a typo", change: inputOf(object{"$allowedImages": []any{}}), fault: "input.$allowedImages: Forbidden: unknown field"},
		"OddPatch":         {reason: "In a template too", change: template("deployment", pod(object{"containers": []any{object{"name": "mdbook", "$pacth": "delete"}}})), fault: "$pacth: Forbidden: unknown directive"},
		"ControlCharacter": {reason: "The API server cannot read it", change: inputOf(object{"annotations": object{"note": "a\u0080b"}}), fault: "input.annotations[note]: Invalid value: has a control character"},
		"ServiceControl":   {reason: "Nor on the Service", change: inputOf(object{"service": object{"annotations": object{"note": "a\u0080b"}}}), fault: "input.service.annotations[note]: Invalid value: has a control character"},
		"TemplateControl":  {reason: "Nor anywhere in a template", change: template("service", object{"spec": object{"ports": []any{object{"port": 80.0, "name": "\x7feb"}}}}), fault: "input.templates.service.spec.ports[0].name: Invalid value: has a control character"},
		"TemplateKey":      {reason: "Not even in a name", change: template("deployment", object{"spec": object{"template": object{"spec": object{"nodeSelector": object{"a\u0080": "b"}}}}}), fault: "input.templates.deployment.spec.template.spec.nodeSelector[a ]: Invalid value: has a control character"},
		"ManagedFields":    {reason: "An apply must not carry them", change: template("configMap", object{"metadata": object{"managedFields": []any{object{"manager": "a"}}}}), fault: "input.templates.configMap.metadata.managedFields: Forbidden"},
		"PullSecretTwice":  {reason: "Server-side apply takes a name once", change: inputOf(object{"imagePullSecrets": []any{object{"name": "a"}, object{"name": "b"}, object{"name": "a"}}}), fault: `input.imagePullSecrets[2].name: Duplicate value: "a"`},
		"NoStatusField":    {reason: "A field without a name is no status field", change: inputOf(object{"statusFields": []any{"status", ""}}), fault: `input.statusFields[1]: Unsupported value: ""`},
		"NullStatusField":  {reason: "Nor is null", change: inputOf(object{"statusFields": []any{nil}}), fault: `input.statusFields[0]: Unsupported value: ""`},
		"Deep":             {reason: "A value as deep as the protocol allows", change: spec("viewerImage", deep(3000)), fault: "spec.viewerImage"},
		"DeepQuantity":     {reason: "Also where it takes the way through JSON", change: spec("resources", object{"requests": object{"cpu": deep(3000)}}), fault: "spec.resources.requests[cpu]"},
		"DeepTemplate":     {reason: "And of a template", change: deepTemplate, fault: "input.templates.deployment.spec.replicas"},
		"NotANumber":       {reason: "JSON has no such number", change: spec("resources", object{"requests": object{"cpu": nan()}}), fault: "spec.resources.requests[cpu]"},
		"Nothing":          {reason: "A value of no kind", change: spec("viewerImage", &structpb.Value{})},
		"NoMap":            {reason: "Files that are no map", change: spec("markdowns", []any{"SUMMARY.md"}), fault: "spec.markdowns: Invalid value: must be an object"},
		"TextOfNothing":    {reason: "A file of no kind", change: spec("markdowns", object{"SUMMARY.md": &structpb.Value{}}), fault: "spec.markdowns is empty"},
		"NullFile":         {reason: "A file that is null is none", change: spec("markdowns", object{"SUMMARY.md": "# Summary\n", "page.md": nil})},
		"OrderOfElements":  {reason: "A list without a merge key has no order to set", change: template("deployment", pod(object{"$setElementOrder/tolerations": []any{object{"key": "a"}}, "tolerations": []any{object{"key": "a", "operator": "Exists"}}})), fault: "input.templates.deployment.spec.template.spec.$setElementOrder/tolerations: Forbidden: unknown directive"},
		"RetainObjects":    {reason: "Keys are texts", change: template("deployment", object{"spec": object{"strategy": object{"type": "Recreate", "$retainKeys": []any{object{"type": "x"}}}}}), fault: "input.templates.deployment.spec.strategy.$retainKeys[0]: Invalid value: must be a string"},
		"RetainOfItem":     {reason: "Also in an item of a list", change: template("deployment", pod(object{"volumes": []any{object{"name": "output", "$retainKeys": []any{"name", object{}}}}})), fault: "$retainKeys[1]: Invalid value: must be a string"},
		"DeleteFromList":   {reason: "Taken away and put in at once has no outcome", change: template("deployment", pod(object{"containers": []any{object{"name": "mdbook", "args": []any{"x", "serve"}, "$deleteFromPrimitiveList/args": []any{"serve"}}}})), fault: "$deleteFromPrimitiveList/args: Forbidden: unknown directive"},
		"OddPatches":       {reason: "Every fault is told, in the same words each time", change: template("deployment", object{"spec": object{"$patch": "mangle"}, "metadata": object{"$patch": "foo"}}), fault: `input.templates.deployment.metadata.$patch: Unsupported value: supported values: "replace", "delete"; input.templates.deployment.spec.$patch`},
		"RetainKeys":       {reason: "What a person writes works", change: template("deployment", object{"spec": object{"strategy": object{"type": "Recreate", "$retainKeys": []any{"type"}}}})},
		"NullItem":         {reason: "An item that is null is none", change: template("deployment", pod(object{"tolerations": []any{nil}})), fault: "spec.tolerations[0]: Invalid value: must not be null"},
		"TwoPorts":         {reason: "Ports are merged by their number, and have names of their own", change: template("service", object{"spec": object{"ports": []any{object{"name": "http", "port": 8080.0, "targetPort": "http"}}}}), fault: `input.templates.service.spec.ports: Forbidden: two ports are named "http": ports are merged by their number, so to change that of ours take it away with {port: 80, $patch: delete}`},
		"OtherPort":        {reason: "And then it works", change: template("service", object{"spec": object{"ports": []any{object{"name": "http", "port": 8080.0, "targetPort": "http"}, object{"port": 80.0, "$patch": "delete"}}}})},
		"PodAnnotations":   {reason: "The revision counts too", change: template("deployment", object{"spec": object{"template": object{"metadata": object{"annotations": object{"a": strings.Repeat("x", 256<<10-1)}}}}}), fault: "input.templates.deployment.spec.template.metadata.annotations: Too long"},
		"OtherName": {
			reason: "Crossplane keeps the name of what another function has composed, and the pods would not find it",
			change: func(t *testing.T, req *fnv1.RunFunctionRequest) {
				t.Helper()
				req.GetObserved().GetResources()["configmap"].GetResource().GetFields()["metadata"].GetStructValue().Fields["name"] = valueOf(t, "legacy")
			},
			fault: `observed.resources[configmap]: Forbidden: is "legacy", composed by something else, and Crossplane never renames a resource: delete it, and it is made again as "markdowns-sample"`,
		},
		"OtherNamespace": {
			reason: "What lives elsewhere is another resource",
			change: desiredOf("service", object{"apiVersion": "v1", "kind": "Service", "metadata": object{"name": "viewer-sample", "namespace": "elsewhere"}}),
			fault:  "desired.resources[service]: Forbidden",
		},
		"Directives": {
			reason: "Directives of a merge patch that are none",
			change: template("deployment", pod(object{"$setElementOrder/containers": 5.0, "$retainKeys": "x", "containers": []any{object{"name": "mdbook", "$deleteFromPrimitiveList/args": object{}}}})),
			fault:  "input.templates.deployment",
		},
		"LongCause": {
			reason: "What the Deployment says is put on one line",
			change: func(t *testing.T, req *fnv1.RunFunctionRequest) {
				t.Helper()
				d := req.GetObserved().GetResources()["deployment"].GetResource()
				d.GetFields()["status"].GetStructValue().Fields["conditions"] = valueOf(t, []any{
					object{"type": "Progressing", "status": "False", "message": strings.Repeat("cause\n", large)},
				})
			},
		},
		"ForeignNothing": {
			reason: "What others desire is theirs, whatever it is",
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
			reason: "A Service of another group is another resource, and would be lost",
			change: desiredOf("service", object{"apiVersion": "serving.knative.dev/v1", "kind": "Service", "metadata": object{"name": "viewer-sample"}}),
			fault:  "desired.resources[service]",
		},
		"SameKindOtherName": {
			reason: "So is one of another name",
			change: desiredOf("configmap", object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "other"}}),
			fault:  "desired.resources[configmap]",
		},
		"Same": {
			reason: "The same one is ours, as from a step before that runs this function too",
			change: desiredOf("deployment", object{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"name": "viewer-sample"}}),
		},
		"SameConfigMap": {
			reason: "So is this",
			change: desiredOf("configmap", object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "markdowns-sample"}}),
		},
		"SameService": {
			reason: "And this",
			change: desiredOf("service", object{"apiVersion": "v1", "kind": "Service", "metadata": object{"name": "viewer-sample"}}),
		},
		"NoState": {reason: "A request without a desired state", change: func(_ *testing.T, req *fnv1.RunFunctionRequest) { req.Desired, req.Context = nil, nil }},
		"Name": {
			reason: "A name that no XR has",
			change: func(t *testing.T, req *fnv1.RunFunctionRequest) {
				t.Helper()
				observedXR(req)["metadata"].GetStructValue().Fields["name"] = valueOf(t, strings.Repeat("一", large))
			},
			fault: "metadata.name",
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
			case isFatal(rsp) && tc.fault == "":
				t.Errorf("\n%s\nunexpected fault: %s", tc.reason, rsp.GetResults()[0].GetMessage())
			case tc.fault != "" && (!isFatal(rsp) || !strings.Contains(rsp.GetResults()[0].GetMessage(), tc.fault)):
				t.Errorf("\n%s\nwant a fault %q, got %v", tc.reason, tc.fault, rsp.GetResults())
			}
		})
	}
}

// TestMove shows that resources of a cluster-scoped XR stay where they live.
func TestMove(t *testing.T) {
	req := proto.Clone(goldenRequests(t)["cluster-scoped-available"]).(*fnv1.RunFunctionRequest)
	req.GetInput().Fields["namespace"] = valueOf(t, "elsewhere")
	rsp := checkLaws(t, req)
	const want = "input.namespace: Forbidden: the resources live in"
	if !isFatal(rsp) || !strings.Contains(rsp.GetResults()[0].GetMessage(), want) {
		t.Errorf("want a fault %q, got %v", want, rsp.GetResults())
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

// valueOf takes Values as they are, at any depth.
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
			t.Fatalf("cannot make a Value: %v", err)
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
