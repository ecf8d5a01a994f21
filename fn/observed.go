package fn

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/internal/objects"
	"github.com/crossplane-contrib/function-markdownview/internal/wire"
)

// observed holds the composed resources as they were before this call. A resource that
// did not exist is nil.
type observed struct {
	// configMaps holds the ConfigMaps with texts, by resource key.
	configMaps map[string]*observedConfigMap
	deployment *observedDeployment
	service    *observedService
	budget     *observedBudget
	route      *observedRoute
	ingress    *observedIngress

	// identities holds the identities of our composed resources, by resource key.
	identities map[string]identity
}

// The types have only the fields of observed resources that the function reads. Other
// fields are not decoded.

// An identity is the name and namespace of a resource, when it was created, and whether
// it is being deleted.
type identity struct {
	Name              string `json:"name"`
	Namespace         string `json:"namespace"`
	CreationTimestamp string `json:"creationTimestamp"`
	DeletionTimestamp string `json:"deletionTimestamp"`
}

// An observedMetadata is the metadata of a resource that has a generation.
type observedMetadata struct {
	identity

	Generation int64 `json:"generation"`
}

type observedConfigMap struct {
	Metadata   identity          `json:"metadata"`
	Data       map[string]string `json:"data"`
	BinaryData map[string]string `json:"binaryData"`
}

