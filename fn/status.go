package fn

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
)

// The values of status.status.
const (
	// stateNotReady means that no viewer is available.
	stateNotReady = "NotReady"
	// stateAvailable means that some are, or that a change rolls out.
	stateAvailable = "Available"
	// stateHealthy means that all wanted viewers run what the spec says now.
	stateHealthy = "Healthy"
)

// statusFields are all that the function writes.
var statusFields = []v1beta1.StatusField{
	v1beta1.StatusFieldStatus,
	v1beta1.StatusFieldReplicas,
	v1beta1.StatusFieldReadyReplicas,
	v1beta1.StatusFieldSelector,
	v1beta1.StatusFieldObservedGeneration,
	v1beta1.StatusFieldURL,
}

// A status is what the function writes of an XR's status, always whole:
// Crossplane removes a field that an answer leaves out.
type status struct {
	Status             string `json:"status"`
	Replicas           int32  `json:"replicas"`
	ReadyReplicas      int32  `json:"readyReplicas"`
	Selector           string `json:"selector"`
	ObservedGeneration int64  `json:"observedGeneration"`
	URL                string `json:"url"`
}

// urlOf returns where the book is served inside the cluster: at the port of ours
// that a template may have changed, or at the first when it has taken ours away.
func urlOf(v view, ports []corev1.ServicePort) string {
	url := fmt.Sprintf("http://%s.%s.svc", v.viewerName(), v.namespace())
	i := max(0, slices.IndexFunc(ports, func(p corev1.ServicePort) bool { return p.Name == portName }))
	if port := ports[i].Port; port != servicePort {
		return fmt.Sprintf("%s:%d", url, port)
	}

	return url
}

func statusOf(v view, want desired, seen observed, ready readiness) status {
	s := status{
		Status:             stateNotReady,
		Selector:           labels.FormatLabels(v.selector()),
		ObservedGeneration: v.Metadata.Generation,
		URL:                urlOf(v, want.service.Spec.Ports),
	}
	if d := seen.deployment; d != nil {
		s.Replicas, s.ReadyReplicas = d.Status.Replicas, d.Status.ReadyReplicas
	}
	switch {
	case ready.configMap && ready.deployment:
		s.Status = stateHealthy
	case seen.deployment.serving():
		s.Status = stateAvailable
	}

	return s
}
