package template

import (
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/internal/objects"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// Check returns the errors that a template has before it is merged.
func Check[T any](template *runtime.RawExtension, at *field.Path) field.ErrorList {
	if template == nil {
		return nil
	}
	patch := patchOf(template)
	if patch == nil {
		return field.ErrorList{field.TypeInvalid(at, field.OmitValueType{}, "must be an object")}
	}
	errs := validatePatch(patch, at)
	typed, err := objects.Decode(objects.In(objects.Encode(&patch).Encoded), new(T), at, objects.Options{Strict: true, Check: request.CheckQuantity})
	if err != nil {
		return field.ErrorList{field.InternalError(at, err)}
	}

	return append(errs, typed...)
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

// validatePatch returns an error for every invalid directive, and for every text that would
// not arrive unchanged, which the API server would reject without naming its path. It
// removes the directives, which leaves the fields of a resource.
func validatePatch(v any, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch v := v.(type) {
	case string:
		if !view.Plain(v) {
			errs = append(errs, field.Invalid(at, field.OmitValueType{}, view.MessageControl))
		}
	case []any:
		for i, child := range v {
			errs = append(errs, validatePatch(child, at.Index(i))...)
		}
	case map[string]any:
		for name, child := range v {
			if !view.Plain(name) {
				errs = append(errs, field.Invalid(at.Key(report.Short(name)), field.OmitValueType{}, view.MessageControl))
			}
			if strings.HasPrefix(name, "$") {
				errs = append(errs, validateDirective(name, child, at.Child(report.Short(name)))...)
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
