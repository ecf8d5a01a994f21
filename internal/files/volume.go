package files

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// projectionOf mounts the files that were checked, each at its path. A new key changes
// the pod template.
func projectionOf(r view.SharedFiles) corev1.VolumeProjection {
	keys := r.Keys()
	items := make([]corev1.KeyToPath, len(keys))
	for i, key := range keys {
		items[i] = corev1.KeyToPath{Key: key, Path: r.File(key)}
	}

	return projection(r.Name, items)
}

func projection(configMap string, items []corev1.KeyToPath) corev1.VolumeProjection {
	return corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{
		LocalObjectReference: corev1.LocalObjectReference{Name: configMap},
		Items:                items,
	}}
}

// validateShared returns an error for each file that is in two places.
func (f *Files) validateShared() field.ErrorList {
	if len(f.shared) == 0 {
		return nil
	}
	places := map[string]string{}
	for name := range f.Spec.Markdowns {
		places[name] = "spec.markdowns"
	}
	for name := range f.Spec.Binaries {
		places[name] = "spec.binaries"
	}
	for name := range f.Extra.BinaryData {
		places[name] = "a template of the Composition"
	}
	for name := range f.Extra.Data {
		places[name] = "a template of the Composition"
	}

	var errs field.ErrorList
	for _, r := range f.shared {
		for _, key := range r.Keys() {
			name := r.File(key)
			if place, taken := places[name]; taken && len(errs) <= view.MaxFiles {
				errs = append(errs, field.Invalid(r.At, field.OmitValueType{}, fmt.Sprintf("remove file %q here or from %s: it is in both", report.Short(name), place)))
			}
			places[name] = "ConfigMap " + r.Name
		}
	}

	return errs
}

// Mounted returns the files of other ConfigMaps that pods mount from there.
func (f *Files) Mounted() []view.SharedFiles {
	if f.copied {
		return nil
	}

	return f.shared
}

// Volume returns the volume with the book. configMap is the name of our ConfigMap.
func (f *Files) Volume(configMap string) corev1.Volume {
	v := corev1.Volume{Name: view.VolumeName}
	switch image := f.Spec.BookImage(); {
	case image != nil:
		v.Image = &corev1.ImageVolumeSource{Reference: view.Qualified(image.Reference), PullPolicy: image.PullPolicy}
	case len(f.Mounted()) > 0:
		v.Projected = &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{projection(configMap, f.Items)}}
		for _, s := range f.Mounted() {
			// Without items, the pods would mount keys that are added later and not
			// checked.
			if p := projectionOf(s); len(p.ConfigMap.Items) > 0 {
				v.Projected.Sources = append(v.Projected.Sources, p)
			}
		}
	default:
		v.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: configMap}, Items: f.Items}
	}

	return v
}
