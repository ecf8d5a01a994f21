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
// the package must have a document.
func attach(pkg name.Reference, documents map[string][]byte, options ...remote.Option) error {
	images, err := imagesOf(pkg, options...)
	if err != nil {
		return fmt.Errorf("cannot get %q: %w", pkg, err)
	}
	for arch, image := range images {
		document, ok := documents[arch]
		if !ok {
			return fmt.Errorf("cannot attach SBOM to %s of %q: no SBOM for %q", image.Digest, pkg, arch)
		}
		artifact, err := refer(image, document)
		if err != nil {
			return fmt.Errorf("cannot build SBOM artifact: %w", err)
		}
		digest, err := artifact.Digest()
		if err != nil {
			return fmt.Errorf("cannot build SBOM artifact: %w", err)
		}
		if err := remote.Write(pkg.Context().Digest(digest.String()), artifact, options...); err != nil {
			return fmt.Errorf("cannot push SBOM of %q: %w", arch, err)
		}
	}

	return nil
}

// imagesOf returns the images of a package by architecture. A package for one
// architecture is an image, any other is an index.
func imagesOf(pkg name.Reference, options ...remote.Option) (map[string]v1.Descriptor, error) {
	pushed, err := remote.Get(pkg, options...)
	if err != nil {
		return nil, err
	}
	if !pushed.MediaType.IsIndex() {
		image, err := pushed.Image()
		if err != nil {
			return nil, err
		}
		config, err := image.ConfigFile()
		if err != nil {
			return nil, err
		}

		return map[string]v1.Descriptor{config.Architecture: pushed.Descriptor}, nil
	}

	index, err := pushed.ImageIndex()
	if err != nil {
		return nil, err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	images := map[string]v1.Descriptor{}
	for _, m := range manifest.Manifests {
		images[m.Platform.Architecture] = m
	}

	return images, nil
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
