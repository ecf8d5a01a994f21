package fn

import (
	"bytes"
	"fmt"
	"slices"

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

// An identity is where a resource lives, and whether it stays.
type identity struct {
	Name              string `json:"name"`
	Namespace         string `json:"namespace"`
	DeletionTimestamp string `json:"deletionTimestamp"`
}

type configMapState struct {
	Metadata   identity          `json:"metadata"`
	Data       map[string]string `json:"data"`
	BinaryData map[string][]byte `json:"binaryData"`
}

type deploymentState struct {
	Metadata struct {
		identity

		Generation int64 `json:"generation"`
	} `json:"metadata"`
	Spec struct {
		Paused   bool   `json:"paused"`
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
	Metadata identity `json:"metadata"`
	Spec     struct {
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

// moved returns a fault when resources live elsewhere than they would be composed
// now: in another namespace than the Input or the claim of a cluster-scoped XR
// names, or under another name, as one that another function has composed with the
// same key. Crossplane never moves or renames a resource.
func (o observed) moved(v view) field.ErrorList {
	type home struct {
		key, name string
		identity
	}
	var homes []home
	if o.configMap != nil {
		homes = append(homes, home{keyConfigMap, v.configMapName(), o.configMap.Metadata})
	}
	if o.deployment != nil {
		homes = append(homes, home{keyDeployment, v.viewerName(), o.deployment.Metadata.identity})
	}
	if o.service != nil {
		homes = append(homes, home{keyService, v.viewerName(), o.service.Metadata})
	}

	var faults field.ErrorList
	for _, h := range homes {
		if h.Name != "" && h.Name != h.name {
			faults = append(faults, field.Forbidden(field.NewPath("observed", "resources").Key(h.key),
				fmt.Sprintf("is %q, composed by something else, and Crossplane never renames a resource: delete it, and it is made again as %q", short(h.Name), h.name)))
		}
	}
	elsewhere := func(h home) bool { return h.Namespace != "" && h.Namespace != v.namespace() }
	if i := slices.IndexFunc(homes, elsewhere); i >= 0 && v.Metadata.Namespace == "" {
		faults = append(faults, field.Forbidden(v.namespacePath(),
			fmt.Sprintf("the resources live in %q, and no resource can be moved: go back to that namespace, or delete the XR first", short(homes[i].Namespace))))
	}

	return faults
}

// ready returns whether the files are the ones asked for now. A key that is not
// asked for is one of ours that is about to go, until the Deployment has what is
// asked for, and with it the ConfigMap: then it is somebody else's, and stays.
func (s *configMapState) ready(want desired, d *deploymentState) bool {
	others := d != nil && d.revision() == revisionOf(want)

	return s != nil && s.Metadata.DeletionTimestamp == "" &&
		(others || len(s.Data)+len(s.BinaryData) == len(want.configMap.Data)+len(want.configMap.BinaryData)) &&
		holds(s.Data, want.configMap.Data, func(a, b string) bool { return a == b }) &&
		holds(s.BinaryData, want.configMap.BinaryData, bytes.Equal)
}

// holds returns whether a map has every entry of another one.
func holds[V any](all, some map[string]V, equal func(a, b V) bool) bool {
	for name, want := range some {
		if got, ok := all[name]; !ok || !equal(got, want) {
			return false
		}
	}

	return true
}

// ready returns whether the Service can be reached as its type asks.
func (s *serviceState) ready(want desired) bool {
	if s == nil || s.Metadata.DeletionTimestamp != "" || s.Spec.ClusterIP == "" {
		return false
	}

	return want.service.Spec.Type != corev1.ServiceTypeLoadBalancer || len(s.Status.LoadBalancer.Ingress) > 0
}

// ready returns whether all viewers that are wanted run what is asked for now,
// and no others do. A Deployment scaled to zero is ready without any.
func (s *deploymentState) ready(want desired) bool {
	return s != nil && s.Metadata.DeletionTimestamp == "" && s.asked(want) && s.rolledOut() &&
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
	return max(0, ptr.Deref(s.Spec.Replicas, 1))
}

// paused returns whether somebody has paused the Deployment, so that what is asked
// for does not roll out.
func (s *deploymentState) paused() bool {
	return s.Spec.Paused && s.caughtUp() &&
		(s.Status.UpdatedReplicas < s.Status.Replicas || s.Status.Replicas == 0 && s.wanted() > 0)
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
