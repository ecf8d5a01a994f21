package fn

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
)

// containerResources returns the requests and limits of the viewer container, key by
// key from the first layer that has one: the XR, the Input, our own. A limit
// below the request is raised to it where the request comes from an earlier
// layer, and a request above the limit is lowered to it where the limit does,
// so that no default contradicts what was requested.
func (v view) containerResources() (requests, limits corev1.ResourceList) {
	if v.Spec.Resources.Requests == nil && v.Spec.Resources.Limits == nil && v.input.Resources == nil {
		defaults := defaultResources()

		return defaults.Requests, defaults.Limits
	}

	return layered(v.Spec.Resources, ptr.Deref(v.input.Resources, v1beta1.Resources{}), defaultResources())
}

// layered returns the requests and limits of layers, of which the first counts
// most.
func layered(layers ...v1beta1.Resources) (requests, limits corev1.ResourceList) {
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

// defaultResources suit an English book of 1 MiB. There is no limit on CPU: it
// would only slow the start, which is all the CPU that mdBook needs.
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
