package validate

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

func validateName(name string, required bool, at *field.Path) field.ErrorList {
	switch {
	case name == "" && required:
		return field.ErrorList{field.Required(at, "")}
	case name != "" && len(validation.IsDNS1123Subdomain(name)) > 0:
		return field.ErrorList{field.Invalid(at, report.Short(name), "must be the name of a resource")}
	default:
		return nil
	}
}

// supportedResources are the resources that a pod can request.
var supportedResources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}

func validateResources(r v1beta1.Resources, at *field.Path) field.ErrorList {
	errs := validateResourceList(r.Requests, at.Child("requests"))
	errs = append(errs, validateResourceList(r.Limits, at.Child("limits"))...)

	return append(errs, validateLimits(r.Requests, r.Limits, at)...)
}

func validateLimits(requests, limits corev1.ResourceList, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for name, request := range requests {
		if limit, ok := limits[name]; ok && request.Cmp(limit) > 0 {
			errs = append(errs, field.Invalid(at.Child("requests").Key(string(name)), request.String(),
				fmt.Sprintf("must not be above the limit %s", limit.String())))
		}
	}

	return errs
}

func validateResourceList(l corev1.ResourceList, at *field.Path) field.ErrorList {
	if most := len(supportedResources); len(l) > most {
		return field.ErrorList{field.NotSupported(at, field.OmitValueType{}, supportedResources)}
	}
	var errs field.ErrorList
	for name, q := range l {
		if !slices.Contains(supportedResources, name) {
			errs = append(errs, field.NotSupported(at, name, supportedResources))
		}
		if q.Sign() < 0 {
			errs = append(errs, field.Invalid(at.Key(string(name)), q.String(), "must not be negative"))
		}
	}

	return errs
}

func validateAnnotations(annotations map[string]string, at *field.Path) field.ErrorList {
	errs := apivalidation.ValidateAnnotations(annotations, at)
	for name, value := range annotations {
		if !view.Plain(value) {
			errs = append(errs, field.Invalid(at.Key(report.Short(name)), field.OmitValueType{}, view.MessageControl))
		}
	}

	return errs
}

func validateSecrets(secrets []corev1.LocalObjectReference, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	known := map[string]bool{}
	for i, s := range secrets {
		for _, detail := range validation.IsDNS1123Subdomain(s.Name) {
			errs = append(errs, field.Invalid(at.Index(i).Child("name"), report.Short(s.Name), detail))
		}
		// Server-side apply rejects a list with duplicate names.
		if known[s.Name] {
			errs = append(errs, field.Duplicate(at.Index(i).Child("name"), report.Short(s.Name)))
		}
		known[s.Name] = true
	}

	return errs
}

// validateAllAnnotations returns the errors of the annotations of one resource, by
// themselves and together with those of all resources.
func validateAllAnnotations(all, some map[string]string, at *field.Path) field.ErrorList {
	errs := validateAnnotations(some, at)
	if err := apivalidation.ValidateAnnotationsSize(view.Union(all, some)); err != nil {
		errs = append(errs, field.Forbidden(at, "shorten them: together with input.annotations, "+err.Error()))
	}

	return errs
}

func validateEnum[T ~string](value T, at *field.Path, supported ...T) field.ErrorList {
	if value == "" || slices.Contains(supported, value) {
		return nil
	}

	return field.ErrorList{field.NotSupported(at, value, supported)}
}
