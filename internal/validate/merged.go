package validate

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/files"
	"github.com/crossplane-contrib/function-markdownview/internal/gateway"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/template"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// A Objects has the composed resources after the templates are merged.
type Objects struct {
	ConfigMap  metav1.ObjectMeta
	Deployment *appsv1.Deployment
	Service    *corev1.Service
	// These are nil if the Input has none.
	HTTPRoute           *gateway.HTTPRoute
	Ingress             *networkingv1.Ingress
	PodDisruptionBudget *policyv1.PodDisruptionBudget
	// Static is whether a web server serves the book.
	Static bool
}

// Merged returns the errors of the composed resources after the templates are
// merged: fields that the API server is certain to reject, and fields that the pods
// need. It does not validate other fields of a template: the API server does, and
// Crossplane reports its errors.
func Merged(m Objects, f *files.Files, at *field.Path) field.ErrorList {
	pod := m.Deployment.Spec.Template
	revised := pod.ObjectMeta
	revised.Annotations = view.Union(revised.Annotations, map[string]string{view.AnnotationRevision: "0123456789abcdef"})
	errs := extraErrors(f, at.Child("configMap"))
	type object struct {
		meta metav1.ObjectMeta
		at   *field.Path
	}
	all := []object{
		{m.ConfigMap, at.Child("configMap")},
		{m.Deployment.ObjectMeta, at.Child("deployment")},
		{revised, at.Child("deployment", "spec", "template")},
		{m.Service.ObjectMeta, at.Child("service")},
	}
	if r := m.HTTPRoute; r != nil {
		all = append(all, object{r.ObjectMeta, at.Child("httpRoute")})
		if len(r.Spec.Rules) == 0 {
			errs = append(errs, field.Required(at.Child("httpRoute", "spec", "rules"), "keep a rule: a template cannot remove all of them"))
		}
	}
	if i := m.Ingress; i != nil {
		all = append(all, object{i.ObjectMeta, at.Child("ingress")})
	}
	if b := m.PodDisruptionBudget; b != nil {
		at := at.Child("podDisruptionBudget")
		all = append(all, object{b.ObjectMeta, at})
		errs = append(errs, validateAmounts(b.Spec.MaxUnavailable, b.Spec.MinAvailable, at.Child("spec"))...)
	}
	for _, o := range all {
		errs = append(errs, metav1validation.ValidateLabels(o.meta.Labels, o.at.Child("metadata", "labels"))...)
		errs = append(errs, validateAnnotations(o.meta.Annotations, o.at.Child("metadata", "annotations"))...)
	}

	errs = append(errs, validateDeployment(m.Deployment.Spec, m.Static, at.Child("deployment", "spec"))...)

	return append(errs, validatePorts(m.Service.Spec.Ports, at.Child("service", "spec", "ports"))...)
}

func validateDeployment(d appsv1.DeploymentSpec, static bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if d.Replicas != nil && *d.Replicas < 0 {
		errs = append(errs, field.Invalid(at.Child("replicas"), *d.Replicas, "must not be negative"))
	}
	// Kubernetes sets defaults for the fields of a strategy that we do not own, and
	// then rejects them together with Recreate.
	rolling := d.Strategy.RollingUpdate
	if d.Strategy.Type != appsv1.RecreateDeploymentStrategyType && (d.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType ||
		rolling == nil || rolling.MaxSurge == nil || rolling.MaxUnavailable == nil) {
		errs = append(errs, field.Required(at.Child("strategy"), "set type to Recreate, or to RollingUpdate with maxSurge and maxUnavailable"))
	}

	return append(errs, validatePod(d.Template.Spec, static, at.Child("template", "spec"))...)
}

func validatePod(pod corev1.PodSpec, static bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	volumes := map[string]bool{}
	for _, v := range pod.Volumes {
		volumes[v.Name] = true
	}
	known := map[string]bool{}
	validate := func(containers []corev1.Container, at *field.Path) {
		for _, c := range containers {
			if known[c.Name] {
				errs = append(errs, field.Duplicate(at.Key(report.Short(c.Name)), field.OmitValueType{}))
			}
			known[c.Name] = true
			errs = append(errs, validateContainer(c, volumes, at.Key(report.Short(c.Name)))...)
		}
	}
	validate(pod.InitContainers, at.Child("initContainers"))
	validate(pod.Containers, at.Child("containers"))
	if static && containerIn(pod.Containers, view.ContainerName).Name != "" {
		errs = append(errs, field.Forbidden(at.Child("containers").Key(view.ContainerName), "move this to initContainers: with input.server, mdBook runs in an init container"))
	}

	viewer := view.ContainerName
	if static {
		viewer = view.ServerName
		if c := containerIn(pod.InitContainers, view.ContainerName); c.Image == "" {
			errs = append(errs, field.Required(at.Child("initContainers"), "keep the container "+view.ContainerName+" and its image: a template cannot remove them"))
		}
	}
	c := containerIn(pod.Containers, viewer)
	if c.Image == "" {
		return append(errs, field.Required(at.Child("containers"), "keep the container "+viewer+" and its image: a template cannot remove them"))
	}
	if !hasPort(c, view.PortName) {
		errs = append(errs, field.Required(at.Child("containers").Key(viewer).Child("ports"),
			"keep the port named "+view.PortName+": the Service needs it"))
	}

	return errs
}

