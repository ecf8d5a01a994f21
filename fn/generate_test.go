package fn_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane-contrib/function-markdownview/test/sample"
)

// generate returns a request that Crossplane could send, at any time and at any step of
// a pipeline.
func generate(t testing.TB, s *sample.Source) *fnv1.RunFunctionRequest {
	t.Helper()

	view, input := s.View(), s.Input()
	if s.Maybe(4) {
		input = nil
	}
	vary(s, view)
	if !s.Maybe(4) {
		sample.Fit(view, input)
	}
	if s.Maybe(8) {
		child(view, "spec")["host"] = sample.Pick(s, "a.books.example.com", "books.example.com", "*.example.com", "a.docs.books.example.com", "")
	}

	c := newCluster(t, view, input)
	c.shared, c.repositories = s.Shared(), map[string]object{"handbook": s.Repository()}
	for _, key := range slices.Concat(ours, optional) {
		if s.Maybe(4) {
			continue
		}
		// The observed resource can be that of an earlier spec.
		c.observe(s, key)
	}
	if d, ok := c.objects["deployment"]; ok && s.Maybe(3) {
		child(metadata(d), "annotations")["markdownview.fn.crossplane.io/serving"] = sample.Pick(s, append(slices.Sorted(maps.Keys(c.objects)), "configmap-0123456789abcdef", "odd")...)
	}
	for s.Maybe(2) && c.stepOptional() {
		continue
	}
	c.remember(s)
	req := c.request()
	requirements(s, req)
	pipeline(t, s, req)
	schemas(t, s, req)

	return req
}

// requirements changes the required resources of a request. It removes them, as if Crossplane
// had not sent them yet or they did not exist. Or it changes their files or status, or replaces
// them with something else that the Composition requires under the same name.
func requirements(s *sample.Source, req *fnv1.RunFunctionRequest) {
	for _, key := range slices.Sorted(maps.Keys(req.GetRequiredResources())) {
		switch s.Below(13) {
		case 8:
			delete(req.RequiredResources, key)
		case 9:
			req.RequiredResources[key] = nil
		case 10:
			req.RequiredResources[key].Items[0].Resource.Fields["data"] = structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
				sample.Pick(s, "SUMMARY.md", "page.md", "img", "more"): structpb.NewStringValue(s.Text()),
			}})
			delete(req.RequiredResources[key].Items[0].Resource.Fields, sample.Pick(s, "status", "spec"))
		case 11:
			req.RequiredResources[key].Items[0].Resource.Fields["metadata"] = structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
				"namespace": structpb.NewStringValue("kube-system"), "name": structpb.NewStringValue(key[strings.Index(key, "/")+1:]),
			}})
		case 12:
			req.RequiredResources[key].Items[0].Resource.Fields["kind"] = structpb.NewStringValue("Secret")
		}
	}
}

// schemas adds what newer versions of Crossplane send: capabilities, and the schema
// that a response required.
func schemas(t testing.TB, s *sample.Source, req *fnv1.RunFunctionRequest) {
	t.Helper()

	if s.Maybe(2) {
		return
	}
	req.Meta.Capabilities = append(req.Meta.Capabilities, fnv1.Capability_CAPABILITY_CAPABILITIES, fnv1.Capability_CAPABILITY_REQUIRED_SCHEMAS)
	properties := object{"conditions": object{"type": "array"}}
	for _, name := range []string{"status", "url", "replicas", "observedGeneration"} {
		if s.Maybe(2) {
			properties[name] = object{"type": sample.Pick(s, "string", "integer", "object")}
		}
	}
	switch s.Below(3) {
	case 1:
		req.RequiredSchemas = map[string]*fnv1.Schema{"xr": {}}
	case 2:
		req.RequiredSchemas = map[string]*fnv1.Schema{
			"other": {OpenapiV3: toStruct(t, object{"properties": object{"status": object{"properties": object{}}}})},
			"xr":    {OpenapiV3: toStruct(t, object{"type": "object", "properties": object{"status": object{"type": "object", "properties": properties}}})},
		}
	}
}

// vary gives a view a scope, group, version or kind that is not the default.
func vary(s *sample.Source, view object) {
	switch s.Below(5) {
	case 1:
		view["apiVersion"] = "view.zoetrope.github.io/v1"
	case 2:
		delete(metadata(view), "namespace")
		view["kind"] = "XMarkdownView"
	case 3:
		delete(metadata(view), "namespace")
		child(view, "spec")["claimRef"] = object{"apiVersion": "example.com/v1", "kind": "MarkdownView", "namespace": "claims", "name": "sample"}
	}
}

