package compose

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

const themeVolume = "theme"

// annotationTheme returns the annotation of the pod template that has a file of the theme.
// Pods mount annotations with the downward API, so a theme needs no object of its own, is
// no part of the book, and changes with the pods.
func annotationTheme(name string) string {
	return "theme.markdownview.fn.crossplane.io/" + strings.ReplaceAll(name, "/", "_")
}

// addTheme adds the Input's theme to a pod template. Its first container is mdBook, or
// its first init container if there is a web server.
func addTheme(v view.View, pod *corev1.PodTemplateSpec) {
	if len(v.Input.Theme) == 0 {
		return
	}
	volume := &corev1.DownwardAPIVolumeSource{}
	for _, name := range slices.Sorted(maps.Keys(v.Input.Theme)) {
		annotation := annotationTheme(name)
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, annotation, v.Input.Theme[name])
		volume.Items = append(volume.Items, corev1.DownwardAPIVolumeFile{
			Path:     name,
			FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['" + annotation + "']"},
		})
	}
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: themeVolume, VolumeSource: corev1.VolumeSource{DownwardAPI: volume}})
	mdbook := &pod.Spec.Containers[0]
	if len(pod.Spec.InitContainers) > 0 {
		mdbook = &pod.Spec.InitContainers[0]
	}
	mdbook.VolumeMounts = append(mdbook.VolumeMounts, corev1.VolumeMount{Name: themeVolume, MountPath: bookDir + "/theme", ReadOnly: true})
}