// containerIn returns the container with a name, or an empty one.
func containerIn(containers []corev1.Container, name string) corev1.Container {
	for _, c := range containers {
		if c.Name == name {
			return c
		}
	}

	return corev1.Container{}
}

func hasPort(c corev1.Container, name string) bool {
	return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Name == name })
}

func validateContainer(c corev1.Container, volumes map[string]bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, m := range c.VolumeMounts {
		if !volumes[m.Name] {
			errs = append(errs, field.NotFound(at.Child("volumeMounts").Index(i).Child("name"), report.Short(m.Name)))
		}
	}
	for name, probe := range map[string]*corev1.Probe{"startupProbe": c.StartupProbe, "readinessProbe": c.ReadinessProbe, "livenessProbe": c.LivenessProbe} {
		if port := probePort(probe); port != "" && !hasPort(c, port) {
			errs = append(errs, field.NotFound(at.Child(name), "port "+report.Short(port)))
		}
	}

	return append(errs, validateLimits(c.Resources.Requests, c.Resources.Limits, at.Child("resources"))...)
}

// probePort returns the name of the port of a probe, or an empty string.
func probePort(p *corev1.Probe) string {
	switch {
	case p == nil:
		return ""
	case p.HTTPGet != nil:
		return p.HTTPGet.Port.StrVal
	case p.TCPSocket != nil:
		return p.TCPSocket.Port.StrVal
	default:
		return ""
	}
}

func validatePorts(ports []corev1.ServicePort, at *field.Path) field.ErrorList {
	if len(ports) == 0 {
		return field.ErrorList{field.Required(at, "keep a port: a template cannot remove all of them")}
	}
	var errs field.ErrorList
	known := map[string]bool{}
	for _, p := range ports {
		if known[p.Name] {
			errs = append(errs, field.Forbidden(at, fmt.Sprintf("to replace the default port, remove it with {port: %d, $patch: delete}: ports are merged by number, so two are named %q", view.ServicePort, report.Short(p.Name))))
		}
		known[p.Name] = true
	}

	return errs
}

// extraErrors returns the errors of the files that a template adds to a book.
func extraErrors(f *files.Files, at *field.Path) field.ErrorList {
	extra := map[string]int{}
	var errs field.ErrorList
	add := func(name string, size int, at *field.Path) {
		if _, ok := extra[name]; ok {
			errs = append(errs, field.Duplicate(at.Key(report.Short(name)), field.OmitValueType{}))
		}
		if f.Keys[name] {
			errs = append(errs, field.Forbidden(at.Key(report.Short(name)), "rename this file or that of the MarkdownView: they have the same name"))
		}
		for _, detail := range validation.IsConfigMapKey(name) {
			errs = append(errs, field.Invalid(at.Key(report.Short(name)), field.OmitValueType{}, detail))
		}
		extra[name] = size
	}
	for name, text := range f.Extra.Data {
		add(name, len(text), at.Child("data"))
	}
	for name, b := range f.Extra.BinaryData {
		add(name, len(b), at.Child("binaryData"))
	}

	size := 0
	for _, n := range extra {
		size += n
	}
	if size += files.Size(f.Spec); size > files.MaxBytes {
		errs = append(errs, field.Forbidden(at, "shorten or remove files: together with those of the MarkdownView they have more than 1 MiB"))
	}

	return errs
}

// validateTemplates returns the errors that the templates have before they are merged:
// unknown fields, values of a wrong type, texts that would not arrive unchanged, and templates
// of resources that the Input does not have.
func validateTemplates(in v1beta1.Input, at *field.Path) field.ErrorList {
	t := in.Templates
	errs := template.Check[corev1.ConfigMap](t.ConfigMap, at.Child("configMap"))
	errs = append(errs, template.Check[appsv1.Deployment](t.Deployment, at.Child("deployment"))...)
	errs = append(errs, template.Check[corev1.Service](t.Service, at.Child("service"))...)
	errs = append(errs, template.Check[gateway.HTTPRoute](t.HTTPRoute, at.Child("httpRoute"))...)
	errs = append(errs, template.Check[networkingv1.Ingress](t.Ingress, at.Child("ingress"))...)
	errs = append(errs, template.Check[policyv1.PodDisruptionBudget](t.PodDisruptionBudget, at.Child("podDisruptionBudget"))...)
	for _, o := range []struct {
		template *runtime.RawExtension
		has      bool
		at, of   string
	}{
		{t.HTTPRoute, in.Route != nil, "httpRoute", "route"},
		{t.Ingress, in.Ingress != nil, "ingress", "ingress"},
		{t.PodDisruptionBudget, in.PodDisruptionBudget != nil, "podDisruptionBudget", "podDisruptionBudget"},
	} {
		if o.template != nil && !o.has {
			errs = append(errs, field.Forbidden(at.Child(o.at), "set input."+o.of+", or remove the template: it has no effect"))
		}
	}

	return errs
}
