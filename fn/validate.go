package fn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/book"
	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
)

// The rules for a MarkdownView. The XRD has the same rules, most with the same messages, so
// that the API server rejects most errors. The function checks them again, because it
// also serves XRDs of other authors, and because CEL cannot express all of them.
const (
	summary     = "SUMMARY.md"
	maxFiles    = 1000
	maxBytes    = 1 << 20 // What a ConfigMap can hold.
	minReplicas = 1
	maxReplicas = 5

	messageEmpty   = `spec.markdowns is empty: add a file named "SUMMARY.md", which lists the chapters`
	messageSummary = `spec.markdowns must hold SUMMARY.md, which lists the chapters: add a file named "SUMMARY.md"`
	messageBinary  = `spec.binaries has a file named "SUMMARY.md": write it as text in spec.markdowns`
	messageControl = "has a control character that the API server would reject or change: remove it"
	messageSize    = `spec.markdowns holds more than 1 MiB (1048576 bytes) of text: shorten the files or split the book`
	messageSizes   = `spec.markdowns and spec.binaries together hold more than 1 MiB (1048576 bytes): shorten the files or split the book`
)

// validate returns every problem of the XR and of its Input.
func validate(req request) problems {
	v := req.view
	p := slices.Concat(req.problems, problemsOf(ReasonInvalidSpec, v.validate()))
	p = append(p, problemsOf(ReasonInvalidInput, v.validateInput(field.NewPath("input")))...)
	unusable := req.unusableSources()
	p = append(p, unusable...)
	if len(p) > 0 && len(unusable) == 0 && !v.waits() && v.input.Templates.ConfigMap == nil && len(v.Spec.validateFiles(field.NewPath("spec"))) == 0 {
		// If there are no other problems, compose finds those of the book, together with
		// those of a template.
		f := filesOf(v, &corev1.ConfigMap{})
		if f.generatesSummary() {
			f.setSummary(book.Summary(f.book()))
		}
		errs, _ := f.check()
		p = append(p, problemsOf(ReasonInvalidSpec, errs)...)
	}

	return p
}

// validate returns every error of the XR.
func (v view) validate() field.ErrorList {
	errs := v.validateMetadata()
	errs = append(errs, v.Spec.validate(field.NewPath("spec"))...)
	errs = append(errs, v.validateSources()...)
	errs = append(errs, v.validateHost()...)
	errs = append(errs, v.validateSecret()...)

	return append(errs, v.validateViewerImage()...)
}

func (v view) validateViewerImage() field.ErrorList {
	image, at, patterns := v.Spec.ViewerImage, field.NewPath("spec", "viewerImage"), v.allowedImages()
	if image == "" {
		return nil
	}
	if errs := validateImage(image, at); len(errs) > 0 {
		return errs
	}
	if patterns == nil || allowed(image, patterns) {
		return nil
	}

	return field.ErrorList{field.Forbidden(at, fmt.Sprintf("%q is not allowed here: %s", short(image), choice("an image", patterns)))}
}

func (v view) validateMetadata() field.ErrorList {
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

func (s spec) validate(at *field.Path) field.ErrorList {
	errs := s.validateFiles(at)
	errs = append(errs, validateEnum(s.Summary, at.Child("summary"), summaryRequired, summaryAuto)...)
	errs = append(errs, s.Book.validate(at.Child("book"))...)
	if s.Replicas != nil && (*s.Replicas < minReplicas || *s.Replicas > maxReplicas) {
		errs = append(errs, field.Invalid(at.Child("replicas"), *s.Replicas,
			fmt.Sprintf("must be from %d to %d", minReplicas, maxReplicas)))
	}

	return append(errs, validateResources(s.Resources, at.Child("resources"))...)
}

func validateImage(image string, at *field.Path) field.ErrorList {
	if _, err := reference.ParseNormalizedNamed(image); err != nil {
		return field.ErrorList{field.Invalid(at, short(image), "must be an image reference such as docker.io/peaceiris/mdbook:v0.5.0")}
	}

	return nil
}

// supportedResources are the resources that a pod can request.
var supportedResources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}

func validateResources(r v1beta1.Resources, at *field.Path) field.ErrorList {
	errs := validateResourceList(r.Requests, at.Child("requests"))
	errs = append(errs, validateResourceList(r.Limits, at.Child("limits"))...)

	return append(errs, validateLimits(r.Requests, r.Limits, at)...)
}

func validateLimits(requests, limits corev1.ResourceList, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for name, request := range requests {
		if limit, ok := limits[name]; ok && request.Cmp(limit) > 0 {
			errs = append(errs, field.Invalid(at.Child("requests").Key(string(name)), request.String(),
				fmt.Sprintf("must not be above the limit %s", limit.String())))
		}
	}

	return errs
}

func validateResourceList(l corev1.ResourceList, at *field.Path) field.ErrorList {
	if most := len(supportedResources); len(l) > most {
		return field.ErrorList{field.NotSupported(at, field.OmitValueType{}, supportedResources)}
	}
	var errs field.ErrorList
	for name, q := range l {
		if !slices.Contains(supportedResources, name) {
			errs = append(errs, field.NotSupported(at, name, supportedResources))
		}
		if q.Sign() < 0 {
			errs = append(errs, field.Invalid(at.Key(string(name)), q.String(), "must not be negative"))
		}
	}

	return errs
}

