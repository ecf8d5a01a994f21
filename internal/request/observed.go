package request

import (
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/objects"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/wire"
)

// An ObservedBudget is an observed PodDisruptionBudget.
type ObservedBudget struct {
	Metadata observedMetadata `json:"metadata"`
	Status   struct {
		ObservedGeneration int64 `json:"observedGeneration"`
	} `json:"status"`
}

// Observed holds the composed resources as they were before this call. A resource that
// did not exist is nil.
type Observed struct {
	// ConfigMaps holds the ConfigMaps with texts, by resource key.
	ConfigMaps map[string]*view.ConfigMap
	Deployment *ObservedDeployment
	Service    *ObservedService
	Budget     *ObservedBudget
	Route      *ObservedRoute
	Ingress    *ObservedIngress

	// Identities holds the identities of our composed resources, by resource key.
	Identities map[string]view.Identity
}

// An observedMetadata is the metadata of a resource that has a generation.
type observedMetadata struct {
	view.Identity

	Generation int64 `json:"generation"`
}

// An ObservedDeployment is an observed Deployment.
type ObservedDeployment struct {
	Metadata struct {
		view.Identity

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
					Nginx     string `json:"markdownview.fn.crossplane.io/nginx.conf"`
				} `json:"annotations"`
			} `json:"metadata"`
			Spec struct {
				Containers []observedContainer `json:"containers"`
				Volumes    []ObservedVolume    `json:"volumes"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration  int64              `json:"observedGeneration"`
		Replicas            int32              `json:"replicas"`
		UpdatedReplicas     int32              `json:"updatedReplicas"`
		ReadyReplicas       int32              `json:"readyReplicas"`
		AvailableReplicas   int32              `json:"availableReplicas"`
		UnavailableReplicas int32              `json:"unavailableReplicas"`
		Conditions          []report.Condition `json:"conditions"`
	} `json:"status"`

	// Managers holds the owners of the fields that others may change.
	Managers managers
}

type observedContainer struct {
	Name  string   `json:"name"`
	Image string   `json:"image"`
	Args  []string `json:"args"`
}

// An ObservedVolume is a volume of the observed pod template.
type ObservedVolume struct {
	Name  string            `json:"name"`
	Image *view.ImageSource `json:"image"`
}

// An ObservedService is an observed Service.
type ObservedService struct {
	Metadata view.Identity `json:"metadata"`
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

// Observe reads our composed resources. A value of a wrong type counts as absent: the
// API server never sends one.
func Observe(resources []wire.Entry) (Observed, error) {
	o := Observed{Identities: map[string]view.Identity{}, ConfigMaps: map[string]*view.ConfigMap{}}
	for _, e := range resources {
		var err error
		switch {
		case e.Key == view.KeyConfigMap, view.IsImmutableKey(e.Key):
			o.ConfigMaps[e.Key], err = decodeObserved[view.ConfigMap](e)
			o.Identities[e.Key] = o.ConfigMaps[e.Key].Metadata
		case e.Key == view.KeyDeployment:
			o.Deployment, err = decodeObserved[ObservedDeployment](e)
			o.Deployment.Managers = managers{e}
			o.Identities[e.Key] = o.Deployment.Metadata.Identity
		case e.Key == view.KeyService:
			o.Service, err = decodeObserved[ObservedService](e)
			o.Identities[e.Key] = o.Service.Metadata
		case e.Key == view.KeyBudget:
			o.Budget, err = decodeObserved[ObservedBudget](e)
			o.Identities[e.Key] = o.Budget.Metadata.Identity
		case e.Key == view.KeyRoute:
			o.Route, err = decodeObserved[ObservedRoute](e)
			o.Identities[e.Key] = o.Route.Metadata.Identity
		case e.Key == view.KeyIngress:
			o.Ingress, err = decodeObserved[ObservedIngress](e)
			o.Identities[e.Key] = o.Ingress.Metadata
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

// Serves returns whether pods of the current spec serve, and no pods of an earlier spec
// exist. It does not require every pod to be available: the rollout may have completed,
// and then lost a pod, between two calls.
func (o *ObservedDeployment) Serves() bool {
	return o.CaughtUp() && o.Status.UpdatedReplicas == o.Status.Replicas && (o.Serving() || o.Replicas() == 0)
}

// ListensOn returns whether mdBook or nginx listens at an address.
func (o *ObservedDeployment) ListensOn(address string) bool {
	if strings.Contains(o.Spec.Template.Metadata.Annotations.Nginx, "listen ["+address+"]") {
		return true
	}

	return slices.ContainsFunc(o.Spec.Template.Spec.Containers, func(c observedContainer) bool {
		return c.Name == view.ContainerName && slices.Contains(c.Args, address)
	})
}

// CaughtUp returns whether the status is that of the current spec.
func (o *ObservedDeployment) CaughtUp() bool {
	return o.Status.ObservedGeneration >= o.Metadata.Generation
}

// RolledOut returns whether every pod is one of the current spec.
func (o *ObservedDeployment) RolledOut() bool {
	return o.CaughtUp() && o.Status.UpdatedReplicas == o.Replicas() && o.Status.Replicas == o.Replicas()
}

// Replicas returns how many pods the Deployment requests, whoever set the number.
func (o *ObservedDeployment) Replicas() int32 {
	return max(0, ptr.Deref(o.Spec.Replicas, 1))
}

// Serving returns whether a pod serves the book.
func (o *ObservedDeployment) Serving() bool {
	return o != nil && o.Status.AvailableReplicas > 0
}

// Revision returns the revision of the pod template.
func (o *ObservedDeployment) Revision() string {
	return o.Spec.Template.Metadata.Annotations.Revision
}

// ConfigMap returns the resource key of the ConfigMap that pods of the current spec
// read, or textImage.
func (o *ObservedDeployment) ConfigMap() string {
	if key := o.Spec.Template.Metadata.Annotations.ConfigMap; view.IsImmutableKey(key) || key == view.TextImage {
		return key
	}

	return view.KeyConfigMap
}

// BookImage returns the image with a digest that holds the book of the pods, or an empty
// string.
func (o *ObservedDeployment) BookImage() string {
	if o == nil {
		return ""
	}
	for _, v := range o.Spec.Template.Spec.Volumes {
		if v.Name == view.VolumeName && v.Image != nil && view.Pinned(v.Image.Reference) {
			return v.Image.Reference
		}
	}

	return ""
}

// An ObservedRoute is an observed HTTPRoute.
type ObservedRoute struct {
	Metadata observedMetadata `json:"metadata"`
	Status   struct {
		Parents []ObservedParent `json:"parents"`
	} `json:"status"`
}

// An ObservedParent is what the controller of a Gateway reports about a route.
type ObservedParent struct {
	ParentRef  v1beta1.ParentRef `json:"parentRef"`
	Conditions []ParentCondition `json:"conditions"`
}

// A ParentCondition is a condition that the controller of a Gateway reports.
type ParentCondition struct {
	report.Condition

	ObservedGeneration int64  `json:"observedGeneration"`
	LastTransitionTime string `json:"lastTransitionTime"`
}

// An ObservedIngress is an observed Ingress.
type ObservedIngress struct {
	Metadata view.Identity `json:"metadata"`
	Status   struct {
		LoadBalancer struct {
			Ingress []struct{} `json:"ingress"`
		} `json:"loadBalancer"`
	} `json:"status"`
}
