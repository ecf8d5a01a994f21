package fn

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

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
	reserved    = "print.md"
	maxFiles    = 1000
	maxBytes    = 1 << 20 // What a ConfigMap can hold.
	minReplicas = 1
	maxReplicas = 5

	messageEmpty    = `spec.markdowns is empty: add a file named "SUMMARY.md", which lists the chapters`
	messageSummary  = `spec.markdowns must hold SUMMARY.md, which lists the chapters: add a file named "SUMMARY.md"`
	messageReserved = `spec.markdowns has a file named "print.md", which mdBook keeps for its own use: rename the file`
	messageControl  = "has a control character that the API server would refuse or alter: remove it"
	messageSize     = `spec.markdowns holds more than 1 MiB (1048576 bytes) of text: shorten the files or split the book`
)

// validate returns every fault of the XR and of its Input.
func (v view) validate() field.ErrorList {
	faults := v.validateMetadata()
	faults = append(faults, v.Spec.validate(field.NewPath("spec"))...)
	faults = append(faults, validateInput(v.input, field.NewPath("input"))...)

	if v.Spec.ViewerImage != "" && v.input.AllowedImages != nil && !allowed(v.Spec.ViewerImage, v.input.AllowedImages) {
		faults = append(faults, field.Forbidden(field.NewPath("spec", "viewerImage"),
			fmt.Sprintf("%q is not allowed here: name an image that matches %s", short(v.Spec.ViewerImage), choice(v.input.AllowedImages))))
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
	if s.Replicas != nil && (*s.Replicas < minReplicas || *s.Replicas > maxReplicas) {
		faults = append(faults, field.Invalid(at.Child("replicas"), *s.Replicas,
			fmt.Sprintf("must be from %d to %d", minReplicas, maxReplicas)))
	}
	if s.ViewerImage != "" {
		faults = append(faults, validateImage(s.ViewerImage, at.Child("viewerImage"))...)
	}

	return append(faults, validateResources(s.Resources, at.Child("resources"))...)
}

func validateMarkdowns(files map[string]string, at *field.Path) field.ErrorList {
	if len(files) == 0 {
		return field.ErrorList{field.Required(at, messageEmpty)}
	}

	var faults field.ErrorList
	if _, ok := files[summary]; !ok {
		faults = append(faults, field.Required(at, messageSummary))
	}
	if len(files) > maxFiles {
		faults = append(faults, field.TooMany(at, len(files), maxFiles))
	}
	if _, ok := files[reserved]; ok {
		faults = append(faults, field.Forbidden(at, messageReserved))
	}

	size := 0
	for name, text := range files {
		size += len(text)
		for _, detail := range validation.IsConfigMapKey(name) {
			faults = append(faults, field.Invalid(at.Key(short(name)), field.OmitValueType{}, "is no file name: "+detail))
		}
	}
	if size > maxBytes {
		faults = append(faults, field.Forbidden(at, messageSize))
	}

	return faults
}

func validateImage(image string, at *field.Path) field.ErrorList {
	if _, err := reference.ParseNormalizedNamed(image); err != nil {
		return field.ErrorList{field.Invalid(at, short(image), "must be an image reference such as docker.io/peaceiris/mdbook:v0.5.0")}
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
	faults := validateEnum(in.APIVersion, at.Child("apiVersion"), "markdownview.fn.crossplane.io/v1beta1")
	faults = append(faults, validateEnum(in.Kind, at.Child("kind"), "Input")...)
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
	faults = append(faults, validateSecrets(in.ImagePullSecrets, at.Child("imagePullSecrets"))...)
	faults = append(faults, validateService(in, at.Child("service"))...)
	faults = append(faults, metav1validation.ValidateLabels(in.Labels, at.Child("labels"))...)
	for name := range (view{}).selector() {
		if _, ok := in.Labels[name]; ok {
			faults = append(faults, field.Forbidden(at.Child("labels").Key(name), "the selector uses this label: remove it"))
		}
	}
	faults = append(faults, validateAnnotations(in.Annotations, at.Child("annotations"))...)
	if in.Namespace != "" {
		for _, detail := range validation.IsDNS1123Label(in.Namespace) {
			faults = append(faults, field.Invalid(at.Child("namespace"), in.Namespace, detail))
		}
	}
	if in.TTL != nil && in.TTL.Duration < 0 {
		faults = append(faults, field.Invalid(at.Child("ttl"), in.TTL.Duration.String(), "must not be negative"))
	}
	for i, s := range in.StatusFields {
		if !slices.Contains(statusFields, s) {
			faults = append(faults, field.NotSupported(at.Child("statusFields").Index(i), s, statusFields))
		}
	}

	return faults
}

func validateAnnotations(annotations map[string]string, at *field.Path) field.ErrorList {
	faults := apivalidation.ValidateAnnotations(annotations, at)
	for name, value := range annotations {
		if !plain(value) {
			faults = append(faults, field.Invalid(at.Key(short(name)), field.OmitValueType{}, messageControl))
		}
	}

	return faults
}

func validateSecrets(secrets []corev1.LocalObjectReference, at *field.Path) field.ErrorList {
	var faults field.ErrorList
	known := map[string]bool{}
	for i, s := range secrets {
		for _, detail := range validation.IsDNS1123Subdomain(s.Name) {
			faults = append(faults, field.Invalid(at.Index(i).Child("name"), short(s.Name), detail))
		}
		// Server-side apply takes a name once.
		if known[s.Name] {
			faults = append(faults, field.Duplicate(at.Index(i).Child("name"), short(s.Name)))
		}
		known[s.Name] = true
	}

	return faults
}

func validateService(in v1beta1.Input, at *field.Path) field.ErrorList {
	faults := validateEnum(in.Service.Type, at.Child("type"),
		corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer)
	faults = append(faults, validateAnnotations(in.Service.Annotations, at.Child("annotations"))...)

	all := map[string]string{}
	maps.Copy(all, in.Annotations)
	maps.Copy(all, in.Service.Annotations)
	if err := apivalidation.ValidateAnnotationsSize(all); err != nil {
		faults = append(faults, field.Forbidden(at.Child("annotations"), "together with input.annotations the "+err.Error()))
	}

	return faults
}

// validatePattern returns a fault for a pattern that is not plainly the full name of
// an image. One that begins in another way either matches nothing, or registries
// that nobody thought of.
func validatePattern(pattern string, at *field.Path) field.ErrorList {
	name, version := splitPattern(pattern)
	registry, _, _ := strings.Cut(name, "/")
	example := exampleOf(name)
	named, err := reference.ParseNormalizedNamed(example)
	switch {
	case err != nil || !patternVersion.MatchString(version):
		return field.ErrorList{field.Invalid(at, short(pattern), `must be an image reference in which "*" stands for any text without "/"`)}
	case named.Name() != example:
		return field.ErrorList{field.Invalid(at, short(pattern), "must be the full name of an image, from its registry on: write "+short(inFull(name)+version))}
	case !patternRegistry.MatchString(registry):
		return field.ErrorList{field.Invalid(at, short(pattern),
			`may have "*" in its registry only for all of it, for its first label or for its port: write the registry as `+registriesLike(registry))}
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

// explain returns all faults in one line, in the order of their fields.
func explain(faults field.ErrorList) string {
	// A message of any length would not fit into an event or be read.
	const most = 20

	lines := make([]string, 0, len(faults))
	for _, f := range faults {
		lines = append(lines, line(f.Error()))
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], fmt.Sprintf("and %d more", more))
	}

	return strings.Join(lines, "; ")
}

// choice returns patterns as they are read in a sentence.
func choice(patterns []string) string {
	if len(patterns) == 0 {
		return "nothing, or leave it out"
	}

	return strings.Join(patterns, " or ")
}

// short returns the beginning of a text that is quoted in a fault, which may be
// a whole book.
func short(text string) string {
	return cut(text, 80)
}

// line returns a text, of which others may have written parts, as it is shown in
// a message: on one line, and not too long to be read.
func line(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}

		return ' '
	}, cut(text, 1000))
}

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}

	return strings.ToValidUTF8(text[:most], "") + "…"
}
