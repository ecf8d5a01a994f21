package fn

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/function-markdownview/wire"
)

// annotationRevision is on the pod template. It holds a hash over the content
// and the desired pod template: a change of content rolls the Deployment out, and
// an observed Deployment shows which revision it runs.
const annotationRevision = "markdownview.fn.crossplane.io/revision"

// revision returns 16 hexadecimal digits that are a hash of the content of a
// ConfigMap, of other ConfigMaps and for a pod template, as they are encoded.
//
// The hash need not withstand an attack: whoever could make two books alike is
// who writes the book. SHA-256 of a large book would take a fifth of a call.
//
// That SUMMARY.md is generated is part of it: a text that somebody wrote is no
// generated one.
func revision(cm *composedConfigMap, generated bool, shared []sharedFiles, template podTemplate) string {
	type content struct {
		BinaryData map[string]string `json:"binaryData"`
		Data       map[string]string `json:"data"`
	}
	others := make([]content, len(shared))
	for i, s := range shared {
		others[i] = content{s.BinaryData, s.Data}
	}
	var w wire.Writer
	w.Object(&struct {
		content `json:",inline"`

		Generated bool        `json:"generated,omitempty"`
		Shared    []content   `json:"shared"`
		Template  podTemplate `json:"template"`
	}{content{cm.BinaryData, cm.Data}, generated, others, template})

	return fmt.Sprintf("%016x", hashed(w.Parts()))
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

// encodeDeployment returns the Deployment with its revision, to be written. The
// name of an immutable ConfigMap, which the pod template has, changes with its text.
func encodeDeployment(d *desired) (encoded *encodedDeployment, rev string) {
	encoded = &encodedDeployment{TypeMeta: d.deployment.TypeMeta, ObjectMeta: d.deployment.ObjectMeta}
	encoded.Spec.DeploymentSpec = d.deployment.Spec
	encoded.Spec.Template = podTemplate{d.deployment.Spec.Template.ObjectMeta, wire.Encode(&d.deployment.Spec.Template.Spec)}
	text := d.configMap
	if d.text != keyConfigMap {
		text = &composedConfigMap{}
	}
	rev = revision(text, d.generated, d.shared, encoded.Spec.Template)
	metav1.SetMetaDataAnnotation(&encoded.Spec.Template.Metadata, annotationRevision, rev)

	return encoded, rev
}
