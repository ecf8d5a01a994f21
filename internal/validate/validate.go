// Package validate has the rules for a MarkdownView, its Input, and the templates in the
// Input. It finds all errors at once, with the path of each field.
package validate

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/book"
	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/files"
	"github.com/crossplane-contrib/function-markdownview/internal/imageref"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

const (
	minReplicas = 1
	maxReplicas = 5
)

// Request returns every problem of the XR and of its Input.
func Request(req request.Request) report.Problems {
	v := req.View
	p := slices.Concat(req.Problems, report.ProblemsOf(report.ReasonInvalidSpec, validateXR(v)))
	p = append(p, report.ProblemsOf(report.ReasonInvalidInput, validateInput(v, field.NewPath("input")))...)
	unusable := unusableSources(req)
	p = append(p, unusable...)
	if len(p) > 0 && len(unusable) == 0 && !request.Waits(v) && v.Input.Templates.ConfigMap == nil && len(files.Validate(v.Spec.Spec, field.NewPath("spec"))) == 0 {
		// If there are no other problems, compose finds those of the book, together with
		// those of a template.
		f := files.Of(v, &corev1.ConfigMap{})
		if f.GeneratesSummary() {
			f.SetSummary(book.Summary(f.Book()))
		}
		errs, _ := f.Check()
		p = append(p, report.ProblemsOf(report.ReasonInvalidSpec, errs)...)
	}

	return p
}

// validateXR returns every error of the XR.
func validateXR(v view.View) field.ErrorList {
	errs := validateMetadata(v)
	errs = append(errs, validateSpec(v.Spec.Spec, field.NewPath("spec"))...)
	errs = append(errs, validateSources(v)...)
	errs = append(errs, validateHost(v)...)
	errs = append(errs, validateSecret(v)...)

	return append(errs, validateViewerImage(v)...)
}

func validateViewerImage(v view.View) field.ErrorList {
	image, at := v.Spec.ViewerImage, field.NewPath("spec", "viewerImage")
	if image == "" {
		return nil
	}
	if errs := imageref.Validate(image, at); len(errs) > 0 {
		return errs
	}
	patterns := v.AllowedImages()
	if patterns == nil || imageref.Allowed(image, patterns) {
		return nil
	}

	return field.ErrorList{field.Forbidden(at, report.Choice("an image", patterns))}
}

func validateMetadata(v view.View) field.ErrorList {
	var errs field.ErrorList
	if v.Metadata.Name == "" {
		errs = append(errs, field.Required(field.NewPath("metadata", "name"), "an XR must have a name"))
	}
	for _, detail := range validation.IsDNS1123Subdomain(v.Metadata.Name) {
		if v.Metadata.Name != "" {
			errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), v.Metadata.Name, detail))
		}
	}

	return errs
}

func validateSpec(s view.Spec, at *field.Path) field.ErrorList {
	errs := files.Validate(s, at)
	errs = append(errs, validateEnum(s.Summary, at.Child("summary"), view.SummaryRequired, view.SummaryAuto)...)
	errs = append(errs, validateSettings(s.Book, at.Child("book"))...)
	if s.Replicas != nil && (*s.Replicas < minReplicas || *s.Replicas > maxReplicas) {
		errs = append(errs, field.Invalid(at.Child("replicas"), *s.Replicas,
			fmt.Sprintf("must be from %d to %d", minReplicas, maxReplicas)))
	}

	return append(errs, validateResources(s.Resources, at.Child("resources"))...)
}

func validateInput(v view.View, at *field.Path) field.ErrorList {
	in := v.Input
	errs := validateEnum(in.APIVersion, at.Child("apiVersion"), "markdownview.fn.crossplane.io/v1beta1")
	errs = append(errs, validateEnum(in.Kind, at.Child("kind"), "Input")...)
	errs = append(errs, validateEnum(in.ListenAddress, at.Child("listenAddress"), view.ListenIPv4, view.ListenBoth)...)
	if in.ViewerImage != "" {
		errs = append(errs, imageref.Validate(in.ViewerImage, at.Child("viewerImage"))...)
	}
	for i, p := range in.AllowedImages {
		errs = append(errs, imageref.ValidatePattern(p, at.Child("allowedImages").Index(i))...)
	}
	for i, p := range in.AllowedBookImages {
		errs = append(errs, imageref.ValidatePattern(p, at.Child("allowedBookImages").Index(i))...)
	}
	if in.Resources != nil {
		errs = append(errs, validateResources(*in.Resources, at.Child("resources"))...)
	}
	errs = append(errs, validateEnum(in.ImagePullPolicy, at.Child("imagePullPolicy"),
		corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)...)
	errs = append(errs, validateSecrets(in.ImagePullSecrets, at.Child("imagePullSecrets"))...)
	errs = append(errs, validateService(in, at.Child("service"))...)
	errs = append(errs, validateServer(in, at)...)
	errs = append(errs, validateTheme(in.Theme, at.Child("theme"))...)
	errs = append(errs, validateBudget(in.PodDisruptionBudget, at)...)
	errs = append(errs, validatePublish(in, at)...)
	errs = append(errs, validatePath(v, at)...)
	errs = append(errs, metav1validation.ValidateLabels(in.Labels, at.Child("labels"))...)
	for name := range (view.View{}).Selector() {
		if _, ok := in.Labels[name]; ok {
			errs = append(errs, field.Forbidden(at.Child("labels").Key(name), "remove it: the selector uses this label"))
		}
	}
	errs = append(errs, validateAnnotations(in.Annotations, at.Child("annotations"))...)
	if in.Namespace != "" {
		for _, detail := range validation.IsDNS1123Label(in.Namespace) {
			errs = append(errs, field.Invalid(at.Child("namespace"), in.Namespace, detail))
		}
	}
	errs = append(errs, validateTemplates(in, at.Child("templates"))...)
	if v.Namespace() == "" {
		errs = append(errs, field.Required(at.Child("namespace"), "set the namespace of the composed resources: the XR is cluster-scoped"))
	}
	if in.TTL != nil && in.TTL.Duration < 0 {
		errs = append(errs, field.Invalid(at.Child("ttl"), in.TTL.Duration.String(), "must not be negative"))
	}
	for i, s := range in.StatusFields {
		if !slices.Contains(view.StatusFields, s) {
			errs = append(errs, field.NotSupported(at.Child("statusFields").Index(i), s, view.StatusFields))
		}
	}

	return errs
}

func validateService(in v1beta1.Input, at *field.Path) field.ErrorList {
	errs := validateEnum(in.Service.Type, at.Child("type"),
		corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer)

	return append(errs, validateAllAnnotations(in.Annotations, in.Service.Annotations, at.Child("annotations"))...)
}
