package fn

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

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

// annotationRevision is on the pod template. It holds a hash over the content
// and all that we ask of the pod template: a change of content rolls the
// Deployment, and an observed Deployment tells what it was asked to run.
const annotationRevision = "markdownview.fn.crossplane.io/revision"

// desired are the resources as we want to own them.
type desired struct {
	configMap  *corev1ac.ConfigMapApplyConfiguration
	deployment *appsv1ac.DeploymentApplyConfiguration
	service    *corev1ac.ServiceApplyConfiguration
}

// compose returns the desired resources of a view, and every fault of the
// templates that are merged over them.
func compose(v view) (desired, field.ErrorList) {
	at := field.NewPath("input", "templates")
	templates := v.input.Templates

	cm, faults := merge(configMap(v), templates.ConfigMap, corev1.ConfigMap{}, at.Child("configMap"))
	d, more := merge(deployment(v), templates.Deployment, appsv1.Deployment{}, at.Child("deployment"))
	faults = append(faults, more...)
	s, more := merge(service(v), templates.Service, corev1.Service{}, at.Child("service"))
	faults = append(faults, more...)

	want := desired{configMap: cm, deployment: d, service: s}
	if templates != (v1beta1.Templates{}) {
		faults = append(faults, validateMerged(want, v.Spec.Markdowns, at)...)
	}

	// The text is laid beside what a template adds, so that it never takes the
	// way through JSON of a merge.
	addFiles(cm, v.Spec.Markdowns)

	d.Spec.Template.WithAnnotations(map[string]string{annotationRevision: revision(cm, d.Spec.Template)})

	return want, faults
}

// metadata returns the metadata of a composed resource. The resources of a
// namespaced XR have no namespace of their own: Crossplane gives them the XR's.
func (v view) metadata(name string) *metav1ac.ObjectMetaApplyConfiguration {
	m := metav1ac.ObjectMeta().
		WithName(name).
		WithLabels(v.input.Labels).
		WithLabels(v.selector()).
		WithAnnotations(v.input.Annotations)
	if v.Metadata.Namespace == "" {
		m.WithNamespace(v.namespace())
	}

	return m
}

// revision returns 16 hexadecimal digits that stand for the content of a
// ConfigMap and for a pod template.
func revision(cm *corev1ac.ConfigMapApplyConfiguration, template *corev1ac.PodTemplateSpecApplyConfiguration) string {
	sum := sha256.New()

	// Strings cannot be written to a hash without a copy; this copies by pieces.
	w := bufio.NewWriter(sum)
	for _, name := range slices.Sorted(maps.Keys(cm.Data)) {
		writeEntry(w, name, cm.Data[name])
	}
	for _, name := range slices.Sorted(maps.Keys(cm.BinaryData)) {
		writeEntry(w, name, string(cm.BinaryData[name]))
	}
	w.Flush() //nolint:errcheck // A hash never fails to write.

	// Apply configurations are plain data, which always has a JSON form.
	b, err := json.Marshal(template)
	if err != nil {
		panic(fmt.Sprintf("cannot encode the pod template: %v", err))
	}
	sum.Write(b)

	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// writeEntry writes a name and a text with their lengths, so that no two lists
// of entries read alike.
func writeEntry(w io.Writer, name, text string) {
	fmt.Fprintf(w, "%d %d ", len(name), len(text)) //nolint:errcheck // See revision.
	io.WriteString(w, name)                        //nolint:errcheck // See revision.
	io.WriteString(w, text)                        //nolint:errcheck // See revision.
}
