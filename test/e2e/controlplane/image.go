package controlplane

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

const functionMeta = `apiVersion: meta.pkg.crossplane.io/v1
kind: Function
metadata:
  name: %s
spec:
  capabilities: [composition]
`

// BuildFunction builds the package of a function from its binary.
func (i *Installer) BuildFunction(ctx context.Context, functionName, binary string) (Package, error) {
	p := Package{Kind: "function", Repository: "e2e/" + functionName, Version: "v0.1.0"}
	dir, err := os.MkdirTemp(i.Dir, functionName+"-")
	if err != nil {
		return p, fmt.Errorf("cannot build function %q: %w", functionName, err)
	}
	img, err := NewImage(v1.Config{Entrypoint: []string{"/function"}, User: "65532:65532"}, map[string]string{"function": binary})
	if err != nil {
		return p, err
	}
	tag, err := name.NewTag("runtime:v0")
	if err != nil {
		return p, fmt.Errorf("cannot build function %q: %w", functionName, err)
	}
	if err := tarball.WriteToFile(filepath.Join(dir, "runtime.tar"), tag, img); err != nil {
		return p, fmt.Errorf("cannot write image of %q: %w", functionName, err)
	}
	if err := writeFiles(filepath.Join(dir, "package"), map[string][]byte{
		"crossplane.yaml": fmt.Appendf(nil, functionMeta, functionName),
	}); err != nil {
		return p, err
	}
	p.Files = []string{filepath.Join(dir, functionName+".xpkg")}
	_, err = i.crossplane(ctx, "xpkg", "build",
		"--package-root="+filepath.Join(dir, "package"),
		"--embed-runtime-image-tarball="+filepath.Join(dir, "runtime.tar"),
		"--package-file="+p.Files[0])

	return p, err
}

// NewImage returns an image with files and folders of this machine, by their path in
// the image.
func NewImage(config v1.Config, files map[string]string) (v1.Image, error) {
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		buf := &bytes.Buffer{}
		w := tar.NewWriter(buf)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if err := addFiles(w, name, files[name]); err != nil {
				return nil, err
			}
		}

		return io.NopCloser(buf), w.Close()
	}, tarball.WithCompressionLevel(gzip.BestSpeed))
	if err != nil {
		return nil, fmt.Errorf("cannot create layer: %w", err)
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, fmt.Errorf("cannot create image: %w", err)
	}
	cfg, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("cannot create image: %w", err)
	}
	cfg = cfg.DeepCopy()
	cfg.OS, cfg.Architecture, cfg.Config = "linux", runtime.GOARCH, config
	if img, err = mutate.ConfigFile(img, cfg); err != nil {
		return nil, fmt.Errorf("cannot create image: %w", err)
	}

	return img, nil
}

// addFiles adds a file, or a folder and everything in it.
func addFiles(w *tar.Writer, name, from string) error {
	return filepath.Walk(from, func(file string, info fs.FileInfo, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, file)
		if err != nil {
			return err
		}
		target := ""
		if info.Mode()&fs.ModeSymlink != 0 {
			if target, err = os.Readlink(file); err != nil {
				return err
			}
		}
		h, err := tar.FileInfoHeader(info, target)
		if err != nil {
			return err
		}
		h.Name = path.Join(name, filepath.ToSlash(rel))
		if h.Name == "." {
			return nil
		}
		h.Uid, h.Gid, h.Uname, h.Gname = 0, 0, "", ""
		h.Mode |= 0o444 // Pods run as any user.
		if err := w.WriteHeader(h); err != nil || !info.Mode().IsRegular() {
			return err
		}
		r, err := os.Open(file)
		if err != nil {
			return err
		}
		defer r.Close() //nolint:errcheck // Only read.
		_, err = io.Copy(w, r)

		return err
	})
}
