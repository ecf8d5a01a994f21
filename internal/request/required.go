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

// A Requirement identifies a resource that Crossplane must send, in the namespace of the
// pods.
type Requirement struct{ APIVersion, Kind, Name string }

// Key returns the name of the requirement.
func (r Requirement) Key() string { return strings.ToLower(r.Kind) + "/" + r.Name }

const kindConfigMap = "ConfigMap"

// Required returns the resources that the sources name, in the order of their keys.
func Required(v view.View) []Requirement {
	var all []Requirement
	for _, from := range v.Spec.MarkdownsFrom {
		if from.ConfigMap != nil && from.ConfigMap.Name != "" {
			all = append(all, Requirement{"v1", kindConfigMap, from.ConfigMap.Name})
		}
		if from.OCIRepository != nil && from.OCIRepository.Name != "" {
			all = append(all, Requirement{"source.toolkit.fluxcd.io/v1", "OCIRepository", from.OCIRepository.Name})
		}
	}
	slices.SortFunc(all, func(a, b Requirement) int { return strings.Compare(a.Key(), b.Key()) })

	return slices.Compact(all)
}

// Waits returns whether Crossplane has not sent a required resource yet. For one that does
// not exist, it sends empty Resources.
func Waits(v view.View) bool {
	return slices.ContainsFunc(Required(v), func(r Requirement) bool {
		_, repository := v.Repositories[r.Name]
		_, configMap := v.Sent[r.Name]

		return r.Kind == kindConfigMap && !configMap || r.Kind != kindConfigMap && !repository
	})
}

// readSent reads from the required resources of a request those that Crossplane has sent.
// The resources are encoded entries of a map; the last one with a key counts.
func (req *Request) readSent(resources [][]byte) error {
	required := Required(req.View)
	if len(required) == 0 {
		return nil
	}
	req.View.Sent, req.View.Repositories = map[string]*view.ConfigMap{}, map[string]*view.OCIRepository{}
	for _, encoded := range resources {
		e, err := wire.ReadEntry(encoded)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(required, func(r Requirement) bool { return r.Key() == e.Key })
		switch {
		case i < 0:
		case required[i].Kind == kindConfigMap:
			err = readInto(req, e, required[i], req.View.Sent)
		default:
			err = readInto(req, e, required[i], req.View.Repositories)
		}
		if err != nil {
			return err
		}
	}
	for _, from := range req.View.Spec.MarkdownsFrom {
		if from.OCIRepository == nil {
			continue
		}
		if r, sent := req.View.Repositories[from.OCIRepository.Name]; sent {
			from.OCIRepository.Follow(r, req.Observed.Deployment.BookImage(), req.View.Namespace())
		}
	}

	return nil
}

// readInto reads a required resource from the encoded Resources of an entry, as nil if it does
// not exist. Crossplane has not sent it if the entry holds something else that the Composition
// required under the same name, which the next call replaces. A resource that cannot be
// read is a problem, because the pods would mount it anyway.
func readInto[T any](req *Request, e wire.Entry, r Requirement, into map[string]*T) error {
	into[r.Name] = nil
	for f, err := range wire.Fields(e.Value) {
		if err != nil {
			return err
		}
		if f.Number != resourcesItems || len(f.Bytes) == 0 {
			continue
		}
		object, err := objectOf(f.Bytes)
		if err != nil {
			return err
		}
		var is DesiredResource
		if _, err := objects.Decode(object, &is, nil, objects.Options{}); err != nil {
			return err
		}
		if is.APIVersion == r.APIVersion && is.Kind == r.Kind && is.Metadata.Name == r.Name && is.Metadata.Namespace == req.View.Namespace() {
			into[r.Name] = new(T)
			errs, err := objects.Decode(object, into[r.Name], field.NewPath("spec", "markdownsFrom").Key(r.Name), objects.Options{})
			req.Problems = append(req.Problems, report.ProblemsOf(report.ReasonInvalidSpec, errs)...)

			return err
		}
		delete(into, r.Name)
	}

	return nil
}
