package view

import (
	"fmt"
	"strings"

	"github.com/distribution/reference"

	"github.com/crossplane-contrib/function-markdownview/internal/report"
)

// A RepositorySource is an OCIRepository of Flux, whose image holds a whole book.
type RepositorySource struct {
	Name string `json:"name"`

	// Image is the image that the pods mount. Its reference is empty if there is none yet.
	Image ImageSource `json:"-"`
	// Problem is why the image is not the one that the OCIRepository names now. It is empty
	// if there is nothing to fix, or if Flux has not finished, which is Pending.
	Problem string `json:"-"`
	Pending bool   `json:"-"`
}

// An OCIRepository is an OCIRepository of Flux:
// https://github.com/fluxcd/source-controller/blob/v1.9.3/docs/spec/v1/ocirepositories.md
type OCIRepository struct {
	Metadata struct {
		Generation int64 `json:"generation"`
	} `json:"metadata"`
	Spec struct {
		URL     string `json:"url"`
		Suspend bool   `json:"suspend"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration int64 `json:"observedGeneration"`
		Artifact           struct {
			Revision string `json:"revision"`
		} `json:"artifact"`
		Conditions []report.Condition `json:"conditions"`
	} `json:"status"`
}

// Repository returns the OCIRepository that the book follows, or nil.
func (s Spec) Repository() *RepositorySource {
	for _, from := range s.MarkdownsFrom {
		if from.OCIRepository != nil {
			return from.OCIRepository
		}
	}

	return nil
}

// Follow sets the image. Flux keeps the last artifact that it has verified, so a push that
// it rejects changes nothing. mounted is the image that the pods have now, or empty: they
// keep it while the OCIRepository does not exist, or while its artifact can be that of an
// earlier URL. r is nil if the OCIRepository does not exist.
func (s *RepositorySource) Follow(r *OCIRepository, mounted, namespace string) {
	s.Image.Reference = mounted
	is := "OCIRepository " + report.Short(s.Name) + " of namespace " + namespace
	if r == nil {
		s.Problem = is + " does not exist: create it, or name another one"

		return
	}
	// A revision is TAG@DIGEST or DIGEST. The digest of an artifact is that of a file.
	digest := r.Status.Artifact.Revision[strings.LastIndex(r.Status.Artifact.Revision, "@")+1:]
	current := digest != "" && r.Status.ObservedGeneration == r.Metadata.Generation
	if current {
		s.Image.Reference = strings.TrimPrefix(r.Spec.URL, "oci://") + "@" + digest
	}
	ready := report.ConditionOf(r.Status.Conditions, "Ready")
	s.Pending = ready.Status == report.Unknown
	switch {
	case ready.Status == report.False:
		s.Problem = fmt.Sprintf("%s is not ready: %s", is, report.Line(ready.Message))
	case current || s.Pending && mounted != "" || digest != "" && strings.HasSuffix(mounted, "@"+digest):
	case r.Spec.Suspend:
		s.Problem = is + " is suspended: resume it"
	default:
		s.Problem = is + " waits for Flux, which has not fetched its image yet"
	}
}

// Pinned returns whether an image reference has a digest.
func Pinned(image string) bool {
	named, err := reference.ParseNormalizedNamed(image)
	_, canonical := named.(reference.Canonical)

	return err == nil && canonical
}
