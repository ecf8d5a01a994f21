package fn

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// guarded are the fields that a template may not change: the identity of a
// resource, what ties viewers to their Deployment and Service, what Crossplane
// keeps, and what would stand against the next change of the text.
func guarded() [][]string {
	paths := [][]string{
		{"apiVersion"},
		{"kind"},
		{"status"},
		{"immutable"},
		{"metadata", "name"},
		{"metadata", "generateName"},
		{"metadata", "namespace"},
		{"metadata", "ownerReferences"},
		{"metadata", "uid"},
		{"metadata", "resourceVersion"},
		{"metadata", "generation"},
		{"metadata", "creationTimestamp"},
		{"metadata", "deletionTimestamp"},
		{"metadata", "deletionGracePeriodSeconds"},
		{"metadata", "managedFields"},
		{"spec", "selector"},
	}
	for name := range (view{}).selector() {
		paths = append(paths,
			[]string{"metadata", "labels", name},
			[]string{"spec", "template", "metadata", "labels", name})
	}

	return paths
}

// merge returns a composed resource with a template merged over it by strategic
// merge patch, which goes by the merge keys of its Kubernetes type. With a
// fault it returns the resource as it was.
func merge[T any](composed *T, template *runtime.RawExtension, at *field.Path) (*T, field.ErrorList) {
	if template == nil {
		return composed, nil
	}

	v := &structpb.Value{}
	if err := v.UnmarshalJSON(template.Raw); err != nil {
		return composed, field.ErrorList{field.Invalid(at, field.OmitValueType{}, err.Error())}
	}
	faults := append(decode(v, new(T), at, patch), validateText(v, at)...)
	if len(faults) > 0 {
		return composed, faults
	}

	before := encode(composed).AsMap()
	// The patch is applied in place.
	after, err := strategicpatch.StrategicMergeMapPatch(encode(composed).AsMap(), v.GetStructValue().AsMap(), *composed)
	if err != nil {
		return composed, field.ErrorList{field.Invalid(at, field.OmitValueType{}, err.Error())}
	}

	for _, path := range guarded() {
		if !reflect.DeepEqual(lookup(before, path), lookup(after, path)) {
			faults = append(faults, field.Forbidden(at.Child(path[0], path[1:]...), "a template cannot change this field: remove it"))
		}
	}
	if len(faults) > 0 {
		return composed, faults
	}

	merged := new(T)
	b, err := json.Marshal(after)
	if err == nil {
		err = json.Unmarshal(b, merged)
	}
	if err != nil {
		return composed, field.ErrorList{field.Invalid(at, field.OmitValueType{}, strings.ReplaceAll(err.Error(), "\n", " "))}
	}

	return merged, nil
}

// validateText returns a fault for every text that does not arrive as it is. The
// API server would tell of it without saying where it stands.
func validateText(v *structpb.Value, at *field.Path) field.ErrorList {
	var faults field.ErrorList
	switch v := v.GetKind().(type) {
	case *structpb.Value_StringValue:
		if !plain(v.StringValue) {
			faults = append(faults, field.Invalid(at, field.OmitValueType{}, messageControl))
		}
	case *structpb.Value_ListValue:
		for i, child := range v.ListValue.GetValues() {
			faults = append(faults, validateText(child, at.Index(i))...)
		}
	case *structpb.Value_StructValue:
		for name, child := range v.StructValue.GetFields() {
			if !plain(name) {
				faults = append(faults, field.Invalid(at.Key(short(name)), field.OmitValueType{}, messageControl))
			}
			faults = append(faults, validateText(child, at.Child(name))...)
		}
	}

	return faults
}

func lookup(object map[string]any, path []string) any {
	value, _, err := unstructured.NestedFieldNoCopy(object, path...)
	if err != nil {
		return err.Error()
	}

	return value
}

// validateMerged returns what the API server would refuse, or the viewer lacks,
// once templates are merged. Of the rest that a template can ask for only the
// types are checked: the API server knows Kubernetes better.
func validateMerged(want desired, files map[string]string, at *field.Path) field.ErrorList {
	pod := want.deployment.Spec.Template
	revised := pod.ObjectMeta
	revised.Annotations = union(revised.Annotations, map[string]string{annotationRevision: revision(&corev1.ConfigMap{}, pod)})
	faults := validateExtra(want.configMap, files, at.Child("configMap"))
	for _, m := range []struct {
		meta metav1.ObjectMeta
		at   *field.Path
	}{
		{want.configMap.ObjectMeta, at.Child("configMap")},
		{want.deployment.ObjectMeta, at.Child("deployment")},
		{revised, at.Child("deployment", "spec", "template")},
		{want.service.ObjectMeta, at.Child("service")},
	} {
		faults = append(faults, metav1validation.ValidateLabels(m.meta.Labels, m.at.Child("metadata", "labels"))...)
		faults = append(faults, validateAnnotations(m.meta.Annotations, m.at.Child("metadata", "annotations"))...)
	}

	if !slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		return c.Name == containerName && c.Image != ""
	}) {
		faults = append(faults, field.Required(at.Child("deployment", "spec", "template", "spec", "containers"),
			"the container "+containerName+" and its image must stay"))
	}

	return append(faults, validatePorts(want.service.Spec.Ports, at.Child("service", "spec", "ports"))...)
}

func validatePorts(ports []corev1.ServicePort, at *field.Path) field.ErrorList {
	if len(ports) == 0 {
		return field.ErrorList{field.Required(at, "a port must stay")}
	}
	var faults field.ErrorList
	known := map[string]bool{}
	for _, p := range ports {
		if known[p.Name] {
			faults = append(faults, field.Forbidden(at, fmt.Sprintf("two ports are named %q: ports are merged by their number, so to change that of ours take it away with {port: %d, $patch: delete}", short(p.Name), servicePort)))
		}
		known[p.Name] = true
	}

	return faults
}

// validateExtra returns the faults of what a template adds to the files of a
// book.
func validateExtra(cm *corev1.ConfigMap, files map[string]string, at *field.Path) field.ErrorList {
	extra := map[string]int{}
	var faults field.ErrorList
	add := func(name string, size int, at *field.Path) {
		if _, ok := extra[name]; ok {
			faults = append(faults, field.Duplicate(at.Key(short(name)), field.OmitValueType{}))
		}
		if _, ok := files[name]; ok {
			faults = append(faults, field.Forbidden(at.Key(short(name)), "is a file of the MarkdownView: rename one of them"))
		}
		for _, detail := range validation.IsConfigMapKey(name) {
			faults = append(faults, field.Invalid(at.Key(short(name)), field.OmitValueType{}, "is no file name: "+detail))
		}
		extra[name] = size
	}
	for name, text := range cm.Data {
		add(name, len(text), at.Child("data"))
	}
	for name, b := range cm.BinaryData {
		add(name, len(b), at.Child("binaryData"))
	}

	size := 0
	for _, n := range extra {
		size += n
	}
	for _, text := range files {
		size += len(text)
	}
	if len(extra) > 0 && size > maxBytes {
		faults = append(faults, field.Forbidden(at, "holds more than 1 MiB together with the files of the MarkdownView: leave something out"))
	}

	return faults
}
