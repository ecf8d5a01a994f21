package fn

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/internal/objects"
	"github.com/crossplane-contrib/function-markdownview/internal/wire"
)

// The function reads the ConfigMaps of spec.markdownsFrom as required resources, only
// in the namespace of the pods. Crossplane reads them with its own permissions, so
// another namespace would let users read ConfigMaps that they have no permission to
// read.
//
// Crossplane calls the function again with the resources that a response requires, and
// sends them with the first call of later reconciles. Since v2.4 it also watches them:
// https://github.com/crossplane/crossplane/blob/v2.4.0/internal/xfn/required_resources.go
const (
	requirementsResources = 2
	selectorMatchName     = 3
	selectorNamespace     = 5
	resourcesItems        = 1

	// capabilityResources is CAPABILITY_REQUIRED_RESOURCES. Crossplane has reported
	// its capabilities since v2.2.
	capabilityResources = 2
)

// readSent reads from the required resources of a request the ConfigMaps that Crossplane
// has sent. The resources are encoded entries of a map; the last one with a key counts.
func (req *request) readSent(resources [][]byte) error {
	required := req.view.required()
	if len(required) == 0 {
		return nil
	}
	req.view.sent = map[string]*observedConfigMap{}
	for _, encoded := range resources {
		e, err := wire.ReadEntry(encoded)
		if err != nil {
			return err
		}
		name, ours := strings.CutPrefix(e.Key, requirementOf(""))
		if _, found := slices.BinarySearch(required, name); !ours || !found {
			continue
		}
		cm, sent, err := req.configMapIn(e, name)
		if err != nil {
			return err
		}
		delete(req.view.sent, name)
		if sent {
			req.view.sent[name] = cm
		}
	}

	return nil
}

// A requiredConfigMap is a required resource that should be a ConfigMap.
type requiredConfigMap struct {
	observedConfigMap

	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// configMapIn returns the ConfigMap with a name in the encoded Resources of an entry,
// or nil if it does not exist. Crossplane has not sent it if the entry holds something else
// that the Composition required under the same name, which the next call replaces.
// A ConfigMap that cannot be read is a problem, because the pods would mount it anyway.
func (req *request) configMapIn(e wire.Entry, name string) (configMap *observedConfigMap, sent bool, err error) {
	sent = true
	for f, err := range wire.Fields(e.Value) {
		if err != nil {
			return nil, false, err
		}
		if f.Number != resourcesItems || len(f.Bytes) == 0 {
			continue
		}
		object, err := objectOf(f.Bytes)
		if err != nil {
			return nil, false, err
		}
		var cm requiredConfigMap
		errs, err := objects.Decode(object, &cm, field.NewPath("spec", "markdownsFrom").Key(name), objects.Options{})
		if err != nil {
			return nil, false, err
		}
		if cm.APIVersion == "v1" && cm.Kind == "ConfigMap" && cm.Metadata.Name == name && cm.Metadata.Namespace == req.view.namespace() {
			req.problems = append(req.problems, problemsOf(ReasonInvalidSpec, errs)...)

			return &cm.observedConfigMap, true, nil
		}
		sent = false
	}

	return nil, sent, nil
}

// required returns the names of the ConfigMaps that the sources name, sorted.
func (v view) required() []string {
	var names []string
	for _, from := range v.Spec.MarkdownsFrom {
		if from.ConfigMap != nil && from.ConfigMap.Name != "" {
			names = append(names, from.ConfigMap.Name)
		}
	}
	slices.Sort(names)

	return slices.Compact(names)
}

// waits returns whether Crossplane has not sent a ConfigMap yet. For one that does not
// exist, it sends empty Resources.
func (v view) waits() bool {
	return slices.ContainsFunc(v.required(), func(name string) bool {
		_, ok := v.sent[name]

		return !ok
	})
}

// requirementOf returns the name of the requirement for a ConfigMap.
func requirementOf(configMap string) string { return "configmap/" + configMap }

// writeRequired writes the requirements for the ConfigMaps.
func writeRequired(w *objects.Writer, v view) {
	for _, name := range slices.Backward(v.required()) {
		w.Entry(requirementsResources, requirementOf(name), func() {
			w.Text(selectorNamespace, v.namespace())
			w.Text(selectorMatchName, name)
			w.Text(selectorKind, "ConfigMap")
			w.Text(selectorAPIVersion, "v1")
		})
	}
}

// unusableSources returns a problem for each ConfigMap that does not exist, and one if
// the book has too many files. The files are then not checked.
func (req request) unusableSources() problems {
	v := req.view
	if len(v.required()) > 0 && !req.capable(capabilityResources) {
		return problemsOf(ReasonInvalidSpec, field.ErrorList{field.Forbidden(field.NewPath("spec", "markdownsFrom"),
			"this version of Crossplane does not send ConfigMaps to functions: upgrade to v2.2 or later")})
	}
	var p problems
	for i, from := range v.Spec.MarkdownsFrom {
		if from.ConfigMap == nil {
			continue
		}
		if cm, sent := v.sent[from.ConfigMap.Name]; sent && cm == nil {
			err := field.NotFound(sourcePath(i).Child("configMap", "name"), short(from.ConfigMap.Name))
			err.Detail = fmt.Sprintf("create this ConfigMap in namespace %s, or remove it from the list", v.namespace())
			p = append(p, problem{ReasonConfigMapNotFound, err})
		}
	}
	n := len(v.Spec.Markdowns) + len(v.Spec.Binaries)
	for _, s := range v.shared() {
		n += len(s.Data) + len(s.BinaryData)
	}
	if len(v.required()) > 0 && n > maxFiles {
		p = append(p, problem{ReasonInvalidSpec, field.Forbidden(field.NewPath("spec", "markdownsFrom"),
			fmt.Sprintf("the book has %d files, and a book has at most %d: split the book", n, maxFiles))})
	}

	return p
}
