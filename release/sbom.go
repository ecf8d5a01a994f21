package main

import (
	"fmt"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// sbomType is the media type of a CycloneDX document. It is also the artifact type by
// which tools find an SBOM among the referrers of an image.
const sbomType types.MediaType = "application/vnd.cyclonedx+json"

// attach pushes the document of each architecture as an artifact whose subject is the
// image of that architecture, as in the OCI distribution specification. Every image of
// the index must have a document.
func attach(index name.Reference, documents map[string][]byte, options ...remote.Option) error {
	idx, err := remote.Index(index, options...)
	if err != nil {
		return fmt.Errorf("cannot get %q: %w", index, err)
	}
	manifest, err := idx.IndexManifest()
	if err != nil {
		return fmt.Errorf("cannot read %q: %w", index, err)
	}
	for _, m := range manifest.Manifests {
		document, ok := documents[m.Platform.Architecture]
		if !ok {
			return fmt.Errorf("cannot attach SBOM to %s of %q: no SBOM for %q", m.Digest, index, m.Platform.Architecture)
		}
		artifact, err := refer(m, document)
		if err != nil {
			return fmt.Errorf("cannot build SBOM artifact: %w", err)
		}
		digest, err := artifact.Digest()
		if err != nil {
			return fmt.Errorf("cannot build SBOM artifact: %w", err)
		}
		if err := remote.Write(index.Context().Digest(digest.String()), artifact, options...); err != nil {
			return fmt.Errorf("cannot push SBOM of %q: %w", m.Platform.Architecture, err)
		}
	}

	return nil
}

// refer returns an artifact that holds a document and has a descriptor as its subject.
func refer(to v1.Descriptor, document []byte) (v1.Image, error) {
	img, err := mutate.Append(
		mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), sbomType),
		mutate.Addendum{Layer: static.NewLayer(document, sbomType)})
	if err != nil {
		return nil, err
	}
	subject := v1.Descriptor{MediaType: to.MediaType, Digest: to.Digest, Size: to.Size}

	return mutate.Subject(img, subject).(v1.Image), nil
}
