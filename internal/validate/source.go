package validate

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/book/filename"
	"github.com/crossplane-contrib/function-markdownview/internal/imageref"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// A book can have content from elsewhere: files of ConfigMaps that other people or
// tools write, or the whole book from an image.
//
// Pods of mdBook mount these ConfigMaps by reference, so the response does not contain
// the content; the revision includes a hash of it. Pods of a web server read copies in
// our ConfigMap: see files.withCopies. Pods mount an image as it is: the function cannot
// read it. An OCIRepository of Flux names an image, whose digest Flux follows and verifies.

// maxSources keeps a request below the 16 MiB that the function accepts, even if
// every ConfigMap has 1 MiB of binaryData, which is larger as base64.
const maxSources = 8

// Messages about spec.markdownsFrom, which the XRD has too.
const (
	messageSource       = `set exactly one of configMap, image and ociRepository`
	messageImage        = `remove markdowns, binaries and the other entries, or the image: an image has the whole book`
	messageImagePath    = `remove path: an image has the whole book`
	messageImageSummary = `remove summary, and add SUMMARY.md to the image: the function cannot read an image`
)

// validateSources returns the errors of spec.markdownsFrom, without the files of the
// ConfigMaps.
func validateSources(v view.View) field.ErrorList {
	if len(v.Spec.MarkdownsFrom) == 0 {
		return nil
	}
	at := field.NewPath("spec", "markdownsFrom")
	if n := len(v.Spec.MarkdownsFrom); n > maxSources {
		return field.ErrorList{field.TooMany(at, n, maxSources)}
	}
	var errs field.ErrorList
	for i, from := range v.Spec.MarkdownsFrom {
		errs = append(errs, validateSource(v, from, at.Index(i))...)
	}
	if v.Spec.BookImage() != nil && (len(v.Spec.MarkdownsFrom) > 1 || len(v.Spec.Markdowns)+len(v.Spec.Binaries) > 0) {
		errs = append(errs, field.Forbidden(at, messageImage))
	}
	if v.Spec.BookImage() != nil && v.Spec.Summary == view.SummaryAuto {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "summary"), messageImageSummary))
	}

	return errs
}

func validateSource(v view.View, from view.Source, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case (from.ConfigMap == nil) == (from.BookImage() == nil), from.Image != nil && from.OCIRepository != nil:
		errs = field.ErrorList{field.Required(at, messageSource)}
	case from.Image != nil:
		errs = validateEnum(from.Image.PullPolicy, at.Child("image", "pullPolicy"), corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
		errs = append(errs, validateBookImage(v, *from.Image, "an image", at.Child("image", "reference"))...)
	case from.OCIRepository != nil:
		errs = validateRepository(v, *from.OCIRepository, at.Child("ociRepository", "name"))
	default:
		errs = validateConfigMapSource(from, at)
	}
	if from.BookImage() != nil && from.Path != "" {
		errs = append(errs, field.Forbidden(at.Child("path"), messageImagePath))
	}

	return errs
}

func validateConfigMapSource(from view.Source, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, detail := range validation.IsDNS1123Subdomain(from.ConfigMap.Name) {
		errs = append(errs, field.Invalid(at.Child("configMap", "name"), report.Short(from.ConfigMap.Name), detail))
	}
	if err := filename.Validate(from.Path); from.Path != "" && err != nil {
		errs = append(errs, field.Invalid(at.Child("path"), report.Short(from.Path), err.Error()))
	}

	return errs
}

// validateRepository returns the errors of an OCIRepository, and of its image if it has one.
func validateRepository(v view.View, from view.RepositorySource, at *field.Path) field.ErrorList {
	errs := validateName(from.Name, true, at)
	if len(errs) > 0 || from.Image.Reference == "" {
		return errs
	}

	return validateBookImage(v, from.Image, "an OCIRepository with a URL", at)
}

// validateBookImage returns the errors of an image with a book, which what describes. The Input must allow
// it, because pods pull it with the imagePullSecrets of the Input.
func validateBookImage(v view.View, image view.ImageSource, what string, at *field.Path) field.ErrorList {
	if errs := imageref.Validate(image.Reference, at); len(errs) > 0 {
		return errs
	}
	if imageref.Allowed(image.Reference, v.Input.AllowedBookImages) {
		return nil
	}
	how := report.Choice(what, v.Input.AllowedBookImages)
	if len(v.Input.AllowedBookImages) == 0 {
		how = "use markdowns or ConfigMaps: the Input's allowedBookImages allows no image"
	}

	return field.ErrorList{field.Forbidden(at, how)}
}

// unusableSources returns a problem for each source that cannot be used, and one if
// the book has too many files. The files are then not checked.
func unusableSources(req request.Request) report.Problems {
	v := req.View
	if len(request.Required(v)) > 0 && !req.Capable(request.CapabilityResources) {
		return report.ProblemsOf(report.ReasonInvalidSpec, field.ErrorList{field.Forbidden(field.NewPath("spec", "markdownsFrom"),
			"upgrade Crossplane to v2.2 or later: this version does not send resources to functions")})
	}
	var p report.Problems
	for i, from := range v.Spec.MarkdownsFrom {
		if r := from.OCIRepository; r != nil && r.Image.Reference == "" && r.Problem != "" {
			p = append(p, report.Problem{Reason: report.ReasonOCIRepositoryNotReady, Error: field.Invalid(view.SourcePath(i).Child("ociRepository", "name"), report.Short(r.Name), r.Problem)})
		}
		if from.ConfigMap == nil {
			continue
		}
		if cm, sent := v.Sent[from.ConfigMap.Name]; sent && cm == nil {
			err := field.NotFound(view.SourcePath(i).Child("configMap", "name"), report.Short(from.ConfigMap.Name))
			err.Detail = fmt.Sprintf("create this ConfigMap in namespace %s, or remove it from the list", v.Namespace())
			p = append(p, report.Problem{Reason: report.ReasonConfigMapNotFound, Error: err})
		}
	}
	n := len(v.Spec.Markdowns) + len(v.Spec.Binaries)
	for _, s := range v.Shared() {
		n += len(s.Data) + len(s.BinaryData)
	}
	if len(request.Required(v)) > 0 && n > view.MaxFiles {
		p = append(p, report.Problem{Reason: report.ReasonInvalidSpec, Error: field.Forbidden(field.NewPath("spec", "markdownsFrom"),
			fmt.Sprintf("the book has %d files, and a book has at most %d: split the book", n, view.MaxFiles))})
	}

	return p
}
