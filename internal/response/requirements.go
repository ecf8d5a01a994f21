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
)

// writeRequired writes the requirements for the ConfigMaps.
func writeRequired(w *objects.Writer, v view.View) {
	for _, name := range slices.Backward(request.Required(v)) {
		w.Entry(requirementsResources, request.RequirementOf(name), func() {
			w.Text(selectorNamespace, v.Namespace())
			w.Text(selectorMatchName, name)
			w.Text(selectorKind, "ConfigMap")
			w.Text(selectorAPIVersion, "v1")
		})
	}
}
