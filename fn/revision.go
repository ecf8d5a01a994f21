package fn

import (
	"fmt"

	"github.com/cespare/xxhash/v2"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/function-markdownview/wire"
)

// annotationRevision is on the pod template. It holds a hash over the content
// and the desired pod template: a change of content rolls the Deployment out, and
// an observed Deployment shows which revision it runs.
const annotationRevision = "markdownview.fn.crossplane.io/revision"

// revision returns 16 hexadecimal digits that stand for the content of a
// ConfigMap and for a pod template, as they are encoded.
//
// The hash need not withstand an attack: whoever could make two books alike is
// who writes the book. SHA-256 of a large book would take a fifth of a call.
func revision(cm *corev1.ConfigMap, template podTemplate) string {
	var w wire.Writer
	w.Object(&struct {
		BinaryData map[string][]byte `json:"binaryData"`
		Data       map[string]string `json:"data"`
		Template   podTemplate       `json:"template"`
	}{cm.BinaryData, cm.Data, template})

	h := xxhash.New()
	for _, part := range w.Parts() {
		h.Write(part) //nolint:errcheck // A hash never fails to write.
	}

	return fmt.Sprintf("%016x", h.Sum64())
}

// An encodedDeployment is a Deployment whose pod spec is encoded already: it is
// hashed and written, and is most of what is composed.
type encodedDeployment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		appsv1.DeploymentSpec `json:",inline"`

		Template podTemplate `json:"template"`
	} `json:"spec"`
}

type podTemplate struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     wire.Value        `json:"spec"`
}

// encodeDeployment returns a Deployment with its revision, to be written.
func encodeDeployment(d *appsv1.Deployment, cm *corev1.ConfigMap) (encoded *encodedDeployment, rev string) {
	encoded = &encodedDeployment{TypeMeta: d.TypeMeta, ObjectMeta: d.ObjectMeta}
	encoded.Spec.DeploymentSpec = d.Spec
	encoded.Spec.Template = podTemplate{d.Spec.Template.ObjectMeta, wire.Encode(&d.Spec.Template.Spec)}
	rev = revision(cm, encoded.Spec.Template)
	metav1.SetMetaDataAnnotation(&encoded.Spec.Template.Metadata, annotationRevision, rev)

	return encoded, rev
}
