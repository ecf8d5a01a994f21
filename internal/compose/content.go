package compose

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/internal/files"
	"github.com/crossplane-contrib/function-markdownview/internal/objects"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// immutableKey returns the resource key of an immutable ConfigMap with the content of
// cm. The hash need not be cryptographic: see revision.
func immutableKey(cm *files.ConfigMap) string {
	var w objects.Writer
	w.Object(&struct {
		BinaryData map[string]string `json:"binaryData"`
		Data       map[string]string `json:"data"`
	}{cm.BinaryData, cm.Data})

	return fmt.Sprintf("%s%016x", view.KeyImmutable, hashed(w.Parts()))
}

// hashed returns the hash of the concatenated parts.
func hashed(parts [][]byte) uint64 {
	h := xxhash.New()
	for _, part := range parts {
		h.Write(part) //nolint:errcheck // A hash never fails to write.
	}

	return h.Sum64()
}

// configMapPart returns the ConfigMap with a resource key as a part.
func configMapPart(v view.View, key string) part {
	return part{key, "v1", "ConfigMap", v.ConfigMapOf(key)}
}

// serving returns the resource keys of the ConfigMaps that the serving pods read. That is
// one: the key on the pod template, before the first rollout is complete and if no
// ConfigMap of view.AnnotationServing exists, else the key of that annotation.
//
// If there is no Deployment, somebody may have deleted it without its pods, with
// kubectl delete --cascade=orphan. They can read any ConfigMap that exists, until they are
// pods of the new Deployment.
func serving(o request.Observed, desired string) []string {
	if o.Deployment == nil {
		if len(o.ConfigMaps) == 0 {
			return []string{desired}
		}

		return slices.Sorted(maps.Keys(o.ConfigMaps))
	}
	last := slices.DeleteFunc(strings.Split(o.Deployment.Metadata.Annotations.Serving, ","), func(key string) bool { return o.ConfigMaps[key] == nil })
	if o.Deployment.Serves() || len(last) == 0 {
		return []string{o.Deployment.ConfigMap()}
	}

	return last
}

// Kept returns the ConfigMaps that the serving pods read, without the desired one. They
// have the observed data, because the spec has changed since.
func Kept(v view.View, o request.Observed, d *Desired) []ComposedResource {
	var all []ComposedResource
	for _, key := range d.Serving {
		was := o.ConfigMaps[key]
		if key == d.Text || was == nil {
			continue
		}
		cm := &files.ConfigMap{
			TypeMeta:   d.ConfigMap.TypeMeta,
			ObjectMeta: d.ConfigMap.ObjectMeta,
			Data:       maps.Clone(was.Data),
			BinaryData: was.BinaryData,
		}
		// The function writes only plain texts. It must not take ownership of other texts.
		maps.DeleteFunc(cm.Data, func(_, text string) bool { return !view.Plain(text) })
		cm.Name = v.ConfigMapOf(key)
		if key != view.KeyConfigMap {
			cm.Immutable = ptr.To(true)
		}
		all = append(all, ComposedResource{configMapPart(v, key), cm, true})
	}

	return all
}

// immutable returns whether pods read anything other than the ConfigMap that changes in
// place.
func (d *Desired) immutable() bool {
	return d.Text != view.KeyConfigMap || !slices.Equal(d.Serving, []string{view.KeyConfigMap})
}

// serve sets the annotations that show which ConfigMaps the Deployment and its pods
// use. A ConfigMap that changes in place needs none, unless it replaces an immutable
// one.
func (d *Desired) serve() {
	if d.Text != view.KeyConfigMap {
		metav1.SetMetaDataAnnotation(&d.Deployment.Spec.Template.ObjectMeta, view.AnnotationConfigMap, d.Text)
	}
	if d.immutable() {
		metav1.SetMetaDataAnnotation(&d.Deployment.ObjectMeta, view.AnnotationServing, strings.Join(d.Serving, ","))
	}
}
