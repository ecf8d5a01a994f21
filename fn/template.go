package fn

import (
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/objects"
)

// guarded returns the fields that a template must not change: the identity of a
// resource, the labels by which a Deployment and a Service select pods, the fields that
// Crossplane sets, and the field immutable, which would block the next change of the
// text.
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
		{"metadata", "uid"},
		{"metadata", "resourceVersion"},
		{"metadata", "generation"},
		{"metadata", "creationTimestamp"},
		{"metadata", "deletionTimestamp"},
		{"metadata", "deletionGracePeriodSeconds"},
		{"metadata", "managedFields"},
		{"spec", "selector"},
		{"metadata", "annotations", annotationServing},
		{"spec", "template", "metadata", "annotations", annotationConfigMap},
		{"metadata", "annotations", annotationIncomplete},
	}
	for name := range (view{}).selector() {
		paths = append(paths,
			[]string{"metadata", "labels", name},
			[]string{"spec", "template", "metadata", "labels", name})
	}

	return paths
}

// validateTemplates returns the errors that the templates have before they are merged:
// unknown fields, values of a wrong type, and texts that would not arrive unchanged.
func validateTemplates(t v1beta1.Templates, at *field.Path) field.ErrorList {
	errs := validateTemplate[corev1.ConfigMap](t.ConfigMap, at.Child("configMap"))
	errs = append(errs, validateTemplate[appsv1.Deployment](t.Deployment, at.Child("deployment"))...)

	return append(errs, validateTemplate[corev1.Service](t.Service, at.Child("service"))...)
}

func validateTemplate[T any](template *runtime.RawExtension, at *field.Path) field.ErrorList {
	if template == nil {
		return nil
	}
	patch := patchOf(template)
	if patch == nil {
		return field.ErrorList{field.TypeInvalid(at, field.OmitValueType{}, "must be an object")}
	}
	errs := validatePatch(patch, at)
	typed, err := objects.Decode(objects.In(objects.Encode(&patch).Encoded), new(T), at, objects.Options{Strict: true, Check: checkQuantity})
	if err != nil {
		return field.ErrorList{field.InternalError(at, err)}
	}

	return append(errs, typed...)
}

// templateProblems returns the problems that show when the templates are merged, although the
// view has other problems, so that all are reported at once.
func templateProblems(v view) problems {
	t, at := v.input.Templates, field.NewPath("input", "templates")
	errs := validateMerge(configMap(v), t.ConfigMap, at.Child("configMap"))
	errs = append(errs, validateMerge(deployment(v, observed{}, corev1.Volume{Name: volumeName}), t.Deployment, at.Child("deployment"))...)

	return problemsOf(ReasonInvalidInput, append(errs, validateMerge(service(v), t.Service, at.Child("service"))...))
}

func validateMerge[T any](composed *T, template *runtime.RawExtension, at *field.Path) field.ErrorList {
	if len(validateTemplate[T](template, at)) == 0 {
		_, errs := merge(composed, template, at)

		return errs
	}
	// The library cannot merge every invalid template: it would panic.
	before, err := runtime.DefaultUnstructuredConverter.ToUnstructured(composed)
	if err != nil {
		return field.ErrorList{field.InternalError(at, err)}
	}
	patch := patchOf(template)

	return validateGuarded(at, func(path []string) bool {
		value, found, err := unstructured.NestedFieldNoCopy(patch, path...)

		return !found || err != nil || reflect.DeepEqual(lookup(before, path), value)
	})
}

// validateGuarded returns an error for each guarded field that a template changes.
func validateGuarded(at *field.Path, keeps func(path []string) bool) field.ErrorList {
	var errs field.ErrorList
	for _, path := range guarded() {
		if !keeps(path) {
			errs = append(errs, field.Forbidden(at.Child(path[0], path[1:]...), "a template cannot change this field: remove it"))
		}
	}

	return errs
}

// patchOf returns a template as a tree of maps. Validation rejects a template that is
// not an object.
func patchOf(template *runtime.RawExtension) map[string]any {
	patch := map[string]any{}
	if err := json.Unmarshal(template.Raw, &patch); err != nil {
		return nil
	}

	return patch
}

// merge returns a composed resource with a template merged over it by a strategic merge
// patch, which uses the merge keys of its Kubernetes type. With an error, it returns
// the resource unchanged.
func merge[T any](composed *T, template *runtime.RawExtension, at *field.Path) (*T, field.ErrorList) {
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

	errs := validateGuarded(at, func(path []string) bool { return reflect.DeepEqual(lookup(before, path), lookup(after, path)) })
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

// validatePatch returns an error for every invalid directive, and for every text that would
// not arrive unchanged, which the API server would reject without naming its path. It
// removes the directives, which leaves the fields of a resource.
func validatePatch(v any, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch v := v.(type) {
	case string:
		if !plain(v) {
			errs = append(errs, field.Invalid(at, field.OmitValueType{}, messageControl))
		}
	case []any:
		for i, child := range v {
			errs = append(errs, validatePatch(child, at.Index(i))...)
		}
	case map[string]any:
		for name, child := range v {
			if !plain(name) {
				errs = append(errs, field.Invalid(at.Key(short(name)), field.OmitValueType{}, messageControl))
			}
			if strings.HasPrefix(name, "$") {
				errs = append(errs, validateDirective(name, child, at.Child(short(name)))...)
				delete(v, name)
			}
			errs = append(errs, validatePatch(child, at.Child(name))...)
		}
	}

	return errs
}

// validateDirective rejects directives other than $patch and $retainKeys, and invalid values.
// kubectl computes the other directives for the order of lists: with them, the result of a
// merge depends on the order in which Go iterates over a map, and some values cause a panic.
func validateDirective(name string, value any, at *field.Path) field.ErrorList {
	switch keys, list := value.([]any); name {
	case "$patch":
		if value != "replace" && value != "delete" {
			return field.ErrorList{field.NotSupported(at, field.OmitValueType{}, []string{"replace", "delete"})}
		}
	case "$retainKeys":
		if !list || slices.ContainsFunc(keys, func(key any) bool { return reflect.TypeOf(key) != reflect.TypeFor[string]() }) {
			return field.ErrorList{field.TypeInvalid(at, field.OmitValueType{}, "must be a list of strings")}
		}
	default:
		return field.ErrorList{field.Forbidden(at, "unknown directive: use $patch or $retainKeys, or remove it")}
	}

	return nil
}

func lookup(object map[string]any, path []string) any {
	value, _, err := unstructured.NestedFieldNoCopy(object, path...)
	if err != nil {
		return err.Error()
	}

	return value
}
