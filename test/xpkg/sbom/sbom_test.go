package sbom

import (
	"io"
	"log"
	"net/http/httptest"
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

// pushed returns an index of two images in a registry on loopback.
func pushed(t *testing.T, referrersAPI bool) (name.Digest, map[string]v1.Hash) {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.WithReferrersSupport(referrersAPI), registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)

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
	tag, err := name.NewTag(strings.TrimPrefix(server.URL, "http://") + "/function:v1")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.WriteIndex(tag, index); err != nil {
		t.Fatal(err)
	}
	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return tag.Context().Digest(digest.String()), digests
}

func TestAttach(t *testing.T) {
	cases := map[string]struct {
		reason       string
		referrersAPI bool
	}{
		"ReferrersAPI": {reason: "A registry that knows the referrers API lists the SBOM of each platform.", referrersAPI: true},
		"ReferrersTag": {reason: "In an older registry a tag lists them.", referrersAPI: false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			index, digests := pushed(t, tc.referrersAPI)
			documents := map[string][]byte{"amd64": []byte(`{"for":"amd64"}`), "arm64": []byte(`{"for":"arm64"}`)}
			// A release that failed half-way is pushed again.
			for range 2 {
				if err := Attach(index, documents); err != nil {
					t.Fatal(err)
				}
			}

			got := map[string][]byte{}
			for arch, digest := range digests {
				got[arch] = read(t, index.Context().Digest(digest.String()))
			}
			if diff := cmp.Diff(documents, got); diff != "" {
				t.Errorf("%s\nAttach(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAttachNeedsADocumentForEachPlatform(t *testing.T) {
	index, digests := pushed(t, true)
	err := Attach(index, map[string][]byte{"amd64": []byte(`{}`)})
	if err == nil {
		t.Fatal("Attach(...): want error, got none")
	}
	want := `cannot attach SBOM to ` + digests["arm64"].String() + ` of "` + index.String() + `": there is none for "arm64"`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("Attach(...): -want, +got:\n%s", diff)
	}
}

func read(t *testing.T, image name.Digest) []byte {
	t.Helper()
	document, err := Get(image)
	if err != nil {
		t.Fatal(err)
	}
	return document
}
