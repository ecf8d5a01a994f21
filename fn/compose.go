package fn

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/book"
	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
)

// The composition resource names of our composed resources, by which Crossplane
// identifies them. With another name, Crossplane would delete the live object and
// create it again, so these names are permanent.
const (
	keyConfigMap  = "configmap"
	keyDeployment = "deployment"
	keyService    = "service"
)

// A part identifies a composed resource of a MarkdownView.
type part struct {
	key, apiVersion, kind, name string
}

// desired holds the composed resources, each with only the fields that we own. The
// apply configurations of client-go have the same purpose, but they link all of
// client-go, which would be half of the binary. Like them, wire.Writer omits empty fields.
type desired struct {
	// configMap is not among the resources if an image holds the book.
	configMap  *composedConfigMap
	deployment *appsv1.Deployment
	service    *corev1.Service

	// resources lists the composed resources.
	resources []composedResource

	// items has the files that pods mount from our ConfigMap. Empty means all.
	items []corev1.KeyToPath
	// shared holds the files of other ConfigMaps that pods mount from there.
	shared []sharedFiles
	// generated is whether the function generates SUMMARY.md.
	generated bool

	// static is whether a web server serves the pages that mdBook has built.
	static bool

	// text is the resource key of the ConfigMap with the text of the spec. serving has
	// the keys of the ConfigMaps that pods serve until the rollout completes, usually
	// one. Both are textImage if an image holds the book.
	text    string
	serving []string

	// revision is a hash of the content and the pod template. applied is the revision
	// of the encoded Deployment: an earlier one until pods can start with the content.
	revision, applied string
	encoded           *encodedDeployment

	// complete is the condition BookComplete.
	complete condition
}

// A composedResource is a desired composed resource.
type composedResource struct {
	part

	// object is encoded into the response.
	object any
	// optional is whether the resource can be absent although nobody deleted it: the
	// Input may just have added it.
	optional bool
}

// compose returns the desired resources of a valid view. During a rollout they include
// the ConfigMap that pods still serve. The problems are those of the templates, which
// only show after the merge, and those of the book, which is checked only when it
// changes.
func compose(v view, o observed) (*desired, problems) {
	cm, errs := merge(configMap(v), v.input.Templates.ConfigMap, field.NewPath("input", "templates", "configMap"))
	f := filesOf(v, cm)
	if v.Spec.bookImage() != nil && len(cm.Data)+len(cm.BinaryData) > 0 {
		return nil, problemsOf(ReasonInvalidSpec, field.ErrorList{field.Forbidden(sourcePath(0).Child("image"),
			"templates.configMap of the Input adds files to every book, which is not possible for a book in an image: use markdowns or ConfigMaps")})
	}
	var checked *book.Problems
	if v.input.Templates.ConfigMap == nil && !f.generatesSummary() && !o.holds(f) {
		// Check a new book before anything is composed from it. Files of a template are
		// checked after the merge.
		invalid, warnings := f.check()
		if len(invalid) > 0 {
			return nil, append(problemsOf(ReasonInvalidSpec, invalid), templateProblems(v)...)
		}
		checked = &warnings
	}
	var d *desired
	var more field.ErrorList
	last := o.summary()
	if f.generatesSummary() && last != "" {
		// While nothing has changed, the SUMMARY.md that was generated before is used
		// again.
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
// templates.
func composeFiles(v view, o observed, f *files) (*desired, field.ErrorList) {
	at := field.NewPath("input", "templates")
	templates := v.input.Templates

	f = f.withCopies()
	stored, text := f.configMap(), keyConfigMap
	switch {
	case v.Spec.bookImage() != nil:
		text = textImage
	case v.immutable():
		text = immutableKey(stored)
		stored.Name = v.configMapOf(text)
	}
	d, errs := merge(deployment(v, o, f.volume(stored.Name)), templates.Deployment, at.Child("deployment"))
	s, more := merge(service(v), templates.Service, at.Child("service"))
	errs = append(errs, more...)

	if d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		d.Spec.Strategy.RollingUpdate = nil // The API server rejects it together with Recreate.
	}

	out := &desired{configMap: stored, deployment: d, service: s, static: v.input.Server != nil, items: f.items, shared: f.mounted(), generated: f.generatesSummary()}
	if templates != (v1beta1.Templates{}) {
		errs = append(errs, validateMerged(mergedObjects{configMap: stored.ObjectMeta, deployment: d, service: s, static: out.static}, f, at)...)
	}
	if len(errs) > 0 {
		return nil, errs
	}

	out.text, out.serving = text, o.serving(text)
	out.serve()
	out.encode(o)

	name := v.viewerName()
	out.resources = []composedResource{
		{v.configMapPart(text), out.configMap, !slices.Contains(out.serving, text)},
		{part{keyDeployment, "apps/v1", "Deployment", name}, out.encoded, false},
		{part{keyService, "v1", "Service", name}, out.service, false},
	}
	if text == textImage {
		out.resources = out.resources[1:]
	}
	out.resources = append(out.resources, kept(v, o, out)...)
	if r, ok := budget(v, o, out); ok {
		out.resources = append(out.resources, r)
	}
	if r, ok := publish(v, out); ok {
		out.resources = append(out.resources, r)
	}

	return out, nil
}

// union returns the entries of both maps. The value of b wins.
func union[V any](a, b map[string]V) map[string]V {
	both := make(map[string]V, len(a)+len(b))
	maps.Copy(both, a)
	maps.Copy(both, b)

	return both
}

// metadata returns the metadata of a composed resource. If the XR is namespaced, it has
// no namespace: Crossplane sets that of the XR.
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
