package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/internal/report"
)

const (
	// TextImage stands for the resource key of a ConfigMap if an image holds the book.
	TextImage = "image"
	// VolumeName is the name of the volume with the book.
	VolumeName = "markdowns"
)

// A Source is where files of a book come from: a ConfigMap, an image, or the image of an
// OCIRepository.
type Source struct {
	ConfigMap *configMapSource `json:"configMap"`
	// Path is the folder of the book for the files of the ConfigMap. Empty means the
	// folder of SUMMARY.md.
	Path          string            `json:"path"`
	Image         *ImageSource      `json:"image"`
	OCIRepository *RepositorySource `json:"ociRepository"`
}

type configMapSource struct {
	Name string `json:"name"`
}

// An ImageSource is an image that holds a whole book.
type ImageSource struct {
	Reference  string            `json:"reference"`
	PullPolicy corev1.PullPolicy `json:"pullPolicy"`
}

// SourcePath returns the field path of a source.
func SourcePath(i int) *field.Path { return field.NewPath("spec", "markdownsFrom").Index(i) }

// BookImage returns the image that holds the book, or nil.
func (s Spec) BookImage() *ImageSource {
	for _, from := range s.MarkdownsFrom {
		if image := from.BookImage(); image != nil {
			return image
		}
	}

	return nil
}

// BookImage returns the image of a source, or nil.
func (s Source) BookImage() *ImageSource {
	if s.OCIRepository != nil && s.Image == nil {
		return &s.OCIRepository.Image
	}

	return s.Image
}

// SharedFiles holds the files of a ConfigMap of spec.markdownsFrom.
type SharedFiles struct {
	*ConfigMap

	Name, Path string
	At         *field.Path
}

// Shared returns the ConfigMaps of spec.markdownsFrom that exist.
func (v View) Shared() []SharedFiles {
	var all []SharedFiles
	for i, from := range v.Spec.MarkdownsFrom {
		if from.ConfigMap == nil || v.Sent[from.ConfigMap.Name] == nil {
			continue
		}
		all = append(all, SharedFiles{v.Sent[from.ConfigMap.Name], from.ConfigMap.Name, from.Path, SourcePath(i)})
	}

	return all
}

// File returns the name in the book of the file with a key.
func (r SharedFiles) File(key string) string {
	if r.Path == "" {
		return key
	}

	return r.Path + "/" + key
}

// Keys returns the keys of the files, sorted.
func (r SharedFiles) Keys() []string {
	return slices.Sorted(maps.Keys(Union(r.Data, r.BinaryData)))
}

// The types have only the fields of observed resources that the function reads. Other
// fields are not decoded.

// An Identity is the name and namespace of a resource, when it was created, and whether
// it is being deleted.
type Identity struct {
	Name              string `json:"name"`
	Namespace         string `json:"namespace"`
	CreationTimestamp string `json:"creationTimestamp"`
	DeletionTimestamp string `json:"deletionTimestamp"`
}

// A ConfigMap has the files of an observed ConfigMap, by key.
type ConfigMap struct {
	Metadata   Identity          `json:"metadata"`
	Data       map[string]string `json:"data"`
	BinaryData map[string]string `json:"binaryData"`
}

// Holds returns whether all has every entry of some.
func Holds(all, some map[string]string) bool {
	for name, want := range some {
		if got, ok := all[name]; !ok || got != want {
			return false
		}
	}

	return true
}

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
	repository := "OCIRepository " + report.Short(s.Name) + " in namespace " + namespace
	if r == nil {
		s.Problem = "create " + repository + ", or name another one: it does not exist"

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
		s.Problem = fmt.Sprintf("%s is not ready: %s", repository, report.Line(ready.Message))
	case current || s.Pending && mounted != "" || digest != "" && strings.HasSuffix(mounted, "@"+digest):
	case r.Spec.Suspend:
		s.Problem = "resume " + repository + ": it is suspended"
	default:
		s.Problem = repository + " waits for Flux, which has not fetched its image yet"
	}
}

// Pinned returns whether an image reference has a digest.
func Pinned(image string) bool {
	named, err := reference.ParseNormalizedNamed(image)
	_, canonical := named.(reference.Canonical)

	return err == nil && canonical
}
