package response

import (
	"slices"

	"github.com/crossplane-contrib/function-markdownview/internal/objects"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

const (
	requirementsSchemas = 3
	selectorAPIVersion  = 1
	selectorKind        = 2
)

// writeSchema writes the requirement for the schema of the XR.
func writeSchema(w *objects.Writer, v view.View) {
	w.Entry(requirementsSchemas, request.RequirementXR, func() {
		w.Text(selectorKind, v.Kind)
		w.Text(selectorAPIVersion, v.APIVersion)
	})
}

// The function reads the ConfigMaps and the OCIRepository of spec.markdownsFrom as required
// resources, only in the namespace of the pods. Crossplane reads them with its own
// permissions, so another namespace would let users read those that they have no permission
// to read.
//
// Crossplane calls the function again with the resources that a response requires, and
// sends them with the first call of later reconciles. Since v2.4 it also watches them:
// https://github.com/crossplane/crossplane/blob/v2.4.0/internal/xfn/required_resources.go
const (
	requirementsResources = 2
	selectorMatchName     = 3
	selectorNamespace     = 5
)

// writeRequired writes the requirements for these resources.
func writeRequired(w *objects.Writer, v view.View) {
	for _, r := range slices.Backward(request.Required(v)) {
		w.Entry(requirementsResources, r.Key(), func() {
			w.Text(selectorNamespace, v.Namespace())
			w.Text(selectorMatchName, r.Name)
			w.Text(selectorKind, r.Kind)
			w.Text(selectorAPIVersion, r.APIVersion)
		})
	}
}
