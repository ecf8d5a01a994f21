// Command packages builds an image tarball of a binary.
package main

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"runtime"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func main() {
	bin := must(os.ReadFile(os.Args[1]))
	b := &bytes.Buffer{}
	w := tar.NewWriter(b)
	w.WriteHeader(&tar.Header{Name: "function", Mode: 0o755, Size: int64(len(bin)), Typeflag: tar.TypeReg})
	w.Write(bin)
	w.Close()
	l := must(tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }))
	img := must(mutate.AppendLayers(empty.Image, l))
	cfg := must(img.ConfigFile()).DeepCopy()
	cfg.Architecture, cfg.OS = runtime.GOARCH, "linux"
	cfg.Config = v1.Config{Entrypoint: []string{"/function"}}
	img = must(mutate.ConfigFile(img, cfg))
	if err := tarball.WriteToFile(os.Args[2], must(name.NewTag("runtime:v1")), img); err != nil {
		panic(err)
	}
}
