// Package compose returns the desired composed resources of a valid MarkdownView, one file
// for each of them.
package compose

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/book"
	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/files"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/template"
	"github.com/crossplane-contrib/function-markdownview/internal/validate"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// Compose returns the desired resources of a valid view. During a rollout they include
// the ConfigMap that pods still serve. The problems are those of the templates, which
// only show after the merge, and those of the book, which is checked only when it
// changes.
func Compose(v view.View, o request.Observed) (*Desired, report.Problems) {
	cm, errs := template.Merge(files.NewConfigMap(v), v.Input.Templates.ConfigMap, field.NewPath("input", "templates", "configMap"))
	f := files.Of(v, cm)
	if v.Spec.BookImage() != nil && len(cm.Data)+len(cm.BinaryData) > 0 {
		at := view.SourcePath(0).Child("image")
		if v.Spec.Repository() != nil {
			at = view.SourcePath(0).Child("ociRepository")
		}

		return nil, report.ProblemsOf(report.ReasonInvalidSpec, field.ErrorList{field.Forbidden(at,
			"use markdowns or ConfigMaps: the Input's templates.configMap adds files to every book, and nothing can be added to an image")})
	}
	var checked *book.Problems
	if v.Input.Templates.ConfigMap == nil && !f.GeneratesSummary() && !holds(o, f) {
		// Check a new book before anything is composed from it. Files of a template are
		// checked after the merge.
		invalid, warnings := f.Check()
		if len(invalid) > 0 {
			return nil, append(report.ProblemsOf(report.ReasonInvalidSpec, invalid), TemplateProblems(v)...)
		}
		checked = &warnings
	}
	var d *Desired
	var more field.ErrorList
	last := summary(o)
	if f.GeneratesSummary() && last != "" {
		// While nothing has changed, the SUMMARY.md that was generated before is used
		// again.
		f.SetSummary(last)
		d, more = composeFiles(v, o, f)
	}
	if d == nil || !runs(o, d.Revision) {
		if f.GeneratesSummary() {
			f.SetSummary(book.Summary(f.Book()))
		}
		d, more = composeFiles(v, o, f)
	}
	if errs = append(errs, more...); len(errs) > 0 {
		return nil, report.ProblemsOf(report.ReasonInvalidInput, errs)
	}
	if errs := d.check(v, o, f, checked); len(errs) > 0 {
		return nil, report.ProblemsOf(report.ReasonInvalidSpec, errs)
	}

	return d, nil
}

// composeFiles returns the desired resources for some files, and the errors of the
// templates.
func composeFiles(v view.View, o request.Observed, f *files.Files) (*Desired, field.ErrorList) {
	at := field.NewPath("input", "templates")
	templates := v.Input.Templates

	f = f.WithCopies()
	stored, text := f.ConfigMap(), view.KeyConfigMap
	switch {
	case v.Spec.BookImage() != nil:
		text = view.TextImage
	case v.Immutable():
		text = immutableKey(stored)
		stored.Name = v.ConfigMapOf(text)
	}
	d, errs := template.Merge(deployment(v, o, f.Volume(stored.Name)), templates.Deployment, at.Child("deployment"))
	s, more := template.Merge(Service(v), templates.Service, at.Child("service"))
	errs = append(errs, more...)

	if d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		d.Spec.Strategy.RollingUpdate = nil // The API server rejects it together with Recreate.
	}

	out := &Desired{ConfigMap: stored, Deployment: d, Service: s, static: v.Input.Server != nil, items: f.Items, shared: f.Mounted(), generated: f.GeneratesSummary()}
	if templates != (v1beta1.Templates{}) {
		errs = append(errs, validate.Merged(validate.Objects{ConfigMap: stored.ObjectMeta, Deployment: d, Service: s, Static: out.static}, f, at)...)
	}
	if len(errs) > 0 {
		return nil, errs
	}

	out.Text, out.Serving = text, serving(o, text)
	out.serve()
	out.encode(o)

	name := v.ViewerName()
	out.Resources = []ComposedResource{
		{configMapPart(v, text), out.ConfigMap, !slices.Contains(out.Serving, text)},
		{part{view.KeyDeployment, "apps/v1", "Deployment", name}, out.encoded, false},
		{part{view.KeyService, "v1", "Service", name}, out.Service, false},
	}
	if text == view.TextImage {
		out.Resources = out.Resources[1:]
	}
	out.Resources = append(out.Resources, Kept(v, o, out)...)
	if r, ok := budget(v, o, out); ok {
		out.Resources = append(out.Resources, r)
	}
	if r, ok := publish(v, out); ok {
		out.Resources = append(out.Resources, r)
	}

	return out, nil
}

// TemplateProblems returns the problems that show when the templates are merged, although the
// view has other problems, so that all are reported at once.
func TemplateProblems(v view.View) report.Problems {
	t, at := v.Input.Templates, field.NewPath("input", "templates")
	errs := template.CheckMerge(files.NewConfigMap(v), t.ConfigMap, at.Child("configMap"))
	errs = append(errs, template.CheckMerge(deployment(v, request.Observed{}, corev1.Volume{Name: view.VolumeName}), t.Deployment, at.Child("deployment"))...)

	return report.ProblemsOf(report.ReasonInvalidInput, append(errs, template.CheckMerge(Service(v), t.Service, at.Child("service"))...))
}
