package fn

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/book"
	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
)

// The names of our composed resources in the pipeline. Crossplane identifies
// composed resources by these: one with another name is another resource, so a
// change would delete every live object and create it again. They are permanent.
const (
	keyConfigMap  = "configmap"
	keyDeployment = "deployment"
	keyService    = "service"
)

// A part identifies a composed resource of a MarkdownView.
type part struct {
	key, apiVersion, kind, name string
}

// desired are the composed resources as we mean to own them: of each only the
// fields that are set. Apply configurations of client-go are made for this, but
// they link all of client-go, which would make half of the binary; wire.Writer
// leaves out the rest as well.
type desired struct {
	// configMap is not composed where an image holds the book.
	configMap  *composedConfigMap
	deployment *appsv1.Deployment
	service    *corev1.Service

	// resources are all of them.
	resources []composedResource

	// shared are the files of other ConfigMaps.
	shared []sharedFiles
	// generated is whether SUMMARY.md is.
	generated bool

	// static is whether a web server serves what mdBook has built before.
	static bool

	// text is the key of the ConfigMap with the text of the spec, or textImage, and serving that
	// of the one that serves until the Deployment has rolled out. Kept is the
	// latter, where they differ and it still exists.
	text, serving string
	kept          *composedConfigMap

	// revision is a hash of the content and the pod template. The encoded Deployment
	// has it.
	revision string
	encoded  *encodedDeployment

	// complete is the condition of that type.
	complete condition
}

// A composedResource is a desired composed resource.
type composedResource struct {
	part

	// object is what is written.
	object any
	// ready returns whether what was observed is ready.
	ready func(o observed) bool
	// optional is whether one that was not observed need not have been deleted: the
	// Input may have added it just now.
	optional bool
}

// compose returns the desired resources of a valid view, and of what was observed
// the text that must stay. Its problems are those of the templates, which can be
// found only in what they are merged over, and those of the book, which is read only
// where it is new.
func compose(v view, o observed) (*desired, problems) {
	cm, errs := merge(configMap(v), v.input.Templates.ConfigMap, field.NewPath("input", "templates", "configMap"))
	f := filesOf(v, cm)
	if v.Spec.bookImage() != nil && len(cm.Data)+len(cm.BinaryData) > 0 {
		return nil, problemsOf(ReasonInvalidSpec, field.ErrorList{field.Forbidden(sourcePath(0).Child("image"),
			"the Composition adds files to all books with templates.configMap, and cannot add them to an image: use markdowns or ConfigMaps")})
	}
	var checked *book.Problems
	if v.input.Templates.ConfigMap == nil && !f.generatesSummary() && !o.holds(f) {
		// What is new is checked before anything is composed from it. The files of a
		// template are checked after the template.
		invalid, warnings := f.check()
		if len(invalid) > 0 {
			return nil, problemsOf(ReasonInvalidSpec, invalid)
		}
		checked = &warnings
	}
	var d *desired
	var more field.ErrorList
	last := o.summary()
	if f.generatesSummary() && last != "" {
		// The one that was generated before is right while nothing has changed.
		f.setSummary(last)
		d, more = composeFiles(v, o, f)
	}
	if d == nil || !o.runs(d.revision) {
		if f.generatesSummary() {
			f.setSummary(book.Summary(f.book()))
		}
		d, more = composeFiles(v, o, f)
	}
	if errs = append(errs, more...); len(errs) > 0 {
		return nil, problemsOf(ReasonInvalidInput, errs)
	}
	if errs := d.check(v, o, f, checked); len(errs) > 0 {
		return nil, problemsOf(ReasonInvalidSpec, errs)
	}

	return d, nil
}

// composeFiles returns the desired resources for some files, and the errors of the
// templates for the other resources.
func composeFiles(v view, o observed, f *files) (*desired, field.ErrorList) {
	at := field.NewPath("input", "templates")
	templates := v.input.Templates

	stored, text := f.configMap(), keyConfigMap
	switch {
	case v.Spec.bookImage() != nil:
		text = textImage
	case v.input.ImmutableConfigMaps:
		text = serialKey(stored)
		stored.Name = v.configMapOf(text)
	}
	d, errs := merge(deployment(v, o, f.volume(stored.Name)), templates.Deployment, at.Child("deployment"))
	s, more := merge(service(v), templates.Service, at.Child("service"))
	errs = append(errs, more...)

	if d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		d.Spec.Strategy.RollingUpdate = nil // The API server rejects ours together with it.
	}

	out := &desired{configMap: stored, deployment: d, service: s, static: v.input.Server != nil, shared: f.shared, generated: f.generatesSummary()}
	if templates != (v1beta1.Templates{}) {
		errs = append(errs, validateMerged(out, f, at)...)
	}
	if len(errs) > 0 {
		return nil, errs
	}

	out.text, out.serving = text, o.serving(text)
	out.kept = kept(v, o, out)
	out.serve()
	out.encoded, out.revision = encodeDeployment(out)

	name := v.viewerName()
	out.resources = []composedResource{
		{v.configMapPart(text), out.configMap, func(o observed) bool { return o.configMaps[text].ready(out, o.deployment) }, text != out.serving},
		{part{keyDeployment, "apps/v1", "Deployment", name}, out.encoded, func(o observed) bool { return o.deployment.ready(out) }, false},
		{part{keyService, "v1", "Service", name}, out.service, func(o observed) bool { return o.service.ready(out) }, false},
	}
	if text == textImage {
		out.resources = out.resources[1:]
	}
	if out.kept != nil {
		out.resources = append(out.resources, composedResource{v.configMapPart(out.serving), out.kept, func(observed) bool { return true }, true})
	}
	if r, ok := budget(v, o, out); ok {
		out.resources = append(out.resources, r)
	}
	if r, ok := reach(v, out); ok {
		out.resources = append(out.resources, r)
	}

	return out, nil
}

// union returns what is in any of two maps. The second wins.
func union[V any](a, b map[string]V) map[string]V {
	both := make(map[string]V, len(a)+len(b))
	maps.Copy(both, a)
	maps.Copy(both, b)

	return both
}

// metadata returns the metadata of a composed resource. The resources of a
// namespaced XR have no namespace of their own: Crossplane gives them the XR's.
func (v view) metadata(name string, annotations map[string]string) metav1.ObjectMeta {
	m := metav1.ObjectMeta{
		Name:        name,
		Labels:      union(v.input.Labels, v.selector()),
		Annotations: union(v.input.Annotations, annotations),
	}
	if v.Metadata.Namespace == "" {
		m.Namespace = v.namespace()
	}

	return m
}
