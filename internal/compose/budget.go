package compose

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/internal/files"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

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
func budget(v view.View, o request.Observed, d *Desired) (ComposedResource, bool) {
	in := v.Input.PodDisruptionBudget
	replicas := ptr.Deref(d.Deployment.Spec.Replicas, 0)
	if d.Deployment.Spec.Replicas == nil && o.Deployment != nil {
		replicas = o.Deployment.Replicas()
	}
	if in == nil || replicas < 2 {
		return ComposedResource{}, false
	}

	b := &podDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
		ObjectMeta: files.Metadata(v, v.ViewerName(), nil),
	}
	b.Spec.MaxUnavailable, b.Spec.MinAvailable = in.MaxUnavailable, in.MinAvailable
	if in.MaxUnavailable == nil && in.MinAvailable == nil {
		b.Spec.MaxUnavailable = ptr.To(intstr.FromInt32(1))
	}
	b.Spec.Selector.MatchLabels = v.Selector()
	// A pod that is not ready must not keep a node from being drained.
	b.Spec.UnhealthyPodEvictionPolicy = "AlwaysAllow"

	return ComposedResource{
		part:     part{view.KeyBudget, b.APIVersion, b.Kind, b.Name},
		Object:   b,
		Optional: true,
	}, true
}
