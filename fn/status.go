package fn

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
)

// The values of status.status.
const (
	// stateNotReady means that no pod is available.
	stateNotReady = "NotReady"
	// stateAvailable means that some pods are available, but not all resources are
	// ready.
	stateAvailable = "Available"
	// stateHealthy means that all resources are ready: all requested pods run the
	// current spec.
	stateHealthy = "Healthy"
)

// statusFields lists the status fields that the function writes.
var statusFields = []v1beta1.StatusField{
	v1beta1.StatusFieldStatus,
	v1beta1.StatusFieldReplicas,
	v1beta1.StatusFieldReadyReplicas,
	v1beta1.StatusFieldSelector,
	v1beta1.StatusFieldObservedGeneration,
	v1beta1.StatusFieldURL,
}

// A status holds the status fields that the function writes. It has all that the XRD
// declares: Crossplane removes a field that a response leaves out.
type status map[v1beta1.StatusField]any

// urlOf returns the address of the book: the public one, or the one inside the cluster.
func urlOf(v view, ports []corev1.ServicePort) string {
	if v.host() != "" {
		return v.publicURL()
	}
	url := fmt.Sprintf("http://%s.%s.svc", v.viewerName(), v.namespace())
	if port := portOf(ports); port != servicePort {
		return fmt.Sprintf("%s:%d", url, port)
	}

	return url
}

func statusOf(v view, o observed, d *desired, ready readiness) status {
	s := status{
		v1beta1.StatusFieldStatus:             stateNotReady,
		v1beta1.StatusFieldReplicas:           int32(0),
		v1beta1.StatusFieldReadyReplicas:      int32(0),
		v1beta1.StatusFieldSelector:           labels.FormatLabels(v.selector()),
		v1beta1.StatusFieldObservedGeneration: v.Metadata.Generation,
		v1beta1.StatusFieldURL:                urlOf(v, d.service.Spec.Ports),
	}
	if o.deployment != nil {
		// A rollout adds a pod before it removes one. The numbers do not count it: each
		// change of them would be an update of the XR, an event and a call.
		requested := ptr.Deref(d.deployment.Spec.Replicas, o.deployment.replicas())
		s[v1beta1.StatusFieldReplicas] = min(o.deployment.Status.Replicas, requested)
		s[v1beta1.StatusFieldReadyReplicas] = min(o.deployment.Status.ReadyReplicas, requested)
	}
	switch {
	case ready.all():
		s[v1beta1.StatusFieldStatus] = stateHealthy
	case o.deployment.serving():
		s[v1beta1.StatusFieldStatus] = stateAvailable
	}
	declared := v.input.StatusFields
	if declared == nil {
		declared = v.declared
	}
	if declared != nil {
		maps.DeleteFunc(s, func(f v1beta1.StatusField, _ any) bool { return !slices.Contains(declared, f) })
	}

	return s
}

// withhold replaces the fields that describe the pods with their last values.
//
// Crossplane writes the fields before the conditions. While Available changes, a reader in
// between would see the new generation or STATUS with the conditions of the previous one.
// So the next call writes the fields, after the conditions. It also saves an update:
// Crossplane writes the status in the call after each change of a condition anyway.
func (s status) withhold(last lastStatus) {
	keep(s, v1beta1.StatusFieldStatus, last.Status.Status)
	keep(s, v1beta1.StatusFieldReplicas, last.Status.Replicas)
	keep(s, v1beta1.StatusFieldReadyReplicas, last.Status.ReadyReplicas)
	keep(s, v1beta1.StatusFieldObservedGeneration, last.Status.ObservedGeneration)
}

func keep[T any](s status, name v1beta1.StatusField, last *T) {
	if _, ok := s[name]; ok && last != nil {
		s[name] = *last
	}
}
