// Package template checks the templates of the Input, and merges them over composed
// resources.
package template

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// guarded returns the fields of a kind that a template must not change: the identity of a
// resource, the labels by which a Deployment and a Service select pods, the fields that
// Crossplane sets, those of an HTTPRoute and an Ingress that follow from the Input and from
// each MarkdownView, and the field immutable, which would block the next change of the text.
func guarded(kind any) [][]string {
	paths := [][]string{
		{"apiVersion"},
		{"kind"},
		{"status"},
		{"immutable"},
		{"metadata", "name"},
		{"metadata", "generateName"},
		{"metadata", "namespace"},
		{"metadata", "ownerReferences"},
		{"metadata", "uid"},
		{"metadata", "resourceVersion"},
		{"metadata", "generation"},
		{"metadata", "creationTimestamp"},
		{"metadata", "deletionTimestamp"},
		{"metadata", "deletionGracePeriodSeconds"},
		{"metadata", "managedFields"},
		{"spec", "selector"},
		{"metadata", "annotations", view.AnnotationServing},
		{"spec", "template", "metadata", "annotations", view.AnnotationConfigMap},
		{"spec", "template", "metadata", "annotations", view.AnnotationNginx},
		{"metadata", "annotations", view.AnnotationIncomplete},
	}
	switch kind {
	case "HTTPRoute":
		paths = append(paths, []string{"spec", "parentRefs"}, []string{"spec", "hostnames"})
	case "Ingress":
		paths = append(paths, []string{"spec", "rules"}, []string{"spec", "tls"})
	}
	for name := range (view.View{}).Selector() {
		paths = append(paths,
			[]string{"metadata", "labels", name},
			[]string{"spec", "template", "metadata", "labels", name})
	}

	return paths
}

// CheckMerge returns the errors that show when a template is merged, also of a template that
// has errors of its own.
func CheckMerge[T any](composed *T, template *runtime.RawExtension, at *field.Path) field.ErrorList {
	if template == nil || composed == nil {
		return nil
	}
	if len(Check[T](template, at)) == 0 {
		_, errs := Merge(composed, template, at)

		return errs
	}
	// The library cannot merge every invalid template: it would panic.
	before, err := runtime.DefaultUnstructuredConverter.ToUnstructured(composed)
	if err != nil {
		return field.ErrorList{field.InternalError(at, err)}
	}
	patch := patchOf(template)

	return validateGuarded(at, before["kind"], func(path []string) bool {
		value, found, err := unstructured.NestedFieldNoCopy(patch, path...)

		return !found || err != nil || reflect.DeepEqual(lookup(before, path), value)
	})
}

// validateGuarded returns an error for each guarded field that a template changes.
func validateGuarded(at *field.Path, kind any, keeps func(path []string) bool) field.ErrorList {
	var errs field.ErrorList
	for _, path := range guarded(kind) {
		if !keeps(path) {
			errs = append(errs, field.Forbidden(at.Child(path[0], path[1:]...), "remove it: a template cannot change this field"))
		}
	}

	return errs
}

// Merge returns a composed resource with a template merged over it by a strategic merge
// patch, which uses the merge keys of its Kubernetes type. With an error, it returns
// the resource unchanged.
func Merge[T any](composed *T, template *runtime.RawExtension, at *field.Path) (*T, field.ErrorList) {
	if template == nil {
		return composed, nil
	}

	before, err := runtime.DefaultUnstructuredConverter.ToUnstructured(composed)
	if err != nil {
		return composed, field.ErrorList{field.InternalError(at, err)}
	}
	// StrategicMergeMapPatch changes its argument.
	after, err := strategicpatch.StrategicMergeMapPatch(runtime.DeepCopyJSON(before), patchOf(template), *composed)
	if err != nil {
		return composed, field.ErrorList{field.Invalid(at, field.OmitValueType{}, err.Error())}
	}

	errs := validateGuarded(at, before["kind"], func(path []string) bool { return reflect.DeepEqual(lookup(before, path), lookup(after, path)) })
	if len(errs) > 0 {
		return composed, errs
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

// lookup returns the value at a path, or nil. It has no error: the objects have the form of
// their types.
func lookup(object map[string]any, path []string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(object, path...)

	return value
}
