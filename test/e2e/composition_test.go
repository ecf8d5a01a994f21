package e2e

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

// A step is a step of a pipeline.
type step struct {
	function string
	input    map[string]any
}

// ours returns the step that calls function-markdownview, with the fields of an Input in YAML.
// Without fields there is no Input.
func ours(fields string) step {
	if fields == "" {
		return step{function: controlplane.FunctionName}
	}

	return step{controlplane.FunctionName, input("markdownview.fn.crossplane.io/v1beta1", fields)}
}

// fixed returns the step that calls the fixture.
func (k *kit) fixed(fields string) step { return step{k.fixture, input("e2e.example.org/v1", fields)} }

func input(apiVersion, fields string) map[string]any {
	i := map[string]any{"apiVersion": apiVersion, "kind": "Input"}
	with(fields)(i)

	return i
}

// given returns the option of a Composition whose Input has these fields.
func (k *kit) given(suffix, fields string) option {
	k.Helper()

	return composedBy(k.composition(suffix, kind, ours(fields)))
}

// composition applies a Composition and returns its name. A second call with the same suffix
// updates that Composition.
func (k *kit) composition(suffix string, gvk schema.GroupVersionKind, steps ...step) string {
	k.Helper()
	var pipeline []any
	for i, s := range steps {
		p := map[string]any{"step": fmt.Sprintf("step-%d", i), "functionRef": map[string]any{"name": s.function}}
		if s.input != nil {
			p["input"] = s.input
		}
		pipeline = append(pipeline, p)
	}
	u := k.parse(fmt.Sprintf(`
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: %s-%s}
spec:
  compositeTypeRef: {apiVersion: %s, kind: %s}
  mode: Pipeline
`, k.namespace, suffix, gvk.GroupVersion(), gvk.Kind))[0]
	k.must(unstructured.SetNestedSlice(u.Object, pipeline, "spec", "pipeline"))
	k.apply(u)

	return u.GetName()
}

// example applies the Composition in a folder of example with a changed Input, and returns its
// name, which no other test uses.
func (k *kit) example(folder string, change ...option) string {
	k.Helper()
	u := k.manifests(folder + "/composition.yaml")[0]
	u.SetName(k.namespace + "-" + folder)
	step := u.Object["spec"].(map[string]any)["pipeline"].([]any)[0].(map[string]any)
	for _, f := range change {
		f(step["input"].(map[string]any))
	}
	k.apply(u)

	return u.GetName()
}
