package judge

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/compose"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// A Readiness maps the key of each composed resource to whether the resource is ready.
type Readiness map[string]bool

// all returns whether every composed resource is ready.
func (r Readiness) all() bool {
	return !slices.Contains(slices.Collect(maps.Values(r)), false)
}

// budgetReady returns whether the controller has observed the desired budget.
func budgetReady(o *request.ObservedBudget) bool {
	return o != nil && o.Metadata.DeletionTimestamp == "" && o.Status.ObservedGeneration >= max(1, o.Metadata.Generation)
}

// configMapReady returns whether the ConfigMap has the desired files. A key that is not desired
// belongs to somebody else, and stays. Until the Deployment has the desired revision, only
// the Deployment is not ready: otherwise Crossplane would list the ConfigMap in the message
// of Ready for a moment, and update the XR twice.
func configMapReady(o *view.ConfigMap, d *compose.Desired, deployment *request.ObservedDeployment) bool {
	rolling := deployment != nil && deployment.Revision() != d.Revision

	return o != nil && o.Metadata.DeletionTimestamp == "" &&
		(rolling || view.Holds(o.Data, d.ConfigMap.Data) && view.Holds(o.BinaryData, d.ConfigMap.BinaryData))
}

// serviceReady returns whether the Service has the addresses that its type needs.
func serviceReady(o *request.ObservedService, d *compose.Desired) bool {
	if o == nil || o.Metadata.DeletionTimestamp != "" || o.Spec.ClusterIP == "" {
		return false
	}

	return d.Service.Spec.Type != corev1.ServiceTypeLoadBalancer || len(o.Status.LoadBalancer.Ingress) > 0
}

// deploymentReady returns whether all pods run the desired spec, and there are no others. A
// Deployment that is scaled to zero is ready without pods.
func deploymentReady(o *request.ObservedDeployment, d *compose.Desired) bool {
	return o != nil && o.Metadata.DeletionTimestamp == "" && matches(o, d) && o.RolledOut() &&
		o.Status.AvailableReplicas == o.Replicas() &&
		o.Status.UnavailableReplicas == 0
}

// matches returns whether the Deployment has the desired spec. Otherwise its status is
// that of another spec.
func matches(o *request.ObservedDeployment, d *compose.Desired) bool {
	replicas := d.Deployment.Spec.Replicas

	return o.Revision() == d.Revision && (replicas == nil || *replicas == o.Replicas()) && runsImagesOf(o, d) && !lacksImage(o, d)
}

// runsImagesOf returns whether nobody has changed an image by hand. A webhook may
// change it while Crossplane applies it: Crossplane then still owns the field.
func runsImagesOf(o *request.ObservedDeployment, d *compose.Desired) bool {
	for _, actual := range o.Spec.Template.Spec.Containers {
		for _, c := range d.Deployment.Spec.Template.Spec.Containers {
			if (c.Name == view.ContainerName || c.Name == view.ServerName) && actual.Name == c.Name && actual.Image != c.Image && !o.Managers.CrossplaneOwns(request.FieldImage) {
				return false
			}
		}
	}

	return true
}

// lacksImage returns whether the pods lack the image that holds the book. Kubernetes 1.31
// to 1.34 accept a Deployment with an image volume and remove it, with its mounts, unless
// the feature gate ImageVolume is on:
// https://github.com/kubernetes/kubernetes/blob/v1.34.0/pkg/api/pod/util.go (dropImageVolumes)
func lacksImage(o *request.ObservedDeployment, d *compose.Desired) bool {
	return d.Text == view.TextImage && !slices.ContainsFunc(o.Spec.Template.Spec.Volumes, func(v request.ObservedVolume) bool { return v.Image != nil })
}

// routeReady returns whether every Gateway has accepted the current generation of the route.
func routeReady(o *request.ObservedRoute, v view.View) bool {
	if o == nil || o.Metadata.DeletionTimestamp != "" {
		return false
	}
	for _, ref := range v.Input.Route.ParentRefs {
		if !slices.ContainsFunc(o.Status.Parents, func(p request.ObservedParent) bool {
			accepted, _ := parentState(p, o.Metadata.Generation)

			return accepted && isParent(v, ref, p.ParentRef)
		}) {
			return false
		}
	}

	return true
}

// routeRejected returns why a Gateway rejected the current generation of the route. It is
// empty if no Gateway rejected it.
func routeRejected(o *request.ObservedRoute, s *request.ObservedService) string {
	if o == nil {
		return ""
	}
	for _, p := range o.Status.Parents {
		if _, c := parentState(p, o.Metadata.Generation); c.Type != "" && !olderThan(c, s) {
			return cmp.Or(report.Line(c.Message), report.Line(c.Reason), c.Type+" is "+c.Status)
		}
	}

	return ""
}

// cacheDelay is how long a Gateway may not know a new Service: its cache has it later.
const cacheDelay = 5 * time.Second

// olderThan returns whether a Gateway has not found the Service because the Service did not
// exist yet, or had just been created: Crossplane may create the route first. The Gateway
// then reports again.
func olderThan(c request.ParentCondition, s *request.ObservedService) bool {
	if c.Reason != "BackendNotFound" {
		return false
	}
	if s == nil {
		return true
	}
	reported, err := time.Parse(time.RFC3339, c.LastTransitionTime)
	created, invalid := time.Parse(time.RFC3339, s.Metadata.CreationTimestamp)

	return err == nil && invalid == nil && reported.Sub(created) <= cacheDelay
}

// parentState returns whether a Gateway has accepted a generation of a route, and the condition
// with which the Gateway has rejected it. PartiallyInvalid means that the Gateway drops a
// rule, for example because another route has the same host.
func parentState(p request.ObservedParent, generation int64) (accepted bool, rejected request.ParentCondition) {
	for _, c := range p.Conditions {
		switch {
		case c.ObservedGeneration < generation:
		case c.Status == report.False && (c.Type == "Accepted" || c.Type == "ResolvedRefs"), c.Status == report.True && c.Type == "PartiallyInvalid":
			return false, c
		case c.Type == "Accepted" && c.Status == report.True:
			accepted = true
		}
	}

	return accepted, request.ParentCondition{}
}

// isParent returns whether ours and theirs are the same parent. A controller may add the
// namespace, which defaults to that of the route.
func isParent(v view.View, ours, theirs v1beta1.ParentRef) bool {
	ours.Namespace = cmp.Or(ours.Namespace, v.Namespace())
	theirs.Namespace = cmp.Or(theirs.Namespace, v.Namespace())

	return ours == theirs
}

// ingressReady returns whether the Ingress has an address.
func ingressReady(o *request.ObservedIngress) bool {
	return o != nil && o.Metadata.DeletionTimestamp == "" && len(o.Status.LoadBalancer.Ingress) > 0
}