// observe adds a composed resource to the cluster, in a random state.
func (c *cluster) observe(s *sample.Source, key string) {
	earlier := newCluster(c.t, c.xr, c.input)
	earlier.shared, earlier.repositories = c.shared, c.repositories
	if s.Maybe(3) {
		child(earlier.xr, "spec")["markdowns"] = book("earlier")
	}
	if earlier.input != nil && s.Maybe(3) {
		earlier.input = clone(earlier.input)
		earlier.input["immutableConfigMaps"] = s.Maybe(2)
	}
	if s.Maybe(3) {
		child(earlier.xr, "spec")["replicas"] = float64(s.Below(6))
	}
	rsp := run(c.t, earlier.request())
	if key == "configmap" {
		key = textOf(rsp)
	}
	desired := rsp.GetDesired().GetResources()[key].GetResource().AsMap()
	if len(desired) == 0 {
		return
	}
	c.apply(key, desired)

	o := c.objects[key]
	switch key {
	case "deployment":
		metadata(o)["generation"] = float64(1 + s.Below(3))
		o["status"] = deploymentStatus(s)
		if s.Maybe(4) {
			child(o, "spec")["replicas"] = float64(s.Below(4))
		}
		if s.Maybe(8) {
			child(o, "spec")["paused"] = true
		}
	case "service":
		if s.Maybe(4) {
			delete(child(o, "spec"), "clusterIP")
		}
		if s.Maybe(3) {
			o["status"] = object{"loadBalancer": object{"ingress": []any{object{"hostname": "lb.example.com"}}}}
		}
	}
}

// deploymentStatus returns a status with random numbers, not all of which are possible.
func deploymentStatus(s *sample.Source) object {
	status := object{}
	for _, name := range []string{"observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas"} {
		if n := s.Below(6); n > 0 {
			status[name] = float64(n)
		}
	}
	var conditions []any
	for _, kind := range []string{"Available", "Progressing", "ReplicaFailure"} {
		if s.Maybe(2) {
			conditions = append(conditions, deploymentCondition(kind, s.Maybe(2), "Reason", sample.Pick(s, "Message.", "", "Two\nlines", "一", strings.Repeat("long ", 4000))))
		}
	}
	if conditions != nil {
		status["conditions"] = conditions
	}

	return status
}

// remember gives the XR the status of an earlier response.
func (c *cluster) remember(s *sample.Source) {
	metadata(c.xr)["generation"] = float64(1 + s.Below(3))
	if s.Maybe(3) {
		return
	}
	conditions := []any{object{"type": "Synced", "status": "True", "reason": "ReconcileSuccess"}}
	for _, kind := range []string{"Available", "Degraded", "BookComplete"} {
		if s.Maybe(4) {
			continue
		}
		conditions = append(conditions, object{
			"type":    kind,
			"status":  sample.Pick(s, "True", "False", "Unknown"),
			"reason":  sample.Pick(s, "Available", "RollingOut", "Unavailable", "Creating", "AsExpected", "Missing", "ProgressDeadlineExceeded", "FatalError", "Complete", "Incomplete"),
			"message": sample.Pick(s, "The book has problems: a", "", "a\nb", strings.Repeat("long ", 4000)),
		})
	}
	conditions = append(conditions, responsive(s.Maybe(2)))
	c.xr["status"] = object{"status": sample.Pick(s, "NotReady", "Available", "Healthy"), "conditions": conditions}
}

// pipeline adds the desired state of earlier steps.
func pipeline(t testing.TB, s *sample.Source, req *fnv1.RunFunctionRequest) {
	t.Helper()

	if s.Maybe(2) {
		return
	}
	req.Context = toStruct(t, object{"apiextensions.crossplane.io/environment": object{"a": []any{1.0, nil, "b"}}})
	req.Desired.Resources = map[string]*fnv1.Resource{
		"bucket": {
			Resource:          toStruct(t, object{"apiVersion": "example.com/v1", "kind": "Bucket", "spec": object{"n": nil}}),
			ConnectionDetails: map[string][]byte{"key": {0, 255}},
			Ready:             sample.Pick(s, fnv1.Ready_READY_UNSPECIFIED, fnv1.Ready_READY_TRUE, fnv1.Ready_READY_FALSE),
		},
		"empty": {},
	}
	if s.Maybe(4) {
		req.Desired.Resources[sample.Pick(s, slices.Concat(ours, optional)...)] = &fnv1.Resource{
			Resource: toStruct(t, object{"apiVersion": "v1", "kind": sample.Pick(s, "Secret", "ConfigMap", "Deployment", "Service")}),
		}
	}
	req.Desired.Composite = &fnv1.Resource{
		Resource:          toStruct(t, object{"apiVersion": "example.com/v1", "kind": "X", "status": sample.Pick[any](s, object{"theirs": 1.0, "url": "theirs"}, nil, "text")}),
		ConnectionDetails: map[string][]byte{"password": []byte("secret")},
		Ready:             sample.Pick(s, fnv1.Ready_READY_FALSE, fnv1.Ready_READY_TRUE, fnv1.Ready_READY_UNSPECIFIED),
	}
}

