package fn

import (
	"fmt"
	"maps"
	"strings"

	"github.com/cespare/xxhash/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/wire"
)

// The text of a book is in a ConfigMap with the resource key "configmap", which
// changes with the text. With immutableConfigMaps each text has a ConfigMap of its
// own, which never changes: its key and its name end with a hash of the text, and
// a change of the text makes another one.
//
// Crossplane deletes what is no longer desired before it applies the rest, in any
// order. So two ConfigMaps are desired during a rollout: the one that serves, with
// the data that was observed, and the one that is desired now. Two is also the
// most: those between them, of changes that did not roll out, are deleted.

// keySerial begins the key of an immutable ConfigMap, and is permanent as the
// other keys are.
const keySerial = keyConfigMap + "-"

const (
	// annotationConfigMap is on the pod template. It holds the resource key of the
	// immutable ConfigMap that the pods read, or textImage.
	annotationConfigMap = "markdownview.fn.crossplane.io/configmap"
	// annotationServing is on the Deployment. It holds the resource key of the
	// ConfigMap of the last completed rollout, or textImage, whose pods serve until the next
	// rollout is complete. The pod template cannot hold it: that is what changes.
	annotationServing = "markdownview.fn.crossplane.io/serving"
)

// serialKey returns the resource key of an immutable ConfigMap with the content of
// cm. The hash is as long as that of revision, for the same reason.
func serialKey(cm *composedConfigMap) string {
	var w wire.Writer
	w.Object(&struct {
		BinaryData map[string]string `json:"binaryData"`
		Data       map[string]string `json:"data"`
	}{cm.BinaryData, cm.Data})

	return fmt.Sprintf("%s%016x", keySerial, hashed(w.Parts()))
}

// isSerialKey returns whether a resource key is that of an immutable ConfigMap.
func isSerialKey(key string) bool {
	digits, ok := strings.CutPrefix(key, keySerial)

	return ok && len(digits) == 16 && strings.Trim(digits, "0123456789abcdef") == ""
}

// hashed returns the hash of what the parts hold together.
func hashed(parts [][]byte) uint64 {
	h := xxhash.New()
	for _, part := range parts {
		h.Write(part) //nolint:errcheck // A hash never fails to write.
	}

	return h.Sum64()
}

// configMapOf returns the name of the ConfigMap with a resource key. A base has no
// dot, so a name with one is distinct from the names of all other MarkdownViews.
func (v view) configMapOf(key string) string {
	if digits, ok := strings.CutPrefix(key, keySerial); ok {
		return v.configMapName() + "." + digits
	}

	return v.configMapName()
}

// configMapPart is the ConfigMap with a resource key as a part of a view.
func (v view) configMapPart(key string) part {
	return part{key, "v1", "ConfigMap", v.configMapOf(key)}
}

// serving returns the resource key of the ConfigMap of the pods that serve, and
// that of the desired one where there is no Deployment.
//
// The annotation does not count where there is none yet, before the first rollout
// is complete, and where its ConfigMap is gone, so that there is nothing to keep.
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

// immutable returns whether the pods read something else than the ConfigMap that
// changes in place.
func (d *desired) immutable() bool {
	return d.text != keyConfigMap || d.serving != keyConfigMap
}

// serve writes into a Deployment and its pods which ConfigMaps they read. For a
// ConfigMap that changes in place there is nothing to write, until it takes the
// place of an immutable one.
func (d *desired) serve() {
	if d.text != keyConfigMap {
		metav1.SetMetaDataAnnotation(&d.deployment.Spec.Template.ObjectMeta, annotationConfigMap, d.text)
	}
	if d.immutable() {
		metav1.SetMetaDataAnnotation(&d.deployment.ObjectMeta, annotationServing, d.serving)
	}
}

// kept returns the ConfigMap of the pods that serve, where that is not the desired
// one. It has the data that was observed: the spec has changed since.
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
	// Ours are plain. What others have added to a ConfigMap stays theirs.
	maps.DeleteFunc(cm.Data, func(_, text string) bool { return !plain(text) })
	cm.Name = v.configMapOf(d.serving)
	if d.serving != keyConfigMap {
		cm.Immutable = ptr.To(true)
	}

	return cm
}
