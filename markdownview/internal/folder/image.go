package folder

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	imagespec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/retry"
)

// Push pushes a folder as an image of one layer, with the files in its root folder, and
// returns its reference with the digest. The same folder gives the same digest. The
// credentials are those of docker login.
//
// The layer is in the format of gzip, which Flux requires, but not compressed, because another
// version of Go can compress the same bytes to others. Its config names one platform, because the specification requires it; container
// runtimes mount it on the others too.
func (f *Folder) Push(ctx context.Context, reference string, plainHTTP bool, progress func(format string, args ...any)) (string, error) {
	repository, err := remote.NewRepository(reference)
	if err != nil || repository.Reference.Reference == "" || strings.Contains(reference, "@") {
		return "", fmt.Errorf("cannot push to %q: write a reference such as registry.example.com/books/handbook:main", reference)
	}
	store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return "", fmt.Errorf("cannot read the credentials of docker login: %w", err)
	}
	repository.Client = &auth.Client{Client: retry.DefaultClient, Cache: auth.NewCache(), Credential: credentials.Credential(store)}
	repository.PlainHTTP = plainHTTP || loopback(repository.Reference.Registry)

	layer, tarball, err := f.layer()
	if err != nil {
		return "", err
	}
	config := imagespec.Image{Platform: imagespec.Platform{Architecture: "amd64", OS: "linux"}, RootFS: imagespec.RootFS{Type: "layers", DiffIDs: []digest.Digest{tarball}}}
	encodedConfig, _ := json.Marshal(config) //nolint:errchkjson // It has only strings.
	manifest := imagespec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: imagespec.MediaTypeImageManifest,
		Config: content.NewDescriptorFromBytes(imagespec.MediaTypeImageConfig, encodedConfig), Layers: []imagespec.Descriptor{layer},
	}
	encodedManifest, _ := json.Marshal(manifest) //nolint:errchkjson // It has only strings and numbers.

	if err = f.pushLayer(ctx, repository, layer, progress); err == nil {
		err = push(ctx, repository, manifest.Config, bytes.NewReader(encodedConfig))
	}
	target := content.NewDescriptorFromBytes(manifest.MediaType, encodedManifest)
	if err == nil {
		err = repository.PushReference(ctx, target, bytes.NewReader(encodedManifest), repository.Reference.Reference)
	}
	if err != nil {
		return "", fmt.Errorf("cannot push to %s: check the reference, and run docker login %s (%w)", reference, repository.Reference.Registry, err)
	}

	return fmt.Sprintf("%s/%s@%s", repository.Reference.Registry, repository.Reference.Repository, target.Digest), nil
}

// loopback returns whether a registry is on this machine, where it usually has no TLS.
func loopback(registry string) bool {
	host := (&url.URL{Host: registry}).Hostname()

	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// push pushes a blob that the registry does not have.
func push(ctx context.Context, repository *remote.Repository, d imagespec.Descriptor, blob io.Reader) error {
	exists, err := repository.Exists(ctx, d)
	if err != nil || exists {
		return err
	}

	return repository.Push(ctx, d, blob)
}

// layer returns the descriptor of the layer, and the digest of the tarball in it.
func (f *Folder) layer() (layer imagespec.Descriptor, tarball digest.Digest, err error) {
	sum, inner, size := digest.SHA256.Digester(), digest.SHA256.Digester(), &counter{}
	err = f.writeLayer(io.MultiWriter(sum.Hash(), size), inner.Hash())

	return imagespec.Descriptor{MediaType: imagespec.MediaTypeImageLayerGzip, Digest: sum.Digest(), Size: size.n}, inner.Digest(), err
}

// writeLayer writes the tarball of the files, and in the format of gzip the layer.
func (f *Folder) writeLayer(layer, tarball io.Writer) error {
	z, err := gzip.NewWriterLevel(layer, gzip.NoCompression)
	if err != nil {
		return err
	}

	return errors.Join(f.writeTar(io.MultiWriter(z, tarball)), z.Close())
}

// pushLayer pushes the layer without holding it in memory.
func (f *Folder) pushLayer(ctx context.Context, repository *remote.Repository, d imagespec.Descriptor, progress func(format string, args ...any)) error {
	r, w := io.Pipe()
	defer func() { _ = r.Close() }()
	sent := &counter{progress: func(n int64) { progress("pushing %s: %s of %s", f.Path, mebibytes(n), mebibytes(d.Size)) }}
	go func() { w.CloseWithError(f.writeLayer(io.MultiWriter(w, sent), io.Discard)) }()

	return push(ctx, repository, d, r)
}

// A counter counts bytes.
type counter struct {
	n        int64
	progress func(n int64)
}

func (c *counter) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	if c.progress != nil {
		c.progress(c.n)
	}

	return len(b), nil
}

// writeTar writes the files, in the order of their names and without what depends on the
// machine.
func (f *Folder) writeTar(w io.Writer) error {
	root, err := os.OpenRoot(f.Path)
	if err != nil {
		return fmt.Errorf("cannot read the folder %s: %w", f.Path, Cause(err))
	}
	defer func() { _ = root.Close() }()
	t := tar.NewWriter(w)
	written := map[string]bool{".": true}
	for _, file := range f.Files {
		for _, folder := range foldersOf(file.Name) {
			if !written[folder] {
				written[folder] = true
				err = errors.Join(err, t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755, ModTime: time.Unix(0, 0)}))
			}
		}
		err = errors.Join(err, t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: file.Name, Size: file.Size, Mode: 0o644, ModTime: time.Unix(0, 0)}))
		if err != nil {
			return fmt.Errorf("cannot write %s: %w", f.Shown(file.Name), err)
		}
		if err := f.copyTo(t, root, file); err != nil {
			return err
		}
	}

	return t.Close()
}

// foldersOf returns the folders of a file, the outermost first.
func foldersOf(name string) (folders []string) {
	if folder := path.Dir(name); folder != "." {
		folders = append(foldersOf(folder), folder)
	}

	return folders
}
