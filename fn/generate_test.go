package fn_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane-contrib/function-markdownview/test/cluster"
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
		child(view, "spec")["host"] = sample.Pick(s,
			"a.books.example.com", "books.example.com", "*.example.com", "a.docs.books.example.com", "")
	}

	c := newCluster(t, view, input)
	c.Shared, c.Repositories = s.Shared(), map[string]object{"handbook": s.Repository()}
	for _, key := range slices.Concat(ours, optional) {
		if s.Maybe(4) {
			continue
		}
		// The observed resource can be that of an earlier spec.
		observe(t, c, s, key)
	}
	if d, ok := c.Objects["deployment"]; ok && s.Maybe(3) {
		keys := append(slices.Sorted(maps.Keys(c.Objects)), "configmap-0123456789abcdef", "odd")
		child(metadata(d), "annotations")["markdownview.fn.crossplane.io/serving"] = sample.Pick(s, keys...)
	}
	for s.Maybe(2) && c.StepOptional() {
		continue
	}
	remember(c, s)
	req := c.Request()
	requirements(t, s, req)
	pipeline(t, s, req)
	schemas(t, s, req)

	return req
}

// requirements changes the required resources of a request. It removes them, as if Crossplane
// had not sent them yet or they did not exist. Or it changes their files or status, or replaces
// them with something else that the Composition requires under the same name.
func requirements(t testing.TB, s *sample.Source, req *fnv1.RunFunctionRequest) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(req.GetRequiredResources())) {
		choice := s.Below(13)
		if choice < 8 {
			continue
		}
		if choice < 10 {
			req.RequiredResources[key] = nil
			if choice == 8 {
				delete(req.RequiredResources, key)
			}

			continue
		}
		fields := req.RequiredResources[key].Items[0].Resource.Fields
		switch choice {
		case 10:
			fields["data"] = valueOf(t, object{sample.Pick(s, "SUMMARY.md", "page.md", "img", "more"): s.Text()})
			delete(fields, sample.Pick(s, "status", "spec"))
		case 11:
			fields["metadata"] = valueOf(t, object{"namespace": "kube-system", "name": key[strings.Index(key, "/")+1:]})
		case 12:
			fields["kind"] = valueOf(t, "Secret")
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
	req.Meta.Capabilities = append(req.Meta.Capabilities, fnv1.Capability_CAPABILITY_REQUIRED_SCHEMAS)
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
			"xr":    {OpenapiV3: toStruct(t, object{"properties": object{"status": object{"properties": properties}}})},
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
		child(view, "spec")["claimRef"] = object{"kind": "MarkdownView", "namespace": "claims", "name": "sample"}
	}
}

// observe adds a composed resource to the cluster, in a random state.
func observe(t testing.TB, c *cluster.Cluster, s *sample.Source, key string) {
	t.Helper()
	earlier := newCluster(t, c.XR, c.Input)
	earlier.Shared, earlier.Repositories = c.Shared, c.Repositories
	if s.Maybe(3) {
		child(earlier.XR, "spec")["markdowns"] = book("earlier")
	}
	if earlier.Input != nil && s.Maybe(3) {
		earlier.Input = clone(earlier.Input)
		earlier.Input["immutableConfigMaps"] = s.Maybe(2)
	}
	if s.Maybe(3) {
		child(earlier.XR, "spec")["replicas"] = float64(s.Below(6))
	}
	rsp := run(t, earlier.Request())
	if key == "configmap" {
		key = textOf(rsp)
	}
	desired := rsp.GetDesired().GetResources()[key].GetResource().AsMap()
	if len(desired) == 0 {
		return
	}
	c.Apply(key, desired)

	o := c.Objects[key]
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
	for _, name := range []string{
		"observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas",
	} {
		if n := s.Below(6); n > 0 {
			status[name] = float64(n)
		}
	}
	var conditions []any
	for _, kind := range []string{"Available", "Progressing", "ReplicaFailure"} {
		if s.Maybe(2) {
			status := sample.Pick(s, "False", "True")
			message := sample.Pick(s, "Message.", "", "Two\nlines", "一", strings.Repeat("long ", 4000))
			conditions = append(conditions, cluster.Condition(kind, status, "Reason", message))
		}
	}
	if conditions != nil {
		status["conditions"] = conditions
	}

	return status
}

