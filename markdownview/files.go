package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// A volume is what mdBook reads in a pod: the files at /book/src, and the
// environment variables of the container that mounts it.
type volume struct {
	files map[string][]byte
	env   []string
}

// layout returns the book of composed resources as the kubelet would mount it.
func layout(composed map[string]*fnv1.Resource) (*volume, error) {
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
		b := &volume{files: map[string][]byte{}}
		for _, e := range c.Env {
			// Kubernetes reads "$$" as a dollar sign.
			b.env = append(b.env, e.Name+"="+strings.ReplaceAll(e.Value, "$$", "$"))
		}
		v := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == c.VolumeMounts[i].Name })

		return b, b.add(pod.Volumes[v], configMaps)
	}

	return nil, errors.New("cannot find the book: the composed Deployment has no volume at /book/src")
}

// add adds the files that a volume has from ConfigMaps.
func (b *volume) add(v corev1.Volume, configMaps map[string]map[string][]byte) error {
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
			if b.files[i.Path], ok = content[i.Key]; !ok {
				return fmt.Errorf("cannot find the book: ConfigMap %q has no key %q", part.ConfigMap.Name, i.Key)
			}
		}
	}

	return nil
}

// include matches the start of an include in a line, and captures its target. An include
// that another file includes in part can begin in an earlier line, so a line can begin with
// "#include". It matches white space as mdBook does:
// https://github.com/rust-lang/mdBook/blob/v0.5.0/crates/mdbook-driver/src/builtin_preprocessors/links.rs (LINK)
var include = regexp.MustCompile(`(^|\\?\{\{)[\s\v\x{85}\p{Z}]*#(?:include|rustdoc_include|playground|playpen)(?:[\s\v\x{85}\p{Z}]+([^\s\v\x{85}\p{Z}}]*)|$)`)

// check returns an error for each include that leaves the book. In a pod, such an include
// can read only the container. Here it could read every file of the user.
func (b *volume) check() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(b.files)) {
		text := string(b.files[name])
		if !strings.Contains(text, "{{") {
			continue
		}
		n := 0
		for line := range strings.SplitSeq(text, "\n") {
			n++
			for _, m := range include.FindAllStringSubmatchIndex(line, -1) {
				if rest := line[m[3]:]; strings.HasPrefix(line[m[2]:m[3]], `\`) && strings.HasPrefix(rest, "#") && strings.Contains(rest, "}}") {
					continue // It is escaped.
				}
				target := line[max(m[4], 0):max(m[5], 0)]
				file, _, _ := strings.Cut(target, ":")
				switch {
				case target == "":
					errs = append(errs, fmt.Errorf("%s line %d: write the include and its file on one line", name, n))
				case leaves(name, file), leaves(name, target):
					errs = append(errs, fmt.Errorf("%s line %d: the included file %q is outside of the book: remove the include", name, n, file))
				}
			}
		}
	}

	return errors.Join(errs...)
}

// leaves returns whether a target in a file of the book is outside of the book.
func leaves(name, target string) bool {
	return strings.HasPrefix(target, "/") || strings.Contains(target, `\`) || strings.HasPrefix(path.Join(path.Dir(name), target)+"/", "../")
}

// write replaces the folder src in dir. src is a symbolic link that changes at once,
// because mdBook checks src every second and must not find an incomplete book.
func (b *volume) write(dir string) error {
	files, err := os.MkdirTemp(dir, "files-")
	if err != nil {
		return fmt.Errorf("cannot write the book: %w", err)
	}
	for name, content := range b.files {
		file := filepath.Join(files, filepath.FromSlash(name))
		err = errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, content, 0o644))
	}
	src := filepath.Join(dir, "src")
	old, _ := os.Readlink(src)
	if err = errors.Join(err, os.Symlink(filepath.Base(files), files+".link")); err == nil {
		err = os.Rename(files+".link", src)
	}
	if err == nil && old != "" {
		err = os.RemoveAll(filepath.Join(dir, old))
	}
	if err != nil {
		return fmt.Errorf("cannot write the book: %w", err)
	}

	return nil
}
