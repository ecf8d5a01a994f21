package pod

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// data is the link of a volume to its present content.
const data = "..data"

// makeVolume makes the folder of a volume, with the modes that a kubelet gives it.
func (p *Pod) makeVolume(v corev1.Volume) error {
	dir := p.Volume(v.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if v.EmptyDir != nil {
		return os.Chmod(dir, 0o777)
	}
	c, ok := p.cluster.ConfigMaps[v.ConfigMap.Name]
	if !ok {
		return fmt.Errorf("cannot find ConfigMap %q", v.ConfigMap.Name)
	}

	return project(dir, c, v.ConfigMap.Items)
}

// Volume returns the folder of a volume.
func (p *Pod) Volume(name string) string { return filepath.Join(p.dir, "volumes", name) }

// Update changes the content of a ConfigMap in the volumes that show it.
func (p *Pod) Update(c *corev1.ConfigMap) error {
	for _, v := range p.spec.Volumes {
		if v.ConfigMap == nil || v.ConfigMap.Name != c.Name {
			continue
		}
		if err := project(p.Volume(v.Name), c, v.ConfigMap.Items); err != nil {
			return fmt.Errorf("cannot update volume %q: %w", v.Name, err)
		}
	}

	return nil
}

// project writes a ConfigMap as a kubelet does: the files in a folder of their own,
// "..data" as a link to it that is exchanged at once, and for each file and folder at
// the top a link through "..data".
//
// https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/volume/util/atomic_writer.go
func project(dir string, c *corev1.ConfigMap, items []corev1.KeyToPath) error {
	old, err := os.Readlink(filepath.Join(dir, data))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	files := contents(c, items)
	next, err := writeFiles(dir, files)
	if err != nil {
		return err
	}
	if err := link(filepath.Base(next), filepath.Join(dir, data)); err != nil {
		return err
	}
	for name := range top(files) {
		if err := link(filepath.Join(data, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	if err := removeStale(dir, files); err != nil {
		return err
	}
	if old == "" {
		return nil
	}

	return os.RemoveAll(filepath.Join(dir, old))
}

func writeFiles(dir string, files map[string][]byte) (string, error) {
	next, err := os.MkdirTemp(dir, "..")
	if err != nil {
		return "", err
	}
	if err := os.Chmod(next, 0o755); err != nil {
		return "", err
	}
	for name, content := range files {
		file := filepath.Join(next, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return "", err
		}
		// Whatever the umask.
		if err := os.Chmod(file, 0o644); err != nil {
			return "", err
		}
	}

	return next, nil
}

// link makes a link, or exchanges one that leads elsewhere.
func link(target, name string) error {
	if present, err := os.Readlink(name); err == nil && present == target {
		return nil
	}
	next := name + "_tmp"
	if err := os.Symlink(target, next); err != nil {
		return err
	}

	return os.Rename(next, name)
}

func removeStale(dir string, files map[string][]byte) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	kept := top(files)
	for _, e := range entries {
		if kept[e.Name()] || strings.HasPrefix(e.Name(), "..") {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}

	return nil
}

// top returns the files and folders at the top of a volume.
func top(files map[string][]byte) map[string]bool {
	names := map[string]bool{}
	for name := range files {
		first, _, _ := strings.Cut(name, "/")
		names[first] = true
	}

	return names
}

// contents returns the files of a volume by their paths.
func contents(c *corev1.ConfigMap, items []corev1.KeyToPath) map[string][]byte {
	files := map[string][]byte{}
	for name, text := range c.Data {
		files[name] = []byte(text)
	}
	for name, b := range c.BinaryData {
		files[name] = b
	}
	if len(items) == 0 {
		return files
	}
	shown := map[string][]byte{}
	for _, item := range items {
		shown[item.Path] = files[item.Key]
	}

	return shown
}