// remember gives the XR the status of an earlier response.
func remember(c *cluster.Cluster, s *sample.Source) {
	metadata(c.XR)["generation"] = float64(1 + s.Below(3))
	if s.Maybe(3) {
		return
	}
	conditions := []any{object{"type": "Synced", "status": "True", "reason": "ReconcileSuccess"}}
	for _, kind := range []string{"Available", "Degraded", "BookComplete"} {
		if s.Maybe(4) {
			continue
		}
		conditions = append(conditions, cluster.Condition(kind, sample.Pick(s, "True", "False", "Unknown"), sample.Pick(s,
			"Available", "RollingOut", "Unavailable", "Creating", "AsExpected", "Missing", "ProgressDeadlineExceeded",
			"FatalError", "Complete", "Incomplete"),
			sample.Pick(s, "The book has problems: a", "", "a\nb", strings.Repeat("long ", 4000))))
	}
	// While Crossplane's circuit breaker is open, the condition is false.
	conditions = append(conditions, cluster.Condition("Responsive", sample.Pick(s, "False", "True"), "Reason", ""))
	c.XR["status"] = object{"status": sample.Pick(s, "NotReady", "Available", "Healthy"), "conditions": conditions}
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
		key := sample.Pick(s, slices.Concat(ours, optional)...)
		kind := sample.Pick(s, "Secret", "ConfigMap", "Deployment", "Service")
		req.Desired.Resources[key] = &fnv1.Resource{Resource: toStruct(t, object{"apiVersion": "v1", "kind": kind})}
	}
	status := sample.Pick[any](s, object{"theirs": 1.0, "url": "theirs"}, nil, "text")
	req.Desired.Composite = &fnv1.Resource{
		Resource:          toStruct(t, object{"kind": "X", "status": status}),
		ConnectionDetails: map[string][]byte{"password": []byte("secret")},
		Ready:             sample.Pick(s, fnv1.Ready_READY_FALSE, fnv1.Ready_READY_TRUE, fnv1.Ready_READY_UNSPECIFIED),
	}
}

// corrupt changes a request to one that Crossplane never sends.
func corrupt(t testing.TB, s *sample.Source, req *fnv1.RunFunctionRequest) {
	t.Helper()
	roots := []*structpb.Struct{
		req.GetObserved().GetComposite().GetResource(), req.GetInput(), req.GetContext(),
		req.GetDesired().GetComposite().GetResource(),
	}
	for _, state := range []*fnv1.State{req.GetObserved(), req.GetDesired()} {
		for _, key := range slices.Sorted(maps.Keys(state.GetResources())) {
			roots = append(roots, state.GetResources()[key].GetResource())
		}
	}
	for _, key := range slices.Sorted(maps.Keys(req.GetRequiredResources())) {
		for _, r := range req.GetRequiredResources()[key].GetItems() {
			roots = append(roots, r.GetResource())
		}
	}
	for range 1 + s.Below(3) {
		corruptStruct(t, s, sample.Pick(s, roots...), sample.Pick(s, 2, 1, 3, 4, 6, 8))
	}
}

// corruptStruct replaces, adds or removes a field, at most the given levels deep.
func corruptStruct(t testing.TB, s *sample.Source, in *structpb.Struct, levels int) {
	t.Helper()
	if len(in.GetFields()) == 0 {
		return
	}
	name := sample.Pick(s, slices.Sorted(maps.Keys(in.GetFields()))...)
	if levels > 1 {
		next := in.GetFields()[name]
		if l := next.GetListValue().GetValues(); len(l) > 0 {
			i := s.Below(len(l))
			if l[i].GetStructValue() == nil {
				l[i] = odd(t, s)

				return
			}
			next = l[i]
		}
		if next.GetStructValue() != nil {
			corruptStruct(t, s, next.GetStructValue(), levels-1)

			return
		}
	}
	switch s.Below(6) {
	case 0:
		delete(in.GetFields(), name)
	case 1:
		in.GetFields()[oddName(s)] = in.GetFields()[name]
	case 2:
		in.GetFields()[oddName(s)] = odd(t, s)
	default:
		in.GetFields()[name] = odd(t, s)
	}
}

func oddName(s *sample.Source) string {
	return sample.Pick(s,
		"", " ", "a.b/c", "$patch", "$retainKeys", "$setElementOrder/containers", "$deleteFromPrimitiveList/args", "$x",
		"name", "namespace", "status", "spec", "data", "SUMMARY.md", "print.md", "..", "new\nline", "\x00", "一",
		"app.kubernetes.io/name", strings.Repeat("k", 300), strings.Repeat("\n", 100_000))
}

// odd returns a value that is invalid for nearly every field.
func odd(t testing.TB, s *sample.Source) *structpb.Value {
	t.Helper()
	empty := &structpb.Value{}

	return valueOf(t, sample.Pick[any](s,
		nil, empty, true, "", "x", 0, -1, 0.5, 1e300, math.NaN(), math.Inf(-1), math.MaxInt64,
		"-1", "1e999999999", "1E-999999999", "NaN", "Zw==", "not base64", "a b\nc", "\x00\u202e一",
		"[a-", "*", "a@b@c", "latest", "2024-01-01T00:00:00Z", "0x1p-2",
		strings.Repeat("x", 300), strings.Repeat("\x00", 100_000), strings.Repeat("一", 50_000),
		strings.Repeat("9", 100_000),
		structpb.NewStructValue(nil), object{}, structpb.NewListValue(nil), []any{},
		[]any{nil, "x", object{"a": "b"}}, []any{object{"name": "x"}, object{"name": "x"}},
		structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{empty}}),
		object{"$patch": "delete"}, object{"$patch": "replace"}, object{"$patch": "odd"}, object{"$patch": 1},
		object{"$retainKeys": "x"}, object{"name": nil}, object{"name": "mdbook"}, object{"a": empty},
		deep(200),
	))
}

func deep(levels int) *structpb.Value {
	v := structpb.NewStringValue("bottom")
	for range levels {
		v = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{v}})
	}

	return v
}
