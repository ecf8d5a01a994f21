package main

import (
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// repository returns a repository of a registry on loopback.
func repository(t *testing.T, referrersAPI bool) name.Repository {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.WithReferrersSupport(referrersAPI), registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	repo, err := name.NewRepository(strings.TrimPrefix(server.URL, "http://") + "/function")
	if err != nil {
		t.Fatal(err)
	}

	return repo
}

// pushIndex pushes an index of two images to a registry on loopback. It returns the
// digest of the index, and those of the images by architecture.
func pushIndex(t *testing.T, referrersAPI bool) (name.Digest, map[string]v1.Hash) {
	t.Helper()

	digests := map[string]v1.Hash{}
	adds := []mutate.IndexAddendum{}
	for _, arch := range []string{"amd64", "arm64"} {
		img, err := random.Image(64, 1)
		if err != nil {
			t.Fatal(err)
		}
		if digests[arch], err = img.Digest(); err != nil {
			t.Fatal(err)
		}
		adds = append(adds, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}}})
	}
	index := mutate.AppendManifests(empty.Index, adds...)
	repo := repository(t, referrersAPI)
	if err := remote.WriteIndex(repo.Tag("v1"), index); err != nil {
		t.Fatal(err)
	}
	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}

	return repo.Digest(digest.String()), digests
}

func TestAttach(t *testing.T) {
	cases := map[string]struct {
		reason       string
		referrersAPI bool
	}{
		"ReferrersAPI": {reason: "A registry with the referrers API lists the SBOM of each platform.", referrersAPI: true},
		"ReferrersTag": {reason: "In a registry without it, a tag lists the SBOMs.", referrersAPI: false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			index, digests := pushIndex(t, tc.referrersAPI)
			documents := map[string][]byte{"amd64": []byte(`{"for":"amd64"}`), "arm64": []byte(`{"for":"arm64"}`)}
			// A release that failed in the middle is pushed again.
			for range 2 {
				if err := attach(index, documents); err != nil {
					t.Fatal(err)
				}
			}

			got := map[string][]byte{}
			for arch, digest := range digests {
				got[arch] = read(t, index.Context().Digest(digest.String()))
			}
			if diff := cmp.Diff(documents, got); diff != "" {
				t.Errorf("%s\nattach(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAttachToOneArchitecture(t *testing.T) {
	img, err := random.Image(64, 1)
	if err != nil {
		t.Fatal(err)
	}
	img, err = mutate.ConfigFile(img, &v1.ConfigFile{OS: "linux", Architecture: "arm64"})
	if err != nil {
		t.Fatal(err)
	}
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	pkg := repository(t, true).Digest(digest.String())
	if err := remote.Write(pkg, img); err != nil {
		t.Fatal(err)
	}

	want := []byte(`{"for":"arm64"}`)
	if err := attach(pkg, map[string][]byte{"arm64": want}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, read(t, pkg)); diff != "" {
		t.Errorf("attach(...): -want, +got:\n%s", diff)
	}
}

func TestAttachNeedsADocumentForEachPlatform(t *testing.T) {
	index, digests := pushIndex(t, true)
	err := attach(index, map[string][]byte{"amd64": []byte(`{}`)})
	if err == nil {
		t.Fatal("attach(...): want error, got none")
	}
	want := `cannot attach SBOM to ` + digests["arm64"].String() + ` of "` + index.String() + `": no SBOM for "arm64"`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("attach(...): -want, +got:\n%s", diff)
	}
}

func read(t *testing.T, image name.Digest) []byte {
	t.Helper()
	document, err := readSBOM(image)
	if err != nil {
		t.Fatal(err)
	}

	return document
}

// readSBOM returns the only SBOM that refers to an image.
func readSBOM(image name.Digest, options ...remote.Option) ([]byte, error) {
	idx, err := remote.Referrers(image, options...)
	if err != nil {
		return nil, fmt.Errorf("cannot list referrers of %q: %w", image, err)
	}
	manifest, err := idx.IndexManifest()
	if err != nil {
		return nil, fmt.Errorf("cannot list referrers of %q: %w", image, err)
	}
	found := slices.DeleteFunc(slices.Clone(manifest.Manifests), func(d v1.Descriptor) bool { return d.ArtifactType != string(sbomType) })
	if len(found) != 1 {
		return nil, fmt.Errorf("cannot choose an SBOM of %q: there are %d", image, len(found))
	}
	artifact, err := remote.Image(image.Context().Digest(found[0].Digest.String()), options...)
	if err != nil {
		return nil, fmt.Errorf("cannot get SBOM of %q: %w", image, err)
	}
	layers, err := artifact.Layers()
	if err != nil {
		return nil, fmt.Errorf("cannot read SBOM of %q: %w", image, err)
	}
	if len(layers) != 1 {
		return nil, fmt.Errorf("cannot read SBOM of %q: it has %d layers", image, len(layers))
	}
	r, err := layers[0].Compressed()
	if err != nil {
		return nil, fmt.Errorf("cannot read SBOM of %q: %w", image, err)
	}
	defer r.Close() //nolint:errcheck // Only read.

	return io.ReadAll(r)
}
