package judge

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/compose"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
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

// A Status holds the status fields that the function writes. It has all that the XRD
// declares: Crossplane removes a field that a response leaves out.
type Status map[v1beta1.StatusField]any

// URLOf returns the address of the book: the public one, or the one inside the cluster.
func URLOf(v view.View, ports []corev1.ServicePort) string {
	if v.Host() != "" {
		return v.PublicURL()
	}
	url := fmt.Sprintf("http://%s.%s.svc", v.ViewerName(), v.Namespace())
	if port := compose.PortOf(ports); port != view.ServicePort {
		return fmt.Sprintf("%s:%d", url, port)
	}

	return url
}

// StatusOf returns the status fields that the XRD declares.
func StatusOf(v view.View, o request.Observed, d *compose.Desired, ready Readiness) Status {
	s := Status{
		v1beta1.StatusFieldStatus:             stateNotReady,
		v1beta1.StatusFieldReplicas:           int32(0),
		v1beta1.StatusFieldReadyReplicas:      int32(0),
		v1beta1.StatusFieldSelector:           labels.FormatLabels(v.Selector()),
		v1beta1.StatusFieldObservedGeneration: v.Metadata.Generation,
		v1beta1.StatusFieldURL:                URLOf(v, d.Service.Spec.Ports),
	}
	if o.Deployment != nil {
		// A rollout adds a pod before it removes one. The numbers do not count it: each
		// change of them would be an update of the XR, an event and a call.
		requested := ptr.Deref(d.Deployment.Spec.Replicas, o.Deployment.Replicas())
		s[v1beta1.StatusFieldReplicas] = min(o.Deployment.Status.Replicas, requested)
		s[v1beta1.StatusFieldReadyReplicas] = min(o.Deployment.Status.ReadyReplicas, requested)
	}
	switch {
	case ready.all():
		s[v1beta1.StatusFieldStatus] = stateHealthy
	case o.Deployment.Serving():
		s[v1beta1.StatusFieldStatus] = stateAvailable
	}
	declared := v.Input.StatusFields
	if declared == nil {
		declared = v.Declared
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
func (s Status) withhold(last view.LastStatus) {
	keep(s, v1beta1.StatusFieldStatus, last.Status.Status)
	keep(s, v1beta1.StatusFieldReplicas, last.Status.Replicas)
	keep(s, v1beta1.StatusFieldReadyReplicas, last.Status.ReadyReplicas)
	keep(s, v1beta1.StatusFieldObservedGeneration, last.Status.ObservedGeneration)
}

func keep[T any](s Status, name v1beta1.StatusField, last *T) {
	if _, ok := s[name]; ok && last != nil {
		s[name] = *last
	}
}
