package fn

import (
	"fmt"
	"maps"
	"reflect"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// observed are the composed resources as they were before this call. One that
// was not there is nil.
type observed struct {
	configMap  *configMapState
	deployment *deploymentState
	service    *serviceState
}

// The states hold what the function reads of an observed resource, nothing
// else: what they do not declare is not decoded.

type configMapState struct {
	Metadata struct {
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Data       map[string]string `json:"data"`
	BinaryData map[string][]byte `json:"binaryData"`
}

type deploymentState struct {
	Metadata struct {
		Namespace  string `json:"namespace"`
		Generation int64  `json:"generation"`
	} `json:"metadata"`
	Spec struct {
		Replicas *int32 `json:"replicas"`
		Template struct {
			Metadata struct {
				Annotations struct {
					Revision string `json:"markdownview.fn.crossplane.io/revision"`
				} `json:"annotations"`
			} `json:"metadata"`
		} `json:"template"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration  int64       `json:"observedGeneration"`
		Replicas            int32       `json:"replicas"`
		UpdatedReplicas     int32       `json:"updatedReplicas"`
		ReadyReplicas       int32       `json:"readyReplicas"`
		AvailableReplicas   int32       `json:"availableReplicas"`
		UnavailableReplicas int32       `json:"unavailableReplicas"`
		Conditions          []condition `json:"conditions"`
	} `json:"status"`
}

type serviceState struct {
	Metadata struct {
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		ClusterIP string `json:"clusterIP"`
	} `json:"spec"`
	Status struct {
		LoadBalancer struct {
			Ingress []struct{} `json:"ingress"`
		} `json:"loadBalancer"`
	} `json:"status"`
}

// observe reads our composed resources. What it cannot read counts as absent:
// it comes from the API server, which has no such values.
func observe(req *fnv1.RunFunctionRequest) observed {
	return observed{
		configMap:  state[configMapState](req, keyConfigMap),
		deployment: state[deploymentState](req, keyDeployment),
		service:    state[serviceState](req, keyService),
	}
}

// moved returns a fault when the Input names another namespace than the one in
// which resources of a cluster-scoped XR live. Crossplane leaves those where they
// are, and would create what is missing in the other one.
func (o observed) moved(v view) field.ErrorList {
	if v.Metadata.Namespace != "" {
		return nil
	}
	var homes []string
	if o.configMap != nil {
		homes = append(homes, o.configMap.Metadata.Namespace)
	}
	if o.deployment != nil {
		homes = append(homes, o.deployment.Metadata.Namespace)
	}
	if o.service != nil {
		homes = append(homes, o.service.Metadata.Namespace)
	}
	for _, home := range homes {
		if home != "" && home != v.namespace() {
			return field.ErrorList{field.Forbidden(field.NewPath("input", "namespace"),
				fmt.Sprintf("the resources live in %q, and no resource can be moved: name that namespace, or delete the XR first", short(home)))}
		}
	}

	return nil
}

// ready returns whether the content is the one asked for now.
func (s *configMapState) ready(want desired) bool {
	return s != nil &&
		maps.Equal(s.Data, want.configMap.Data) &&
		len(s.BinaryData) == len(want.configMap.BinaryData) &&
		(len(s.BinaryData) == 0 || reflect.DeepEqual(s.BinaryData, want.configMap.BinaryData))
}

// ready returns whether the Service can be reached as its type asks.
func (s *serviceState) ready(want desired) bool {
	if s == nil || s.Spec.ClusterIP == "" {
		return false
	}

	return want.service.Spec.Type != corev1.ServiceTypeLoadBalancer || len(s.Status.LoadBalancer.Ingress) > 0
}

// ready returns whether all viewers that are wanted run what is asked for now,
// and no others do. A Deployment scaled to zero is ready without any.
func (s *deploymentState) ready(want desired) bool {
	return s != nil && s.asked(want) && s.rolledOut() &&
		s.Status.AvailableReplicas == s.wanted() &&
		s.Status.UnavailableReplicas == 0
}

// asked returns whether the Deployment holds what is asked for now. Before that
// all it says is about something else.
func (s *deploymentState) asked(want desired) bool {
	replicas := want.deployment.Spec.Replicas

	return s.revision() == revisionOf(want) && (replicas == nil || *replicas == s.wanted())
}

// caughtUp returns whether the status is about the spec that stands.
func (s *deploymentState) caughtUp() bool {
	return s.Status.ObservedGeneration >= s.Metadata.Generation
}

// rolledOut returns whether every viewer there is is one of the spec that
// stands.
func (s *deploymentState) rolledOut() bool {
	return s.caughtUp() && s.Status.UpdatedReplicas == s.wanted() && s.Status.Replicas == s.wanted()
}

// wanted is how many viewers the Deployment asks for, whoever set the number.
func (s *deploymentState) wanted() int32 {
	return ptr.Deref(s.Spec.Replicas, 1)
}

func (s *deploymentState) serving() bool {
	return s != nil && s.Status.AvailableReplicas > 0
}

func (s *deploymentState) revision() string {
	return s.Spec.Template.Metadata.Annotations.Revision
}

func revisionOf(want desired) string {
	return want.deployment.Spec.Template.Annotations[annotationRevision]
}
