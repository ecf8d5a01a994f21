package view

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
)

// Resources returns the requests and limits of the mdBook container. Each
// value is that of the first layer that sets it: the XR, the Input, our defaults. If a
// request is above its limit, the value of the later layer is adjusted, so that no
// default contradicts a requested value.
func (v View) Resources() (requests, limits corev1.ResourceList) {
	if v.Spec.Resources.Requests == nil && v.Spec.Resources.Limits == nil && v.Input.Resources == nil {
		defaults := defaultResources()

		return defaults.Requests, defaults.Limits
	}

	return Layered(v.Spec.Resources, ptr.Deref(v.Input.Resources, v1beta1.Resources{}), defaultResources())
}

// Layered returns the requests and limits of layers. Earlier layers take precedence.
func Layered(layers ...v1beta1.Resources) (requests, limits corev1.ResourceList) {
	requests, limits = corev1.ResourceList{}, corev1.ResourceList{}
	requestLayer, limitLayer := map[corev1.ResourceName]int{}, map[corev1.ResourceName]int{}
	for i, l := range slices.Backward(layers) {
		for name, q := range l.Requests {
			requests[name], requestLayer[name] = q, i
		}
		for name, q := range l.Limits {
			limits[name], limitLayer[name] = q, i
		}
	}

	for name, request := range maps.Clone(requests) {
		limit, ok := limits[name]
		switch {
		case !ok || request.Cmp(limit) <= 0:
		case requestLayer[name] < limitLayer[name]:
			limits[name] = request
		default:
			requests[name] = limit
		}
	}

	return requests, limits
}

// defaultResources returns what an English book of 1 MiB needs. There is no CPU limit:
// mdBook needs CPU only to build the book, and a limit would slow that down.
func defaultResources() v1beta1.Resources {
	return v1beta1.Resources{
		Requests: corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity(10, resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(64<<20, resource.BinarySI),
		},
		Limits: corev1.ResourceList{
			corev1.ResourceMemory: *resource.NewQuantity(256<<20, resource.BinarySI),
		},
	}
}
