package fn

import (
	"encoding/json"
	"reflect"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// guarded are the fields that a template may not change: the identity of a
// resource, what ties viewers to their Deployment and Service, what Crossplane
// keeps, and what would stand against the next change of the text.
func guarded() [][]string {
	paths := [][]string{
		{"apiVersion"},
		{"kind"},
		{"status"},
		{"immutable"},
		{"metadata", "name"},
		{"metadata", "generateName"},
		{"metadata", "namespace"},
		{"metadata", "ownerReferences"},
		{"spec", "selector"},
	}
	for name := range (view{}).selector() {
		paths = append(paths,
			[]string{"metadata", "labels", name},
			[]string{"spec", "template", "metadata", "labels", name})
	}

	return paths
}

// merge returns a composed resource with a template merged over it by strategic
// merge patch, which goes by the merge keys of the resource's Kubernetes type.
// With a fault it returns the resource as it was.
func merge[T any](composed *T, template *runtime.RawExtension, kind any, at *field.Path) (*T, field.ErrorList) {
	if template == nil {
		return composed, nil
	}

	v := &structpb.Value{}
	if err := v.UnmarshalJSON(template.Raw); err != nil {
		return composed, field.ErrorList{field.Invalid(at, field.OmitValueType{}, err.Error())}
	}
	if faults := decode(v, new(T), at, true); len(faults) > 0 {
		return composed, faults
	}

	before := encode(composed).AsMap()
	// The patch is applied in place.
	after, err := strategicpatch.StrategicMergeMapPatch(encode(composed).AsMap(), v.GetStructValue().AsMap(), kind)
	if err != nil {
		return composed, field.ErrorList{field.Invalid(at, field.OmitValueType{}, err.Error())}
	}

	var faults field.ErrorList
	for _, path := range guarded() {
		if !reflect.DeepEqual(lookup(before, path), lookup(after, path)) {
			faults = append(faults, field.Forbidden(at.Child(path[0], path[1:]...), "a template cannot change this field: remove it"))
		}
	}
	if len(faults) > 0 {
		return composed, faults
	}

	merged := new(T)
	b, err := json.Marshal(after)
	if err == nil {
		err = json.Unmarshal(b, merged)
	}
	if err != nil {
		return composed, field.ErrorList{field.Invalid(at, field.OmitValueType{}, strings.ReplaceAll(err.Error(), "\n", " "))}
	}

	return merged, nil
}

func lookup(object map[string]any, path []string) any {
	value, _, err := unstructured.NestedFieldNoCopy(object, path...)
	if err != nil {
		return err.Error()
	}

	return value
}
