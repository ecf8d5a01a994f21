package fn

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/function-markdownview/internal/objects"
)

// annotationRevision is set on the pod template. Its value is a hash of the content and
// of the desired pod template: a change of the content starts a rollout, and an
// observed Deployment shows which revision it runs.
const annotationRevision = "markdownview.fn.crossplane.io/revision"

// revision returns a hash, as 16 hexadecimal digits, of the content of a ConfigMap, the
// content of other ConfigMaps and a pod template, as they are encoded.
//
// The hash need not be cryptographic: only the author of a book could make two texts
// with the same hash. SHA-256 of a large book would take a fifth of the time of a call.
//
// The hash includes whether SUMMARY.md is generated: compose reuses a SUMMARY.md of the same
// revision, and must not reuse one that somebody wrote.
func revision(cm *composedConfigMap, generated bool, shared []sharedFiles, template podTemplate) string {
	type content struct {
		BinaryData map[string]string `json:"binaryData"`
		Data       map[string]string `json:"data"`
	}
	others := make([]content, len(shared))
	for i, s := range shared {
		others[i] = content{s.BinaryData, s.Data}
	}
	var w objects.Writer
	w.Object(&struct {
		content `json:",inline"`

		Generated bool        `json:"generated,omitempty"`
		Shared    []content   `json:"shared"`
		Template  podTemplate `json:"template"`
	}{content{cm.BinaryData, cm.Data}, generated, others, template})

	return fmt.Sprintf("%016x", hashed(w.Parts()))
}

// An encodedDeployment is a Deployment with an encoded pod spec. The pod spec is hashed
// and written, and is the largest part of the composed resources without the text.
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
	Spec     objects.Value     `json:"spec"`
}

// encodeDeployment returns the Deployment with its revision, ready to be written. It
// does not hash the content of an immutable ConfigMap: its name, which is in the pod
// template, changes with its text.
func encodeDeployment(d *desired) (encoded *encodedDeployment, rev string) {
	encoded = &encodedDeployment{TypeMeta: d.deployment.TypeMeta, ObjectMeta: d.deployment.ObjectMeta}
	encoded.Spec.DeploymentSpec = d.deployment.Spec
	encoded.Spec.Template = podTemplate{d.deployment.Spec.Template.ObjectMeta, objects.Encode(&d.deployment.Spec.Template.Spec)}
	text := d.configMap
	if d.text != keyConfigMap {
		text = &composedConfigMap{}
	}
	rev = revision(text, d.generated, d.shared, encoded.Spec.Template)
	metav1.SetMetaDataAnnotation(&encoded.Spec.Template.Metadata, annotationRevision, rev)

	return encoded, rev
}
