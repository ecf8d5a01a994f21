package fn

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
)

// What a MarkdownView may ask for. The XRD holds the same rules with the same
// messages, so that most faults are refused at admission; they are held again
// here because the function serves XRDs of other authors too, and because some
// cannot be told in CEL.
const (
	summary     = "SUMMARY.md"
	maxFiles    = 1000
	maxBytes    = 1 << 20
	maxReplicas = 5
)

// validate returns every fault of the XR and of its Input.
func (v view) validate() field.ErrorList {
	faults := v.validateMetadata()
	faults = append(faults, v.Spec.validate(field.NewPath("spec"))...)
	faults = append(faults, validateInput(v.input, field.NewPath("input"))...)

	if v.Spec.ViewerImage != "" && v.input.AllowedImages != nil && !allowed(v.Spec.ViewerImage, v.input.AllowedImages) {
		faults = append(faults, field.NotSupported(field.NewPath("spec", "viewerImage"), v.Spec.ViewerImage, v.input.AllowedImages))
	}

	return faults
}

func (v view) validateMetadata() field.ErrorList {
	var faults field.ErrorList
	if v.Metadata.Name == "" {
		faults = append(faults, field.Required(field.NewPath("metadata", "name"), "an XR must have a name"))
	}
	for _, detail := range validation.IsDNS1123Subdomain(v.Metadata.Name) {
		if v.Metadata.Name != "" {
			faults = append(faults, field.Invalid(field.NewPath("metadata", "name"), v.Metadata.Name, detail))
		}
	}
	if v.namespace() == "" {
		faults = append(faults, field.Required(field.NewPath("input", "namespace"),
			"the XR is cluster-scoped: name the namespace of its resources in the Input"))
	}

	return faults
}

func (s spec) validate(at *field.Path) field.ErrorList {
	faults := validateMarkdowns(s.Markdowns, at.Child("markdowns"))
	if s.Replicas != nil && (*s.Replicas < 1 || *s.Replicas > maxReplicas) {
		faults = append(faults, field.Invalid(at.Child("replicas"), *s.Replicas, "must be from 1 to 5"))
	}
	if s.ViewerImage != "" {
		faults = append(faults, validateImage(s.ViewerImage, at.Child("viewerImage"))...)
	}

	return append(faults, validateResources(s.Resources, at.Child("resources"))...)
}

func validateMarkdowns(files map[string]string, at *field.Path) field.ErrorList {
	var faults field.ErrorList
	if len(files) == 0 {
		return field.ErrorList{field.Required(at, "must hold at least one file: add SUMMARY.md and the chapters that it lists")}
	}
	if _, ok := files[summary]; !ok {
		faults = append(faults, field.Required(at.Key(summary), "must hold SUMMARY.md, which lists the chapters of the book: add it"))
	}
	if len(files) > maxFiles {
		faults = append(faults, field.TooMany(at, len(files), maxFiles))
	}

	size := 0
	for name, text := range files {
		size += len(text)
		for _, detail := range validation.IsConfigMapKey(name) {
			faults = append(faults, field.Invalid(at.Key(name), name, detail))
		}
	}
	if _, ok := files["print.md"]; ok {
		faults = append(faults, field.Forbidden(at.Key("print.md"), "mdBook keeps this name for itself: rename the file"))
	}
	if size > maxBytes {
		faults = append(faults, field.TooLong(at, size, maxBytes))
	}

	return faults
}

func validateImage(image string, at *field.Path) field.ErrorList {
	if _, err := reference.ParseNormalizedNamed(image); err != nil {
		return field.ErrorList{field.Invalid(at, image, "must be an image reference such as docker.io/peaceiris/mdbook:v0.5.0")}
	}

	return nil
}

// supportedResources are what a viewer can ask for.
var supportedResources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}

