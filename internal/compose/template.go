package compose

import (
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/internal/files"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/validate"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
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
		{"spec", "template", "metadata", "annotations", view.AnnotationNginx},
		{"metadata", "annotations", annotationIncomplete},
	}
	for name := range (view.View{}).Selector() {
		paths = append(paths,
			[]string{"metadata", "labels", name},
			[]string{"spec", "template", "metadata", "labels", name})
	}

	return paths
}

// TemplateProblems returns the problems that show when the templates are merged, although the
// view has other problems, so that all are reported at once.
func TemplateProblems(v view.View) report.Problems {
	t, at := v.Input.Templates, field.NewPath("input", "templates")
	errs := validateMerge(files.NewConfigMap(v), t.ConfigMap, at.Child("configMap"))
	errs = append(errs, validateMerge(deployment(v, request.Observed{}, corev1.Volume{Name: view.VolumeName}), t.Deployment, at.Child("deployment"))...)

	return report.ProblemsOf(report.ReasonInvalidInput, append(errs, validateMerge(Service(v), t.Service, at.Child("service"))...))
}

func validateMerge[T any](composed *T, template *runtime.RawExtension, at *field.Path) field.ErrorList {
	if len(validate.Template[T](template, at)) == 0 {
		_, errs := merge(composed, template, at)

		return errs
	}
	// The library cannot merge every invalid template: it would panic.
	before, err := runtime.DefaultUnstructuredConverter.ToUnstructured(composed)
	if err != nil {
		return field.ErrorList{field.InternalError(at, err)}
	}
	patch := validate.PatchOf(template)

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
			errs = append(errs, field.Forbidden(at.Child(path[0], path[1:]...), "remove it: a template cannot change this field"))
		}
	}

	return errs
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
	after, err := strategicpatch.StrategicMergeMapPatch(runtime.DeepCopyJSON(before), validate.PatchOf(template), *composed)
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

func lookup(object map[string]any, path []string) any {
	value, _, err := unstructured.NestedFieldNoCopy(object, path...)
	if err != nil {
		return err.Error()
	}

	return value
}
