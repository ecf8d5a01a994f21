package controlplane

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

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

// BuildFunction builds the package of a function that has none of its own, from
// its binary.
func (i *Installer) BuildFunction(ctx context.Context, functionName, binary string) (Package, error) {
	p := Package{Kind: "function", Repository: "e2e/" + functionName, Version: "v0.1.0"}
	dir, err := os.MkdirTemp(i.Dir, functionName+"-")
	if err != nil {
		return p, fmt.Errorf("cannot build function %q: %w", functionName, err)
	}
	img, err := image(binary)
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

// image with a binary as its only file.
func image(binary string) (v1.Image, error) {
	b, err := os.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("cannot read binary: %w", err)
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		buf := &bytes.Buffer{}
		w := tar.NewWriter(buf)
		if err := w.WriteHeader(&tar.Header{Name: "function", Mode: 0o755, Size: int64(len(b)), Typeflag: tar.TypeReg}); err != nil {
			return nil, err
		}
		if _, err := w.Write(b); err != nil {
			return nil, err
		}
		return io.NopCloser(buf), w.Close()
	})
	if err != nil {
		return nil, fmt.Errorf("cannot make layer: %w", err)
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, fmt.Errorf("cannot make image: %w", err)
	}
	cfg, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("cannot make image: %w", err)
	}
	cfg = cfg.DeepCopy()
	cfg.OS, cfg.Architecture = "linux", runtime.GOARCH
	cfg.Config = v1.Config{Entrypoint: []string{"/function"}}
	if img, err = mutate.ConfigFile(img, cfg); err != nil {
		return nil, fmt.Errorf("cannot make image: %w", err)
	}
	return img, nil
}
