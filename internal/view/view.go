// Package view has a MarkdownView as Go values: the XR, the Composition's Input and the
// last status, and what follows from them, such as names, labels and the host.
package view

import (
	"cmp"

	"github.com/distribution/reference"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
)

// Qualified returns an image with its registry, so that it does not depend on the
// settings of a node.
func Qualified(image string) string {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return image
	}

	return named.String()
}

// StatusFields lists the status fields that the function writes.
var StatusFields = []v1beta1.StatusField{
	v1beta1.StatusFieldStatus,
	v1beta1.StatusFieldReplicas,
	v1beta1.StatusFieldReadyReplicas,
	v1beta1.StatusFieldSelector,
	v1beta1.StatusFieldObservedGeneration,
	v1beta1.StatusFieldURL,
}

// An XR has the fields of an observed XR that the function reads, for any group,
// version and kind.
type XR struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name       string `json:"name"`
		Namespace  string `json:"namespace"`
		Generation int64  `json:"generation"`
	} `json:"metadata"`
	Spec xrSpec `json:"spec"`
}

// A LastStatus has the fields of the status of an observed XR that the function reads.
// Earlier calls wrote them.
type LastStatus struct {
	Status struct {
		Status             *string            `json:"status"`
		Replicas           *int32             `json:"replicas"`
		ReadyReplicas      *int32             `json:"readyReplicas"`
		ObservedGeneration *int64             `json:"observedGeneration"`
		Conditions         []report.Condition `json:"conditions"`
	} `json:"status"`
}

// Condition returns the condition of a type, or an empty one.
func (l LastStatus) Condition(kind string) report.Condition {
	return report.ConditionOf(l.Status.Conditions, kind)
}

type xrSpec struct {
	Spec

	// ClaimRef is the claim of a legacy XR.
	ClaimRef struct {
		Namespace string `json:"namespace"`
	} `json:"claimRef"`
}

// A Spec is the spec of a MarkdownView. The XRD declares the same fields.
type Spec struct {
	// Markdowns maps the name of each text file of the book to its text.
	Markdowns map[string]string `json:"markdowns"`
	// Binaries maps the name of each other file to its content in base64.
	Binaries map[string]string `json:"binaries"`
	// MarkdownsFrom lists ConfigMaps with more files of the book, or the image or the
	// OCIRepository that holds the whole book.
	MarkdownsFrom []Source `json:"markdownsFrom"`
	// Summary is Required or Auto. Empty means Required.
	Summary string `json:"summary"`
	// Book has the settings of mdBook.
	Book Settings `json:"book"`
	// Replicas is the number of pods. If it is nil, the function does not set a number.
	Replicas *int32 `json:"replicas"`
	// ViewerImage is the mdBook image. Empty means the default of the Input.
	ViewerImage string `json:"viewerImage"`
	// Host is the public host name of the book. Empty means that of the Input.
	Host string `json:"host"`
	// Resources has the requests and limits of the mdBook container. They take
	// precedence over those of the Input.
	Resources v1beta1.Resources `json:"resources"`
}

// A View is a MarkdownView to compose: an XR, its Input, and the last status of the XR.
type View struct {
	XR
	Input v1beta1.Input
	Last  LastStatus
	// Declared lists the status fields that the schema of the XR declares. Nil means
	// all.
	Declared []v1beta1.StatusField
	// Sent holds the ConfigMaps of spec.markdownsFrom that Crossplane has sent, by
	// name. A ConfigMap that does not exist is nil.
	Sent map[string]*ConfigMap
	// Repositories holds the OCIRepositories of spec.markdownsFrom, likewise.
	Repositories map[string]*OCIRepository
}

// LogValues returns the keys and values that identify a view in a log.
func (v View) LogValues() []any {
	return []any{"kind", v.Kind, "namespace", v.Metadata.Namespace, "name", v.Metadata.Name}
}

// Namespace returns the namespace of the composed resources: that of the XR, of its
// claim, or for a cluster-scoped XR that of the Input. It is empty if none of them has
// one.
func (v View) Namespace() string {
	switch {
	case v.Metadata.Namespace != "":
		return v.Metadata.Namespace
	case v.Spec.ClaimRef.Namespace != "":
		return v.Spec.ClaimRef.Namespace
	default:
		return v.Input.Namespace
	}
}

// NamespacePath returns the field that has the namespace if the XR is cluster-scoped.
func (v View) NamespacePath() *field.Path {
	if v.Spec.ClaimRef.Namespace != "" {
		return field.NewPath("spec", "claimRef", "namespace")
	}

	return field.NewPath("input", "namespace")
}

// Image returns the mdBook image of the pods. That of the XR is the full reference that was
// compared with the patterns.
func (v View) Image() string {
	if v.Spec.ViewerImage != "" {
		return Qualified(v.Spec.ViewerImage)
	}

	return v.platformImage()
}

// platformImage returns the image of XRs that name none.
func (v View) platformImage() string { return cmp.Or(v.Input.ViewerImage, DefaultImage) }

// AllowedImages returns the patterns for the image of the XR. Without patterns in the Input,
// an XR can name another version of the image of the platform, but no other image, because
// pods pull it with the imagePullSecrets of the Input. The result is nil if the image of the
// Input is invalid.
func (v View) AllowedImages() []string {
	if v.Input.AllowedImages != nil {
		return v.Input.AllowedImages
	}
	named, err := reference.ParseNormalizedNamed(v.platformImage())
	if err != nil {
		return nil
	}

	return []string{named.Name()}
}