// corrupt changes a request to one that Crossplane never sends.
func corrupt(s *sample.Source, req *fnv1.RunFunctionRequest) {
	roots := []*structpb.Struct{req.GetObserved().GetComposite().GetResource(), req.GetInput(), req.GetContext(), req.GetDesired().GetComposite().GetResource()}
	for _, resources := range []map[string]*fnv1.Resource{req.GetObserved().GetResources(), req.GetDesired().GetResources()} {
		for _, key := range slices.Sorted(maps.Keys(resources)) {
			roots = append(roots, resources[key].GetResource())
		}
	}
	for _, key := range slices.Sorted(maps.Keys(req.GetRequiredResources())) {
		for _, r := range req.GetRequiredResources()[key].GetItems() {
			roots = append(roots, r.GetResource())
		}
	}
	for range 1 + s.Below(3) {
		corruptStruct(s, sample.Pick(s, roots...), sample.Pick(s, 2, 1, 3, 4, 6, 8))
	}
}

// corruptStruct replaces, adds or removes a field, at most the given levels deep.
func corruptStruct(s *sample.Source, in *structpb.Struct, levels int) {
	if len(in.GetFields()) == 0 {
		return
	}
	name := sample.Pick(s, slices.Sorted(maps.Keys(in.GetFields()))...)
	if levels > 1 {
		next := in.GetFields()[name]
		if l := next.GetListValue().GetValues(); len(l) > 0 {
			i := s.Below(len(l))
			if l[i].GetStructValue() == nil {
				l[i] = odd(s)

				return
			}
			next = l[i]
		}
		if next.GetStructValue() != nil {
			corruptStruct(s, next.GetStructValue(), levels-1)

			return
		}
	}
	switch s.Below(6) {
	case 0:
		delete(in.GetFields(), name)
	case 1:
		in.GetFields()[oddName(s)] = in.GetFields()[name]
	case 2:
		in.GetFields()[oddName(s)] = odd(s)
	default:
		in.GetFields()[name] = odd(s)
	}
}

func oddName(s *sample.Source) string {
	return sample.Pick(s,
		"", " ", "a.b/c", "$patch", "$retainKeys", "$setElementOrder/containers", "$deleteFromPrimitiveList/args", "$x",
		"name", "namespace", "status", "spec", "data", "SUMMARY.md", "print.md", "..", "new\nline", "\x00", "一", "app.kubernetes.io/name",
		strings.Repeat("k", 300), strings.Repeat("\n", 100_000))
}

// odd returns a value that is invalid for nearly every field.
func odd(s *sample.Source) *structpb.Value {
	text := structpb.NewStringValue
	object := func(name string, v *structpb.Value) *structpb.Value {
		return structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{name: v}})
	}

	return sample.Pick(s,
		structpb.NewNullValue(), &structpb.Value{}, structpb.NewBoolValue(true), text(""), text("x"),
		structpb.NewNumberValue(0), structpb.NewNumberValue(-1), structpb.NewNumberValue(0.5), structpb.NewNumberValue(1e300),
		structpb.NewNumberValue(math.NaN()), structpb.NewNumberValue(math.Inf(-1)), structpb.NewNumberValue(math.MaxInt64),
		text("-1"), text("1e999999999"), text("1E-999999999"), text("NaN"), text("Zw=="), text("not base64"), text("a b\nc"), text("\x00\u202e一"),
		text("[a-"), text("*"), text("a@b@c"), text("latest"), text("2024-01-01T00:00:00Z"), text("0x1p-2"),
		text(strings.Repeat("x", 300)), text(strings.Repeat("\x00", 100_000)), text(strings.Repeat("一", 50_000)), text(strings.Repeat("9", 100_000)),
		structpb.NewStructValue(nil), structpb.NewStructValue(&structpb.Struct{}), structpb.NewListValue(nil), structpb.NewListValue(&structpb.ListValue{}),
		structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{{}, structpb.NewNullValue(), text("x"), object("a", text("b"))}}),
		structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{object("name", text("x")), object("name", text("x"))}}),
		object("$patch", text("delete")), object("$patch", text("replace")), object("$patch", text("odd")), object("$patch", structpb.NewNumberValue(1)),
		object("$retainKeys", text("x")), object("name", structpb.NewNullValue()), object("name", text("mdbook")), object("a", &structpb.Value{}),
		deep(200),
	)
}

func deep(levels int) *structpb.Value {
	v := structpb.NewStringValue("bottom")
	for range levels {
		v = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{v}})
	}

	return v
}
