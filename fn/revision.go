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

// A content has the files of a ConfigMap.
type content struct {
	BinaryData map[string]string `json:"binaryData"`
	Data       map[string]string `json:"data"`
}

// revision returns a hash, as 16 hexadecimal digits, of the content of a ConfigMap, the
// content of other ConfigMaps and a pod template, as they are encoded. A pending revision
// is distinct from all others.
//
// The hash need not be cryptographic: only the author of a book could make two texts
// with the same hash. SHA-256 of a large book would take a fifth of the time of a call.
//
// The hash includes whether SUMMARY.md is generated: compose reuses a SUMMARY.md of the same
// revision, and must not reuse one that somebody wrote.
func revision(cm content, generated, pending bool, shared []sharedFiles, template podTemplate) string {
	others := make([]content, len(shared))
	for i, s := range shared {
		others[i] = content{s.BinaryData, s.Data}
	}
	var w objects.Writer
	w.Object(&struct {
		content `json:",inline"`

		Generated bool        `json:"generated,omitempty"`
		Pending   bool        `json:"pending,omitempty"`
		Shared    []content   `json:"shared"`
		Template  podTemplate `json:"template"`
	}{cm, generated, pending, others, template})

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

// encode encodes the Deployment, and sets its revision. The revision does not include the
// content of an immutable ConfigMap: its name, which is in the pod template, changes with
// its text.
func (d *desired) encode(o observed) {
	d.encoded = &encodedDeployment{TypeMeta: d.deployment.TypeMeta, ObjectMeta: d.deployment.ObjectMeta}
	d.encoded.Spec.DeploymentSpec = d.deployment.Spec
	template := podTemplate{d.deployment.Spec.Template.ObjectMeta, objects.Encode(&d.deployment.Spec.Template.Spec)}
	var text content
	if d.text == keyConfigMap {
		text = content{d.configMap.BinaryData, d.configMap.Data}
	}
	d.revision = revision(text, d.generated, false, d.shared, template)
	d.applied = d.startable(o, template)
	d.encoded.Spec.Template = template
	metav1.SetMetaDataAnnotation(&d.encoded.Spec.Template.Metadata, annotationRevision, d.applied)
}

// startable returns the revision that pods can start with. It is the desired one, unless
// the ConfigMap that changes in place still has an earlier text: pods would start with
// that text, and show it until kubelet updates their volume, a minute or two later. The
// next call, after the ConfigMap is applied, returns the desired revision.
//
// Until then, the Deployment keeps its revision if nothing but the text changes. Else the
// revision is a pending one, because pods with the same revision must have the same
// template.
func (d *desired) startable(o observed, template podTemplate) string {
	cm := o.configMaps[keyConfigMap]
	if d.text != keyConfigMap || cm == nil || o.runs(d.revision) {
		return d.revision
	}
	for _, item := range d.items {
		_, text := cm.Data[item.Key]
		_, binary := cm.BinaryData[item.Key]
		if !text && !binary {
			return d.revision // Pods wait for the file.
		}
	}
	earlier := content{cm.BinaryData, cm.Data}
	for _, generated := range []bool{d.generated, !d.generated} {
		if rev := revision(earlier, generated, false, d.shared, template); o.runs(rev) {
			return rev
		}
	}
	// Keys that are not desired can be those of somebody else, which stay.
	if !holds(cm.Data, d.configMap.Data) || !holds(cm.BinaryData, d.configMap.BinaryData) {
		return revision(earlier, d.generated, true, d.shared, template)
	}

	return d.revision
}