func (v view) validateInput(at *field.Path) field.ErrorList {
	in := v.input
	errs := validateEnum(in.APIVersion, at.Child("apiVersion"), "markdownview.fn.crossplane.io/v1beta1")
	errs = append(errs, validateEnum(in.Kind, at.Child("kind"), "Input")...)
	errs = append(errs, validateEnum(in.ListenAddress, at.Child("listenAddress"), listenIPv4, listenBoth)...)
	if in.ViewerImage != "" {
		errs = append(errs, validateImage(in.ViewerImage, at.Child("viewerImage"))...)
	}
	for i, p := range in.AllowedImages {
		errs = append(errs, validatePattern(p, at.Child("allowedImages").Index(i))...)
	}
	for i, p := range in.AllowedBookImages {
		errs = append(errs, validatePattern(p, at.Child("allowedBookImages").Index(i))...)
	}
	if in.Resources != nil {
		errs = append(errs, validateResources(*in.Resources, at.Child("resources"))...)
	}
	errs = append(errs, validateEnum(in.ImagePullPolicy, at.Child("imagePullPolicy"),
		corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)...)
	errs = append(errs, validateSecrets(in.ImagePullSecrets, at.Child("imagePullSecrets"))...)
	errs = append(errs, validateService(in, at.Child("service"))...)
	errs = append(errs, validateServer(in, at)...)
	errs = append(errs, validateBudget(in.PodDisruptionBudget, at)...)
	errs = append(errs, validatePublish(in, at)...)
	errs = append(errs, metav1validation.ValidateLabels(in.Labels, at.Child("labels"))...)
	for name := range (view{}).selector() {
		if _, ok := in.Labels[name]; ok {
			errs = append(errs, field.Forbidden(at.Child("labels").Key(name), "the selector uses this label: remove it"))
		}
	}
	errs = append(errs, validateAnnotations(in.Annotations, at.Child("annotations"))...)
	if in.Namespace != "" {
		for _, detail := range validation.IsDNS1123Label(in.Namespace) {
			errs = append(errs, field.Invalid(at.Child("namespace"), in.Namespace, detail))
		}
	}
	errs = append(errs, validateTemplates(in.Templates, at.Child("templates"))...)
	if v.namespace() == "" {
		errs = append(errs, field.Required(at.Child("namespace"), "the XR is cluster-scoped: name the namespace of its resources in the Input"))
	}
	if in.TTL != nil && in.TTL.Duration < 0 {
		errs = append(errs, field.Invalid(at.Child("ttl"), in.TTL.Duration.String(), "must not be negative"))
	}
	for i, s := range in.StatusFields {
		if !slices.Contains(statusFields, s) {
			errs = append(errs, field.NotSupported(at.Child("statusFields").Index(i), s, statusFields))
		}
	}

	return errs
}

func validateAnnotations(annotations map[string]string, at *field.Path) field.ErrorList {
	errs := apivalidation.ValidateAnnotations(annotations, at)
	for name, value := range annotations {
		if !plain(value) {
			errs = append(errs, field.Invalid(at.Key(short(name)), field.OmitValueType{}, messageControl))
		}
	}

	return errs
}

func validateSecrets(secrets []corev1.LocalObjectReference, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	known := map[string]bool{}
	for i, s := range secrets {
		for _, detail := range validation.IsDNS1123Subdomain(s.Name) {
			errs = append(errs, field.Invalid(at.Index(i).Child("name"), short(s.Name), detail))
		}
		// Server-side apply rejects a list with duplicate names.
		if known[s.Name] {
			errs = append(errs, field.Duplicate(at.Index(i).Child("name"), short(s.Name)))
		}
		known[s.Name] = true
	}

	return errs
}

func validateService(in v1beta1.Input, at *field.Path) field.ErrorList {
	errs := validateEnum(in.Service.Type, at.Child("type"),
		corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer)

	return append(errs, validateAllAnnotations(in.Annotations, in.Service.Annotations, at.Child("annotations"))...)
}

// validateAllAnnotations returns the errors of the annotations of one resource, by
// themselves and together with those of all resources.
func validateAllAnnotations(all, some map[string]string, at *field.Path) field.ErrorList {
	errs := validateAnnotations(some, at)
	if err := apivalidation.ValidateAnnotationsSize(union(all, some)); err != nil {
		errs = append(errs, field.Forbidden(at, "together with input.annotations the "+err.Error()))
	}

	return errs
}

// validatePattern returns an error for a pattern that does not begin with the full name
// of an image. Such a pattern matches nothing, or unintended registries.
func validatePattern(pattern string, at *field.Path) field.ErrorList {
	name, version := splitPattern(pattern)
	registry, _, _ := strings.Cut(name, "/")
	example := exampleOf(name)
	named, err := reference.ParseNormalizedNamed(example)
	switch {
	case err != nil || !patternVersion.MatchString(version):
		return field.ErrorList{field.Invalid(at, short(pattern), `must be an image reference in which "*" stands for any text without "/"`)}
	case named.Name() != example:
		return field.ErrorList{field.Invalid(at, short(pattern), "must be the full name of an image, with its registry: write "+short(inFull(name)+version))}
	case !patternRegistry.MatchString(registry):
		return field.ErrorList{field.Invalid(at, short(pattern),
			`can have "*" in its registry only in place of the whole registry, its first label or its port: write the registry as `+registriesLike(registry))}
	default:
		return nil
	}
}

func validateEnum[T ~string](value T, at *field.Path, supported ...T) field.ErrorList {
	if value == "" || slices.Contains(supported, value) {
		return nil
	}

	return field.ErrorList{field.NotSupported(at, value, supported)}
}
