package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// A Volume is what mdBook reads in a pod: the files at /book/src and /book/theme, and the
// environment variables of the container that mounts them.
type Volume struct {
	Files, Theme map[string][]byte
	Env          []string
}

// Volume returns the book as the kubelet would mount it.
func (c *Call) Volume() (*Volume, error) {
	composed := map[string]*fnv1.Resource{}
	maps.Copy(composed, c.Response.GetDesired().GetResources())
	for name, required := range c.Request.GetRequiredResources() {
		for _, item := range required.GetItems() {
			composed[name] = item
		}
	}
	var d appsv1.Deployment
	configMaps := map[string]map[string][]byte{}
	for key, r := range composed {
		raw, err := r.GetResource().MarshalJSON()
		var cm corev1.ConfigMap
		switch r.GetResource().GetFields()["kind"].GetStringValue() {
		case "ConfigMap":
			err = errors.Join(err, json.Unmarshal(raw, &cm))
			configMaps[cm.Name] = map[string][]byte{}
			maps.Copy(configMaps[cm.Name], cm.BinaryData)
			for name, text := range cm.Data {
				configMaps[cm.Name][name] = []byte(text)
			}
		case "Deployment":
			err = errors.Join(err, json.Unmarshal(raw, &d))
		}
		if err != nil {
			return nil, fmt.Errorf("cannot decode composed resource %q: %w", key, err)
		}
	}

	pod := d.Spec.Template.Spec
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		i := slices.IndexFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == "/book/src" })
		if i < 0 {
			continue
		}
		b := &Volume{Files: map[string][]byte{}, Theme: map[string][]byte{}}
		for _, e := range c.Env {
			// Kubernetes reads "$$" as a dollar sign.
			b.Env = append(b.Env, e.Name+"="+strings.ReplaceAll(e.Value, "$$", "$"))
		}
		for _, m := range c.VolumeMounts {
			if v := volume(pod, m.Name); m.MountPath == "/book/theme" && v.DownwardAPI != nil {
				b.addTheme(v.DownwardAPI.Items, d.Spec.Template.Annotations)
			}
		}

		return b, b.add(volume(pod, c.VolumeMounts[i].Name), configMaps)
	}

	return nil, errors.New("cannot find the book: the composed Deployment has no volume at /book/src")
}

func volume(pod corev1.PodSpec, name string) corev1.Volume {
	return pod.Volumes[slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == name })]
}

// addTheme adds the files of a theme, which are annotations of the pod.
func (b *Volume) addTheme(items []corev1.DownwardAPIVolumeFile, annotations map[string]string) {
	for _, i := range items {
		if i.FieldRef != nil {
			name := strings.TrimSuffix(strings.TrimPrefix(i.FieldRef.FieldPath, "metadata.annotations['"), "']")
			b.Theme[i.Path] = []byte(annotations[name])
		}
	}
}

// add adds the files that a volume has from ConfigMaps.
func (b *Volume) add(v corev1.Volume, configMaps map[string]map[string][]byte) error {
	if v.Image != nil {
		return errors.New("cannot preview a book in an image: put its files into spec.markdowns")
	}
	var parts []corev1.VolumeProjection
	if c := v.ConfigMap; c != nil {
		parts = []corev1.VolumeProjection{{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: c.LocalObjectReference, Items: c.Items}}}
	} else if v.Projected != nil {
		parts = v.Projected.Sources
	}
	for _, part := range parts {
		if part.ConfigMap == nil {
			continue
		}
		content, ok := configMaps[part.ConfigMap.Name]
		if !ok {
			return fmt.Errorf("cannot find the book: ConfigMap %q is not composed", part.ConfigMap.Name)
		}
		items := part.ConfigMap.Items
		for key := range content {
			if part.ConfigMap.Items == nil {
				items = append(items, corev1.KeyToPath{Key: key, Path: key})
			}
		}
		for _, i := range items {
			if b.Files[i.Path], ok = content[i.Key]; !ok {
				return fmt.Errorf("cannot find the book: ConfigMap %q has no key %q", part.ConfigMap.Name, i.Key)
			}
		}
	}

	return nil
}
