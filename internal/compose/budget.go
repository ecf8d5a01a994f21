package compose

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/internal/files"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// budget returns the PodDisruptionBudget of a view, or nil if the Input has none.
func budget(v view.View) *policyv1.PodDisruptionBudget {
	in := v.Input.PodDisruptionBudget
	if in == nil {
		return nil
	}
	b := &policyv1.PodDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
		ObjectMeta: files.Metadata(v, v.ViewerName(), nil),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: in.MaxUnavailable,
			MinAvailable:   in.MinAvailable,
			Selector:       &metav1.LabelSelector{MatchLabels: v.Selector()},
			// A pod that is not ready must not keep a node from being drained.
			UnhealthyPodEvictionPolicy: ptr.To(policyv1.AlwaysAllow),
		},
	}
	if in.MaxUnavailable == nil && in.MinAvailable == nil {
		b.Spec.MaxUnavailable = ptr.To(intstr.FromInt32(1))
	}

	return b
}

// needsBudget returns whether there are at least two replicas: for one, a budget would allow
// either no eviction or every eviction.
func needsBudget(o request.Observed, d *Desired) bool {
	replicas := ptr.Deref(d.Deployment.Spec.Replicas, 0)
	if d.Deployment.Spec.Replicas == nil && o.Deployment != nil {
		replicas = o.Deployment.Replicas()
	}

	return replicas >= 2
}
