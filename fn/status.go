package fn

import (
	"fmt"

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

func statusOf(v view, seen observed, ready readiness) status {
	s := status{
		Status:             stateNotReady,
		Selector:           labels.FormatLabels(v.selector()),
		ObservedGeneration: v.Metadata.Generation,
		URL:                fmt.Sprintf("http://%s.%s.svc", v.viewerName(), v.namespace()),
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
