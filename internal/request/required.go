package request

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/internal/objects"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/wire"
)

const (
	resourcesItems = 1
	// CapabilityResources is CAPABILITY_REQUIRED_RESOURCES. Crossplane has reported
	// its capabilities since v2.2.
	CapabilityResources = 2
)

// readSent reads from the required resources of a request the ConfigMaps that Crossplane
// has sent. The resources are encoded entries of a map; the last one with a key counts.
func (req *Request) readSent(resources [][]byte) error {
	required := Required(req.View)
	if len(required) == 0 {
		return nil
	}
	req.View.Sent = map[string]*view.ConfigMap{}
	for _, encoded := range resources {
		e, err := wire.ReadEntry(encoded)
		if err != nil {
			return err
		}
		name, ours := strings.CutPrefix(e.Key, RequirementOf(""))
		if _, found := slices.BinarySearch(required, name); !ours || !found {
			continue
		}
		cm, sent, err := req.configMapIn(e, name)
		if err != nil {
			return err
		}
		delete(req.View.Sent, name)
		if sent {
			req.View.Sent[name] = cm
		}
	}

	return nil
}

// A requiredConfigMap is a required resource that should be a ConfigMap.
type requiredConfigMap struct {
	view.ConfigMap

	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// configMapIn returns the ConfigMap with a name in the encoded Resources of an entry,
// or nil if it does not exist. Crossplane has not sent it if the entry holds something else
// that the Composition required under the same name, which the next call replaces.
// A ConfigMap that cannot be read is a problem, because the pods would mount it anyway.
func (req *Request) configMapIn(e wire.Entry, name string) (configMap *view.ConfigMap, sent bool, err error) {
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
		if cm.APIVersion == "v1" && cm.Kind == "ConfigMap" && cm.Metadata.Name == name && cm.Metadata.Namespace == req.View.Namespace() {
			req.Problems = append(req.Problems, report.ProblemsOf(report.ReasonInvalidSpec, errs)...)

			return &cm.ConfigMap, true, nil
		}
		sent = false
	}

	return nil, sent, nil
}

// Required returns the names of the ConfigMaps that the sources name, sorted.
func Required(v view.View) []string {
	var names []string
	for _, from := range v.Spec.MarkdownsFrom {
		if from.ConfigMap != nil && from.ConfigMap.Name != "" {
			names = append(names, from.ConfigMap.Name)
		}
	}
	slices.Sort(names)

	return slices.Compact(names)
}

// Waits returns whether Crossplane has not sent a ConfigMap yet. For one that does not
// exist, it sends empty Resources.
func Waits(v view.View) bool {
	return slices.ContainsFunc(Required(v), func(name string) bool {
		_, ok := v.Sent[name]

		return !ok
	})
}

// RequirementOf returns the name of the requirement for a ConfigMap.
func RequirementOf(configMap string) string { return "configmap/" + configMap }
