package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Build returns a Linux image for a recipe and its binary. The same recipe and binary
// give the same digest: neither the file nor the image has a date.
func (r Recipe) Build(binary []byte, arch string) (v1.Image, error) {
	layer, err := r.layer(binary)
	if err != nil {
		return nil, fmt.Errorf("cannot build layer: %w", err)
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, fmt.Errorf("cannot append layer: %w", err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("cannot read image config: %w", err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Config = "linux", arch, r.Config
	if img, err = mutate.ConfigFile(img, config); err != nil {
		return nil, fmt.Errorf("cannot set image config: %w", err)
	}

	return img, nil
}

func (r Recipe) layer(binary []byte) (v1.Layer, error) {
	b := &bytes.Buffer{}
	w := tar.NewWriter(b)
	header := &tar.Header{Typeflag: tar.TypeReg, Name: path.Base(r.Binary), Mode: int64(r.Mode), Size: int64(len(binary))}
	if err := w.WriteHeader(header); err != nil {
		return nil, err
	}
	if _, err := w.Write(binary); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	// Compress as much as possible: the image is pulled more often than it is built.
	return tarball.LayerFromOpener(
		func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil },
		tarball.WithCompressionLevel(gzip.BestCompression))
}

// Describe returns the files and the configuration of an image as lines. They must be
// equal for two images that different tools built from the same Dockerfile.
func Describe(img v1.Image) ([]string, error) {
	config, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("cannot read image config: %w", err)
	}
	files, err := describeFiles(img)
	if err != nil {
		return nil, fmt.Errorf("cannot read files of image: %w", err)
	}

	return slices.Concat([]string{"platform " + config.OS + "/" + config.Architecture}, describe(config.Config), files), nil
}

func describeFiles(img v1.Image) ([]string, error) {
	files := mutate.Extract(img)
	defer files.Close() //nolint:errcheck // It was read to its end.
	lines := []string{}
	for r := tar.NewReader(files); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			slices.Sort(lines)
			return lines, nil
		}
		if err != nil {
			return nil, err
		}
		sum := sha256.New()
		if _, err := io.Copy(sum, r); err != nil {
			return nil, err
		}
		// Buildah adds the file type to the mode.
		lines = append(lines, fmt.Sprintf("file %q type %q mode %#o owner %d:%d sha256 %x", path.Join("/", h.Name), h.Typeflag, h.Mode&0o7777, h.Uid, h.Gid, sum.Sum(nil)))
	}
}