func validateResources(r v1beta1.Resources, at *field.Path) field.ErrorList {
	faults := validateResourceList(r.Requests, at.Child("requests"))
	faults = append(faults, validateResourceList(r.Limits, at.Child("limits"))...)
	for name, request := range r.Requests {
		if limit, ok := r.Limits[name]; ok && request.Cmp(limit) > 0 {
			faults = append(faults, field.Invalid(at.Child("requests").Key(string(name)), request.String(),
				fmt.Sprintf("must not be above the limit %s", limit.String())))
		}
	}

	return faults
}

func validateResourceList(l corev1.ResourceList, at *field.Path) field.ErrorList {
	var faults field.ErrorList
	for name, q := range l {
		if !slices.Contains(supportedResources, name) {
			faults = append(faults, field.NotSupported(at, name, supportedResources))
		}
		if q.Sign() < 0 {
			faults = append(faults, field.Invalid(at.Key(string(name)), q.String(), "must not be negative"))
		}
	}

	return faults
}

func validateInput(in v1beta1.Input, at *field.Path) field.ErrorList {
	var faults field.ErrorList
	if in.ViewerImage != "" {
		faults = append(faults, validateImage(in.ViewerImage, at.Child("viewerImage"))...)
	}
	for i, p := range in.AllowedImages {
		faults = append(faults, validatePattern(p, at.Child("allowedImages").Index(i))...)
	}
	if in.Resources != nil {
		faults = append(faults, validateResources(*in.Resources, at.Child("resources"))...)
	}
	faults = append(faults, validateEnum(in.ImagePullPolicy, at.Child("imagePullPolicy"),
		corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)...)
	for i, s := range in.ImagePullSecrets {
		for _, detail := range validation.IsDNS1123Subdomain(s.Name) {
			faults = append(faults, field.Invalid(at.Child("imagePullSecrets").Index(i).Child("name"), s.Name, detail))
		}
	}
	faults = append(faults, validateEnum(in.Service.Type, at.Child("service", "type"),
		corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer)...)
	faults = append(faults, apivalidation.ValidateAnnotations(in.Service.Annotations, at.Child("service", "annotations"))...)
	faults = append(faults, metav1validation.ValidateLabels(in.Labels, at.Child("labels"))...)
	for name := range (view{}).selector() {
		if _, ok := in.Labels[name]; ok {
			faults = append(faults, field.Forbidden(at.Child("labels").Key(name), "the selector uses this label: remove it"))
		}
	}
	faults = append(faults, apivalidation.ValidateAnnotations(in.Annotations, at.Child("annotations"))...)
	if in.Namespace != "" {
		for _, detail := range validation.IsDNS1123Label(in.Namespace) {
			faults = append(faults, field.Invalid(at.Child("namespace"), in.Namespace, detail))
		}
	}
	if in.TTL != nil && in.TTL.Duration < 0 {
		faults = append(faults, field.Invalid(at.Child("ttl"), in.TTL.Duration.String(), "must not be negative"))
	}
	for i, s := range in.StatusFields {
		faults = append(faults, validateEnum(s, at.Child("statusFields").Index(i), statusFields...)...)
	}

	return faults
}

func validatePattern(pattern string, at *field.Path) field.ErrorList {
	if _, err := path.Match(pattern, ""); err != nil || !patternChars.MatchString(pattern) {
		return field.ErrorList{field.Invalid(at, pattern, `must be an image reference in which "*" stands for any text without "/"`)}
	}
	if !qualified(pattern) {
		return field.ErrorList{field.Invalid(at, pattern, "must start with a registry: write docker.io/"+strings.TrimPrefix(pattern, "/"))}
	}

	return nil
}

func validateEnum[T ~string](value T, at *field.Path, supported ...T) field.ErrorList {
	if value == "" || slices.Contains(supported, value) {
		return nil
	}

	return field.ErrorList{field.NotSupported(at, value, supported)}
}

// explain returns all faults in one line, in the order of their fields.
func explain(faults field.ErrorList) string {
	// A message of any length would not fit into an event or be read.
	const most = 20

	lines := make([]string, 0, len(faults))
	for _, f := range faults {
		lines = append(lines, f.Error())
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], fmt.Sprintf("and %d more", more))
	}

	return strings.Join(lines, "; ")
}
