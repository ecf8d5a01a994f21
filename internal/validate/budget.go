package validate

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
)

func validateBudget(b *v1beta1.PodDisruptionBudget, at *field.Path) field.ErrorList {
	if b == nil {
		return nil
	}

	return validateAmounts(b.MaxUnavailable, b.MinAvailable, at.Child("podDisruptionBudget"))
}

func validateAmounts(maxUnavailable, minAvailable *intstr.IntOrString, at *field.Path) field.ErrorList {
	errs := validateAmount(maxUnavailable, at.Child("maxUnavailable"))
	errs = append(errs, validateAmount(minAvailable, at.Child("minAvailable"))...)
	if maxUnavailable != nil && minAvailable != nil {
		errs = append(errs, field.Forbidden(at.Child("minAvailable"), "set maxUnavailable or minAvailable, not both"))
	}

	return errs
}

// validateAmount returns an error for a value that is neither a number of pods nor a
// percentage of at most 100%.
func validateAmount(amount *intstr.IntOrString, at *field.Path) field.ErrorList {
	if amount == nil || amount.Type == intstr.Int && amount.IntVal >= 0 || isPercentage(amount.StrVal) {
		return nil
	}

	return field.ErrorList{field.Invalid(at, report.Short(amount.String()), `must be a number of pods such as 1, or a percentage from "0%" to "100%"`)}
}

func isPercentage(text string) bool {
	percent, err := strconv.Atoi(strings.TrimSuffix(text, "%"))

	return err == nil && percent <= 100 && len(validation.IsValidPercent(text)) == 0
}
