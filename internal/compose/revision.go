package compose

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/function-markdownview/internal/objects"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// A content has the files of a ConfigMap.
type content struct {
	BinaryData map[string]string `json:"binaryData"`
	Data       map[string]string `json:"data"`
}

// revision returns a hash, as 16 hexadecimal digits, of the content of a ConfigMap, the
// content of other ConfigMaps and a pod template, as they are encoded. A pending revision
// is distinct from all others.
//
// The hash need not be cryptographic: only the author of a book could make two versions
// with the same hash. SHA-256 of a large book would take a fifth of the time of a call.
//
// The hash includes whether SUMMARY.md is generated: compose reuses a SUMMARY.md of the same
// revision, and must not reuse one that somebody wrote.
func revision(cm content, generated, pending bool, shared []view.SharedFiles, template podTemplate) string {
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

// encode encodes the Deployment, and sets its revision. The revision does not include the
// content of an immutable ConfigMap: its name, which is in the pod template, changes with
// its text.
func (d *Desired) encode(o request.Observed) {
	d.encoded = &encodedDeployment{TypeMeta: d.Deployment.TypeMeta, ObjectMeta: d.Deployment.ObjectMeta}
	d.encoded.Spec.DeploymentSpec = d.Deployment.Spec
	template := podTemplate{d.Deployment.Spec.Template.ObjectMeta, objects.Encode(&d.Deployment.Spec.Template.Spec)}
	var text content
	if d.Text == view.KeyConfigMap {
		text = content{d.ConfigMap.BinaryData, d.ConfigMap.Data}
	}
	d.Revision = revision(text, d.generated, false, d.shared, template)
	d.Applied = d.startable(o, template)
	d.encoded.Spec.Template = template
	metav1.SetMetaDataAnnotation(&d.encoded.Spec.Template.Metadata, view.AnnotationRevision, d.Applied)
}

// startable returns the revision that pods can start with. It is the desired one, unless
// the ConfigMap that changes in place still has an earlier text: pods would start with
// that text, and show it until kubelet updates their volume, a minute or two later. The
// next call, after the ConfigMap is applied, returns the desired revision.
//
// Until then, the Deployment keeps its revision if nothing but the text changes. Else the
// revision is a pending one, because pods with the same revision must have the same
// template.
func (d *Desired) startable(o request.Observed, template podTemplate) string {
	cm := o.ConfigMaps[view.KeyConfigMap]
	if d.Text != view.KeyConfigMap || cm == nil || runs(o, d.Revision) {
		return d.Revision
	}
	for _, item := range d.items {
		_, text := cm.Data[item.Key]
		_, binary := cm.BinaryData[item.Key]
		if !text && !binary {
			return d.Revision // Pods wait for the file.
		}
	}
	earlier := content{cm.BinaryData, cm.Data}
	for _, generated := range []bool{d.generated, !d.generated} {
		if rev := revision(earlier, generated, false, d.shared, template); runs(o, rev) {
			return rev
		}
	}
	// Keys that are not desired can be those of somebody else, which stay.
	if !view.Holds(cm.Data, d.ConfigMap.Data) || !view.Holds(cm.BinaryData, d.ConfigMap.BinaryData) {
		return revision(earlier, d.generated, true, d.shared, template)
	}

	return d.Revision
}
