package fn

import (
	"fmt"
	"maps"
	"slices"

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/book"
)

// A book can have content from elsewhere: files of ConfigMaps that other people or
// tools write, or the whole book from an image.
//
// Pods of mdBook mount these ConfigMaps by reference, so the response does not contain
// the content; the revision includes a hash of it. Pods of a web server read copies in
// our ConfigMap: see files.withCopies. Pods mount an image as it is: the function cannot
// read it.

const (
	// maxSources keeps a request below the 16 MiB that the function accepts, even if
	// every ConfigMap has 1 MiB of binaryData, which is larger as base64.
	maxSources = 8

	messageSource       = `set configMap or image, and not both`
	messageImage        = `an image holds the whole book: remove markdowns, binaries and the other entries, or the image`
	messageImagePath    = `an image holds the whole book: remove path`
	messageImageSummary = `the function cannot read an image: add SUMMARY.md to the image, and remove summary`

	// volumeName is the name of the volume with the book.
	volumeName = "markdowns"

	// textImage stands for the resource key of a ConfigMap if an image holds the book.
	textImage = "image"
)

// A source is where files of a book come from: a ConfigMap or an image.
type source struct {
	ConfigMap *configMapSource `json:"configMap"`
	// Path is the folder of the book for the files of the ConfigMap. Empty means the
	// folder of SUMMARY.md.
	Path  string       `json:"path"`
	Image *imageSource `json:"image"`
}

type configMapSource struct {
	Name string `json:"name"`
}

type imageSource struct {
	Reference  string            `json:"reference"`
	PullPolicy corev1.PullPolicy `json:"pullPolicy"`
}

// sourcePath returns the field path of a source.
func sourcePath(i int) *field.Path { return field.NewPath("spec", "markdownsFrom").Index(i) }

// bookImage returns the image that holds the book, or nil.
func (s spec) bookImage() *imageSource {
	for _, from := range s.MarkdownsFrom {
		if from.Image != nil {
			return from.Image
		}
	}

	return nil
}

// sharedFiles holds the files of a ConfigMap of spec.markdownsFrom.
type sharedFiles struct {
	*observedConfigMap

	name, path string
	at         *field.Path
}

// shared returns the ConfigMaps of spec.markdownsFrom that exist.
func (v view) shared() []sharedFiles {
	var all []sharedFiles
	for i, from := range v.Spec.MarkdownsFrom {
		if from.ConfigMap == nil || v.sent[from.ConfigMap.Name] == nil {
			continue
		}
		all = append(all, sharedFiles{v.sent[from.ConfigMap.Name], from.ConfigMap.Name, from.Path, sourcePath(i)})
	}

	return all
}

// file returns the name in the book of the file with a key.
func (r sharedFiles) file(key string) string {
	if r.path == "" {
		return key
	}

	return r.path + "/" + key
}

// keys returns the keys of the files, sorted.
func (r sharedFiles) keys() []string {
	return slices.Sorted(maps.Keys(union(r.Data, r.BinaryData)))
}

// projection mounts the files that were checked, each at its path. A new key changes
// the pod template.
func (r sharedFiles) projection() corev1.VolumeProjection {
	keys := r.keys()
	items := make([]corev1.KeyToPath, len(keys))
	for i, key := range keys {
		items[i] = corev1.KeyToPath{Key: key, Path: r.file(key)}
	}

	return projection(r.name, items)
}

func projection(configMap string, items []corev1.KeyToPath) corev1.VolumeProjection {
	return corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{
		LocalObjectReference: corev1.LocalObjectReference{Name: configMap},
		Items:                items,
	}}
}

// validateSources returns the errors of spec.markdownsFrom, without the files of the
// ConfigMaps.
func (v view) validateSources() field.ErrorList {
	if len(v.Spec.MarkdownsFrom) == 0 {
		return nil
	}
	at := field.NewPath("spec", "markdownsFrom")
	if n := len(v.Spec.MarkdownsFrom); n > maxSources {
		return field.ErrorList{field.TooMany(at, n, maxSources)}
	}
	var errs field.ErrorList
	for i, from := range v.Spec.MarkdownsFrom {
		switch at := at.Index(i); {
		case (from.ConfigMap == nil) == (from.Image == nil):
			errs = append(errs, field.Required(at, messageSource))
		case from.Image != nil:
			errs = append(errs, v.validateBookImage(*from.Image, at.Child("image"))...)
			if from.Path != "" {
				errs = append(errs, field.Forbidden(at.Child("path"), messageImagePath))
			}
		default:
			errs = append(errs, validateConfigMapSource(from, at)...)
		}
	}
	if v.Spec.bookImage() != nil && (len(v.Spec.MarkdownsFrom) > 1 || len(v.Spec.Markdowns)+len(v.Spec.Binaries) > 0) {
		errs = append(errs, field.Forbidden(at, messageImage))
	}
	if v.Spec.bookImage() != nil && v.Spec.Summary == summaryAuto {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "summary"), messageImageSummary))
	}

	return errs
}

