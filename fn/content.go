package fn

import (
	"fmt"
	"maps"
	"strings"

	"github.com/cespare/xxhash/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/internal/objects"
)

// A book has one ConfigMap, with the resource key "configmap", whose data changes with
// the text. With immutableConfigMaps, each text has a ConfigMap of its own that never
// changes: its key and its name end with a hash of the text, and a change of the text
// creates another ConfigMap.
//
// Crossplane deletes resources that are no longer desired before it applies the others,
// in any order. So two ConfigMaps are desired during a rollout: the new one, and the
// one that pods still serve, with its observed data. There are never more than two:
// Crossplane deletes those of changes that did not roll out.

// keyImmutable is the prefix of the key of an immutable ConfigMap. It is permanent,
// like the other keys.
const keyImmutable = keyConfigMap + "-"

const (
	// annotationConfigMap is set on the pod template. Its value is the resource key of
	// the immutable ConfigMap that the pods read, or textImage.
	annotationConfigMap = "markdownview.fn.crossplane.io/configmap"
	// annotationServing is set on the Deployment. Its value is the resource key of the
	// ConfigMap of the last completed rollout, or textImage. The pods of that rollout
	// serve until the next one is complete. The annotation cannot be on the pod
	// template, which the next rollout replaces.
	annotationServing = "markdownview.fn.crossplane.io/serving"
)

// immutableKey returns the resource key of an immutable ConfigMap with the content of
// cm. The hash need not be cryptographic: see revision.
func immutableKey(cm *composedConfigMap) string {
	var w objects.Writer
	w.Object(&struct {
		BinaryData map[string]string `json:"binaryData"`
		Data       map[string]string `json:"data"`
	}{cm.BinaryData, cm.Data})

	return fmt.Sprintf("%s%016x", keyImmutable, hashed(w.Parts()))
}

// isImmutableKey returns whether a resource key is that of an immutable ConfigMap.
func isImmutableKey(key string) bool {
	digits, ok := strings.CutPrefix(key, keyImmutable)

	return ok && len(digits) == 16 && strings.Trim(digits, "0123456789abcdef") == ""
}

// hashed returns the hash of the concatenated parts.
func hashed(parts [][]byte) uint64 {
	h := xxhash.New()
	for _, part := range parts {
		h.Write(part) //nolint:errcheck // A hash never fails to write.
	}

	return h.Sum64()
}

// configMapOf returns the name of the ConfigMap with a resource key. base never has a
// dot, so a name with a dot is distinct from the names of the ConfigMaps of all other
// MarkdownViews.
func (v view) configMapOf(key string) string {
	if digits, ok := strings.CutPrefix(key, keyImmutable); ok {
		return v.configMapName() + "." + digits
	}

	return v.configMapName()
}

// configMapPart returns the ConfigMap with a resource key as a part.
func (v view) configMapPart(key string) part {
	return part{key, "v1", "ConfigMap", v.configMapOf(key)}
}

// serving returns the resource key of the ConfigMap that the serving pods read. Without
// a Deployment, it is the desired one.
//
// It is the key on the pod template, rather than annotationServing, before the first
// rollout is complete and if the ConfigMap of the annotation no longer exists.
func (o observed) serving(desired string) string {
	if o.deployment == nil {
		return desired
	}
	last := o.deployment.Metadata.Annotations.Serving
	if o.deployment.serves() || o.configMaps[last] == nil {
		return o.deployment.configMap()
	}

	return last
}

// immutable returns whether pods read anything other than the ConfigMap that changes in
// place.
func (d *desired) immutable() bool {
	return d.text != keyConfigMap || d.serving != keyConfigMap
}

// serve sets the annotations that show which ConfigMaps the Deployment and its pods
// use. A ConfigMap that changes in place needs none, unless it replaces an immutable
// one.
func (d *desired) serve() {
	if d.text != keyConfigMap {
		metav1.SetMetaDataAnnotation(&d.deployment.Spec.Template.ObjectMeta, annotationConfigMap, d.text)
	}
	if d.immutable() {
		metav1.SetMetaDataAnnotation(&d.deployment.ObjectMeta, annotationServing, d.serving)
	}
}

// kept returns the ConfigMap that the serving pods read, or nil if it is the desired
// one. It has the observed data, because the spec has changed since.
func kept(v view, o observed, d *desired) *composedConfigMap {
	was := o.configMaps[d.serving]
	if d.serving == d.text || was == nil {
		return nil
	}
	cm := &composedConfigMap{
		TypeMeta:   d.configMap.TypeMeta,
		ObjectMeta: d.configMap.ObjectMeta,
		Data:       maps.Clone(was.Data),
		BinaryData: was.BinaryData,
	}
	// The function writes only plain texts. It must not take ownership of other texts.
	maps.DeleteFunc(cm.Data, func(_, text string) bool { return !plain(text) })
	cm.Name = v.configMapOf(d.serving)
	if d.serving != keyConfigMap {
		cm.Immutable = ptr.To(true)
	}

	return cm
}
