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

// annotationRevision is on the pod template. It holds a hash over the content
// and all that we ask of the pod template: a change of content rolls the
// Deployment, and an observed Deployment tells what it was asked to run.
const annotationRevision = "markdownview.fn.crossplane.io/revision"

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

// revision returns 16 hexadecimal digits that stand for the content of a
// ConfigMap and for a pod template.
func revision(cm *corev1.ConfigMap, template corev1.PodTemplateSpec) string {
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

	// By its fields in the order of their names, so that it is the same with
	// another release of the Go type. Plain data always has a JSON form.
	b, err := json.Marshal(encode(&template).AsMap())
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