func validateConfigMapSource(from source, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, detail := range validation.IsDNS1123Subdomain(from.ConfigMap.Name) {
		errs = append(errs, field.Invalid(at.Child("configMap", "name"), short(from.ConfigMap.Name), detail))
	}
	if err := book.ValidatePath(from.Path); from.Path != "" && err != nil {
		errs = append(errs, field.Invalid(at.Child("path"), short(from.Path), err.Error()))
	}

	return errs
}

// validateBookImage returns the errors of an image with a book. The Input must allow
// it, because pods pull it with the imagePullSecrets of the Input.
func (v view) validateBookImage(image imageSource, at *field.Path) field.ErrorList {
	errs := validateEnum(image.PullPolicy, at.Child("pullPolicy"), corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
	if invalid := validateImage(image.Reference, at.Child("reference")); len(invalid) > 0 {
		return append(errs, invalid...)
	}
	if !allowed(image.Reference, v.input.AllowedBookImages) {
		how := choice("an image", v.input.AllowedBookImages)
		if len(v.input.AllowedBookImages) == 0 {
			how = "the Composition allows no image with a book: set allowedBookImages in its Input"
		}
		errs = append(errs, field.Forbidden(at.Child("reference"), fmt.Sprintf("%q is not allowed here: %s", short(image.Reference), how)))
	}

	return errs
}

// validateShared returns an error for each file that is in two places.
func (f *files) validateShared() field.ErrorList {
	if len(f.shared) == 0 {
		return nil
	}
	places := map[string]string{}
	for name := range f.spec.Markdowns {
		places[name] = "spec.markdowns"
	}
	for name := range f.spec.Binaries {
		places[name] = "spec.binaries"
	}
	for name := range f.extra.BinaryData {
		places[name] = "a template of the Composition"
	}
	for name := range f.extra.Data {
		places[name] = "a template of the Composition"
	}

	var errs field.ErrorList
	for _, r := range f.shared {
		for _, key := range r.keys() {
			name := r.file(key)
			if place, taken := places[name]; taken && len(errs) <= maxFiles {
				errs = append(errs, field.Invalid(r.at, field.OmitValueType{}, fmt.Sprintf("file %q is in %s too: remove one of them", short(name), place)))
			}
			places[name] = "ConfigMap " + r.name
		}
	}

	return errs
}

// volume returns the volume with the book. configMap is the name of our ConfigMap.
func (f *files) volume(configMap string) corev1.Volume {
	v := corev1.Volume{Name: volumeName}
	switch image := f.spec.bookImage(); {
	case image != nil:
		v.Image = &corev1.ImageVolumeSource{Reference: qualified(image.Reference), PullPolicy: image.PullPolicy}
	case len(f.mounted()) > 0:
		v.Projected = &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{projection(configMap, f.items)}}
		for _, s := range f.mounted() {
			// Without items, the pods would mount keys that are added later and not
			// checked.
			if p := s.projection(); len(p.ConfigMap.Items) > 0 {
				v.Projected.Sources = append(v.Projected.Sources, p)
			}
		}
	default:
		v.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: configMap}, Items: f.items}
	}

	return v
}

// inImage returns the condition BookComplete of a book in an image.
func (image imageSource) inImage() condition {
	message := fmt.Sprintf("The function does not read image %s, which holds the book", line(image.Reference))
	if !pinned(image.Reference) {
		message += ". A new image with the same tag is not rolled out: name a digest"
	}

	return condition{TypeBookComplete, statusUnknown, ReasonNotChecked, message}
}

// pinned returns whether an image reference has a digest.
func pinned(image string) bool {
	named, err := reference.ParseNormalizedNamed(image)
	_, canonical := named.(reference.Canonical)

	return err == nil && canonical
}