type observedDeployment struct {
	Metadata struct {
		identity

		Generation  int64 `json:"generation"`
		Annotations struct {
			Serving    string `json:"markdownview.fn.crossplane.io/serving"`
			Incomplete string `json:"markdownview.fn.crossplane.io/incomplete"`
		} `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Paused   bool   `json:"paused"`
		Replicas *int32 `json:"replicas"`
		Template struct {
			Metadata struct {
				Annotations struct {
					Revision  string `json:"markdownview.fn.crossplane.io/revision"`
					ConfigMap string `json:"markdownview.fn.crossplane.io/configmap"`
				} `json:"annotations"`
			} `json:"metadata"`
			Spec struct {
				Containers []observedContainer `json:"containers"`
				Volumes    []observedVolume    `json:"volumes"`
			} `json:"spec"`
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

	// managers holds the owners of the fields that others may change.
	managers managers
}

type observedContainer struct {
	Name  string   `json:"name"`
	Image string   `json:"image"`
	Args  []string `json:"args"`
}

type observedVolume struct {
	Image *struct{} `json:"image"`
}

type observedService struct {
	Metadata identity `json:"metadata"`
	Spec     struct {
		ClusterIP  string   `json:"clusterIP"`
		IPFamilies []string `json:"ipFamilies"`
	} `json:"spec"`
	Status struct {
		LoadBalancer struct {
			Ingress []struct{} `json:"ingress"`
		} `json:"loadBalancer"`
	} `json:"status"`
}

// observe reads our composed resources. A value of a wrong type counts as absent: the
// API server never sends one.
func observe(resources []wire.Entry) (observed, error) {
	o := observed{identities: map[string]identity{}, configMaps: map[string]*observedConfigMap{}}
	for _, e := range resources {
		var err error
		switch {
		case e.Key == keyConfigMap, isImmutableKey(e.Key):
			o.configMaps[e.Key], err = decodeObserved[observedConfigMap](e)
			o.identities[e.Key] = o.configMaps[e.Key].Metadata
		case e.Key == keyDeployment:
			o.deployment, err = decodeObserved[observedDeployment](e)
			o.deployment.managers = managers{e}
			o.identities[e.Key] = o.deployment.Metadata.identity
		case e.Key == keyService:
			o.service, err = decodeObserved[observedService](e)
			o.identities[e.Key] = o.service.Metadata
		case e.Key == keyBudget:
			o.budget, err = decodeObserved[observedBudget](e)
			o.identities[e.Key] = o.budget.Metadata.identity
		case e.Key == keyRoute:
			o.route, err = decodeObserved[observedRoute](e)
			o.identities[e.Key] = o.route.Metadata.identity
		case e.Key == keyIngress:
			o.ingress, err = decodeObserved[observedIngress](e)
			o.identities[e.Key] = o.ingress.Metadata
		}
		if err != nil {
			return o, err
		}
	}

	return o, nil
}

func decodeObserved[T any](e wire.Entry) (*T, error) {
	into := new(T)
	object, err := objectOf(e.Value)
	if err == nil {
		_, err = objects.Decode(object, into, nil, objects.Options{})
	}

	return into, err
}

// ready returns whether the ConfigMap has the desired files. A key that is not desired
// belongs to somebody else, and stays. Until the Deployment has the desired revision, only
// the Deployment is not ready: otherwise Crossplane would list the ConfigMap in the message
// of Ready for a moment, and update the XR twice.
func (o *observedConfigMap) ready(d *desired, deployment *observedDeployment) bool {
	rolling := deployment != nil && deployment.revision() != d.revision

	return o != nil && o.Metadata.DeletionTimestamp == "" &&
		(rolling || holds(o.Data, d.configMap.Data) && holds(o.BinaryData, d.configMap.BinaryData))
}

// holds returns whether all has every entry of some.
func holds(all, some map[string]string) bool {
	for name, want := range some {
		if got, ok := all[name]; !ok || got != want {
			return false
		}
	}

	return true
}

// ready returns whether the Service has the addresses that its type needs.
func (o *observedService) ready(d *desired) bool {
	if o == nil || o.Metadata.DeletionTimestamp != "" || o.Spec.ClusterIP == "" {
		return false
	}

	return d.service.Spec.Type != corev1.ServiceTypeLoadBalancer || len(o.Status.LoadBalancer.Ingress) > 0
}

// ready returns whether all pods run the desired spec, and there are no others. A
// Deployment that is scaled to zero is ready without pods.
func (o *observedDeployment) ready(d *desired) bool {
	return o != nil && o.Metadata.DeletionTimestamp == "" && o.matches(d) && o.rolledOut() &&
		o.Status.AvailableReplicas == o.replicas() &&
		o.Status.UnavailableReplicas == 0
}

// serves returns whether pods of the current spec serve, and no pods of an earlier spec
// exist. It does not require every pod to be available: the rollout may have completed,
// and then lost a pod, between two calls.
func (o *observedDeployment) serves() bool {
	return o.caughtUp() && o.Status.UpdatedReplicas == o.Status.Replicas && (o.serving() || o.replicas() == 0)
}

// matches returns whether the Deployment has the desired spec. Otherwise its status is
// that of another spec.
func (o *observedDeployment) matches(d *desired) bool {
	replicas := d.deployment.Spec.Replicas

	return o.revision() == d.revision && (replicas == nil || *replicas == o.replicas()) && o.runsImagesOf(d) && !o.lacksImage(d)
}

// runsImagesOf returns whether nobody has changed an image by hand. A webhook may
// change it while Crossplane applies it: Crossplane then still owns the field.
func (o *observedDeployment) runsImagesOf(d *desired) bool {
	for _, actual := range o.Spec.Template.Spec.Containers {
		for _, c := range d.deployment.Spec.Template.Spec.Containers {
			if (c.Name == containerName || c.Name == serverName) && actual.Name == c.Name && actual.Image != c.Image && !o.managers.crossplaneOwns(fieldImage) {
				return false
			}
		}
	}

	return true
}

// listensOn returns whether mdBook listens at an address.
func (o *observedDeployment) listensOn(address string) bool {
	return slices.ContainsFunc(o.Spec.Template.Spec.Containers, func(c observedContainer) bool {
		return c.Name == containerName && slices.Contains(c.Args, address)
	})
}

// lacksImage returns whether the pods lack the image that holds the book. Kubernetes 1.31
// to 1.34 accept a Deployment with an image volume and remove it, with its mounts, unless
// the feature gate ImageVolume is on:
// https://github.com/kubernetes/kubernetes/blob/v1.34.0/pkg/api/pod/util.go (dropImageVolumes)
func (o *observedDeployment) lacksImage(d *desired) bool {
	return d.text == textImage && !slices.ContainsFunc(o.Spec.Template.Spec.Volumes, func(v observedVolume) bool { return v.Image != nil })
}

// caughtUp returns whether the status is that of the current spec.
func (o *observedDeployment) caughtUp() bool {
	return o.Status.ObservedGeneration >= o.Metadata.Generation
}

// rolledOut returns whether every pod is one of the current spec.
func (o *observedDeployment) rolledOut() bool {
	return o.caughtUp() && o.Status.UpdatedReplicas == o.replicas() && o.Status.Replicas == o.replicas()
}

// replicas returns how many pods the Deployment requests, whoever set the number.
func (o *observedDeployment) replicas() int32 {
	return max(0, ptr.Deref(o.Spec.Replicas, 1))
}

// paused returns whether the Deployment was paused before it ran the desired spec.
func (o *observedDeployment) paused(v view, d *desired) bool {
	switch {
	case !o.Spec.Paused:
		return false
	case o.revision() != d.revision:
		return true
	case !o.caughtUp():
		return v.wasDegraded(ReasonPaused)
	default:
		return o.Status.UpdatedReplicas < o.Status.Replicas || o.Status.Replicas == 0 && o.replicas() > 0
	}
}

func (o *observedDeployment) serving() bool {
	return o != nil && o.Status.AvailableReplicas > 0
}

func (o *observedDeployment) revision() string {
	return o.Spec.Template.Metadata.Annotations.Revision
}

// configMap returns the resource key of the ConfigMap that pods of the current spec
// read, or textImage.
func (o *observedDeployment) configMap() string {
	if key := o.Spec.Template.Metadata.Annotations.ConfigMap; isImmutableKey(key) || key == textImage {
		return key
	}

	return keyConfigMap
}
