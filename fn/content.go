package fn

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/internal/objects"
)

// A book has one ConfigMap, with the resource key "configmap", whose data changes with
// the text. With immutableConfigMaps or server, each text has a ConfigMap of its own that
// never changes: its key and its name end with a hash of the text, and a change of the
// text creates another ConfigMap.
//
// Crossplane deletes resources that are no longer desired before it applies the others,
// in any order. So two ConfigMaps are desired during a rollout: the new one, and the
// one that pods still serve, with its observed data. Crossplane deletes those of changes
// that did not roll out. Only a Deployment that somebody deletes during a rollout leaves
// more: see observed.serving.

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
	// template, which the next rollout replaces. For a Deployment that was created again,
	// its value is the keys of all ConfigMaps that existed, separated by commas.
	annotationServing = "markdownview.fn.crossplane.io/serving"
)

// immutable returns whether each text has a ConfigMap of its own. A web server builds the
// book once, when its pod starts, so its text must be one that does not change: Crossplane
// applies a Deployment also if the ConfigMap is applied later, or cannot be applied.
func (v view) immutable() bool {
	return v.input.ImmutableConfigMaps || v.input.Server != nil
}

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

// serving returns the resource keys of the ConfigMaps that the serving pods read. That is
// one: the key on the pod template, before the first rollout is complete and if no
// ConfigMap of annotationServing exists, else the key of that annotation.
//
// If there is no Deployment, somebody may have deleted it without its pods, with
// kubectl delete --cascade=orphan. They can read any ConfigMap that exists, until they are
// pods of the new Deployment.
func (o observed) serving(desired string) []string {
	if o.deployment == nil {
		if len(o.configMaps) == 0 {
			return []string{desired}
		}

		return slices.Sorted(maps.Keys(o.configMaps))
	}
	last := slices.DeleteFunc(strings.Split(o.deployment.Metadata.Annotations.Serving, ","), func(key string) bool { return o.configMaps[key] == nil })
	if o.deployment.serves() || len(last) == 0 {
		return []string{o.deployment.configMap()}
	}

	return last
}

// immutable returns whether pods read anything other than the ConfigMap that changes in
// place.
func (d *desired) immutable() bool {
	return d.text != keyConfigMap || !slices.Equal(d.serving, []string{keyConfigMap})
}

// serve sets the annotations that show which ConfigMaps the Deployment and its pods
// use. A ConfigMap that changes in place needs none, unless it replaces an immutable
// one.
func (d *desired) serve() {
	if d.text != keyConfigMap {
		metav1.SetMetaDataAnnotation(&d.deployment.Spec.Template.ObjectMeta, annotationConfigMap, d.text)
	}
	if d.immutable() {
		metav1.SetMetaDataAnnotation(&d.deployment.ObjectMeta, annotationServing, strings.Join(d.serving, ","))
	}
}

// kept returns the ConfigMaps that the serving pods read, without the desired one. They
// have the observed data, because the spec has changed since.
func kept(v view, o observed, d *desired) []composedResource {
	var all []composedResource
	for _, key := range d.serving {
		was := o.configMaps[key]
		if key == d.text || was == nil {
			continue
		}
		cm := &composedConfigMap{
			TypeMeta:   d.configMap.TypeMeta,
			ObjectMeta: d.configMap.ObjectMeta,
			Data:       maps.Clone(was.Data),
			BinaryData: was.BinaryData,
		}
		// The function writes only plain texts. It must not take ownership of other texts.
		maps.DeleteFunc(cm.Data, func(_, text string) bool { return !plain(text) })
		cm.Name = v.configMapOf(key)
		if key != keyConfigMap {
			cm.Immutable = ptr.To(true)
		}
		all = append(all, composedResource{v.configMapPart(key), cm, true})
	}

	return all
}
