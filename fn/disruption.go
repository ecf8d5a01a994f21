package fn

import (
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
)

// keyBudget is permanent, like the other keys.
const keyBudget = "poddisruptionbudget"

// A podDisruptionBudget has the fields of a PodDisruptionBudget that we own. The type of
// Kubernetes would make the binary larger.
type podDisruptionBudget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		MaxUnavailable             *intstr.IntOrString  `json:"maxUnavailable"`
		MinAvailable               *intstr.IntOrString  `json:"minAvailable"`
		Selector                   metav1.LabelSelector `json:"selector"`
		UnhealthyPodEvictionPolicy string               `json:"unhealthyPodEvictionPolicy"`
	} `json:"spec"`
}

// budget returns the PodDisruptionBudget of a view, and whether there is one. There is
// none for fewer than two replicas: for one, it would allow either no eviction or every
// eviction.
func budget(v view, o observed, d *desired) (composedResource, bool) {
	in := v.input.PodDisruptionBudget
	replicas := ptr.Deref(d.deployment.Spec.Replicas, 0)
	if d.deployment.Spec.Replicas == nil && o.deployment != nil {
		replicas = o.deployment.replicas()
	}
	if in == nil || replicas < 2 {
		return composedResource{}, false
	}

	b := &podDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
		ObjectMeta: v.metadata(v.viewerName(), nil),
	}
	b.Spec.MaxUnavailable, b.Spec.MinAvailable = in.MaxUnavailable, in.MinAvailable
	if in.MaxUnavailable == nil && in.MinAvailable == nil {
		b.Spec.MaxUnavailable = ptr.To(intstr.FromInt32(1))
	}
	b.Spec.Selector.MatchLabels = v.selector()
	// A pod that is not ready must not keep a node from being drained.
	b.Spec.UnhealthyPodEvictionPolicy = "AlwaysAllow"

	return composedResource{
		part:     part{keyBudget, b.APIVersion, b.Kind, b.Name},
		object:   b,
		optional: true,
	}, true
}

type observedBudget struct {
	Metadata observedMetadata `json:"metadata"`
	Status   struct {
		ObservedGeneration int64 `json:"observedGeneration"`
	} `json:"status"`
}

// ready returns whether the controller has observed the desired budget.
func (o *observedBudget) ready() bool {
	return o != nil && o.Metadata.DeletionTimestamp == "" && o.Status.ObservedGeneration >= max(1, o.Metadata.Generation)
}

func validateBudget(b *v1beta1.PodDisruptionBudget, at *field.Path) field.ErrorList {
	if b == nil {
		return nil
	}
	at = at.Child("podDisruptionBudget")
	errs := validateAmount(b.MaxUnavailable, at.Child("maxUnavailable"))
	errs = append(errs, validateAmount(b.MinAvailable, at.Child("minAvailable"))...)
	if b.MaxUnavailable != nil && b.MinAvailable != nil {
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

	return field.ErrorList{field.Invalid(at, short(amount.String()), `must be a number of pods such as 1, or a percentage from "0%" to "100%"`)}
}

func isPercentage(text string) bool {
	percent, err := strconv.Atoi(strings.TrimSuffix(text, "%"))

	return err == nil && percent <= 100 && len(validation.IsValidPercent(text)) == 0
}
