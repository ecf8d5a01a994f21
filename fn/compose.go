package fn

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
)

// The names of our resources in the pipeline. Crossplane tells composed
// resources apart by these: one with another name is another resource, so a
// change would delete every live object and create it again. They are for ever.
const (
	keyConfigMap  = "configmap"
	keyDeployment = "deployment"
	keyService    = "service"
)

// desired are the resources as we want to own them: of each only the fields that
// are set. Apply configurations of client-go are made for this, but they link all
// of client-go, which would make half of the binary; encode leaves out the rest
// as well.
type desired struct {
	configMap  *corev1.ConfigMap
	deployment *appsv1.Deployment
	service    *corev1.Service
}

// compose returns the desired resources of a view, and every fault of the
// templates that are merged over them.
func compose(v view) (desired, field.ErrorList) {
	at := field.NewPath("input", "templates")
	templates := v.input.Templates

	cm, faults := merge(configMap(v), templates.ConfigMap, at.Child("configMap"))
	d, more := merge(deployment(v), templates.Deployment, at.Child("deployment"))
	faults = append(faults, more...)
	s, more := merge(service(v), templates.Service, at.Child("service"))
	faults = append(faults, more...)

	if d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		d.Spec.Strategy.RollingUpdate = nil // The API server refuses our own beside it.
	}

	want := desired{configMap: cm, deployment: d, service: s}
	if templates != (v1beta1.Templates{}) {
		faults = append(faults, validateMerged(want, v.Spec.Markdowns, at)...)
	}

	// The text is laid beside what a template adds, so that it never takes the
	// way through JSON of a merge.
	addFiles(cm, v.Spec.Markdowns)

	metav1.SetMetaDataAnnotation(&d.Spec.Template.ObjectMeta, annotationRevision, revision(cm, d.Spec.Template))

	return want, faults
}

// union returns what is in any of two maps. The second wins.
func union[V any](a, b map[string]V) map[string]V {
	both := make(map[string]V, len(a)+len(b))
	maps.Copy(both, a)
	maps.Copy(both, b)

	return both
}

// metadata returns the metadata of a composed resource. The resources of a
// namespaced XR have no namespace of their own: Crossplane gives them the XR's.
func (v view) metadata(name string, annotations map[string]string) metav1.ObjectMeta {
	m := metav1.ObjectMeta{
		Name:        name,
		Labels:      union(v.input.Labels, v.selector()),
		Annotations: union(v.input.Annotations, annotations),
	}
	if v.Metadata.Namespace == "" {
		m.Namespace = v.namespace()
	}

	return m
}
