package e2e

import (
	"context"
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

// ours returns the step that calls function-markdownview, with an Input unless it is
// nil.
func ours(input map[string]any) step {
	if input != nil {
		input["apiVersion"] = "markdownview.fn.crossplane.io/v1beta1"
		input["kind"] = "Input"
	}

	return step{function: controlplane.FunctionName, input: input}
}

// composition applies a Composition that is deleted after the test, and returns its
// name. A second call with the same suffix updates that Composition.
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
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.crossplane.io/v1",
		"kind":       "Composition",
		"metadata":   map[string]any{"name": k.namespace + "-" + suffix},
		"spec": map[string]any{
			"compositeTypeRef": map[string]any{"apiVersion": gvk.GroupVersion().String(), "kind": gvk.Kind},
			"mode":             "Pipeline",
			"pipeline":         pipeline,
		},
	}}
	k.apply(u)
	k.afterwards(u)

	return u.GetName()
}

// afterwards deletes an object after the test, if it still exists.
func (k *kit) afterwards(u *unstructured.Unstructured) {
	k.Cleanup(func() { _ = k.Delete(context.Background(), u) })
}
