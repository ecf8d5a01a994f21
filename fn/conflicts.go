package fn

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/internal/wire"
)

// conflicts returns the conflicts of our resources with those that other functions
// desire, and with those that exist.
func conflicts(req request, d *desired) problems {
	p := problemsOf(ReasonPipelineConflict, conflictsInPipeline(req.view, d.resources, req.pipeline))

	return append(p, conflictsInCluster(req.view, d.resources, req.observed)...)
}

// conflictsInPipeline returns an error for every desired resource of another function
// that has the key of one of ours but is a different resource: one of them would be
// lost.
func conflictsInPipeline(v view, resources []composedResource, p pipeline) field.ErrorList {
	var errs field.ErrorList
	for _, ours := range resources {
		for _, e := range p.resources {
			if e.Key == ours.key && !isSame(v, e, ours.part) {
				errs = append(errs, field.Forbidden(field.NewPath("desired", "resources").Key(e.Key),
					"another function of the pipeline desires another resource with this name: rename it there"))
			}
		}
	}

	return errs
}

// isSame returns whether a desired resource of another function is one of ours.
func isSame(v view, e wire.Entry, ours part) bool {
	type identified struct {
		APIVersion string   `json:"apiVersion"`
		Kind       string   `json:"kind"`
		Metadata   identity `json:"metadata"`
	}
	theirs, err := decodeObserved[identified](e)

	return err == nil && part{e.Key, theirs.APIVersion, theirs.Kind, theirs.Metadata.Name} == ours &&
		(theirs.Metadata.Namespace == "" || theirs.Metadata.Namespace == v.namespace())
}

// conflictsInCluster returns a problem for each existing resource that does not have the
// name that the function composes, for example because another function has composed it
// with the same key. It also returns one if the resources are not in the namespace that
// the Input or the claim of a cluster-scoped XR names. Crossplane never moves or renames a
// resource.
func conflictsInCluster(v view, resources []composedResource, o observed) problems {
	var p problems
	moved := ""
	for _, ours := range resources {
		actual, ok := o.identities[ours.key]
		if ok && actual.Name != "" && actual.Name != ours.name {
			p = append(p, problem{ReasonResourceConflict, field.Forbidden(field.NewPath("observed", "resources").Key(ours.key),
				fmt.Sprintf("is named %q, and Crossplane never renames a resource: delete it, and Crossplane creates it again as %q", short(actual.Name), ours.name))})
		}
		if moved == "" && actual.Namespace != v.namespace() {
			moved = actual.Namespace
		}
	}
	if moved != "" && v.Metadata.Namespace == "" {
		p = append(p, problem{ReasonInvalidInput, field.Forbidden(v.namespacePath(),
			fmt.Sprintf("the composed resources are in namespace %q and cannot be moved: set that namespace again, or delete the XR first", short(moved)))})
	}

	return p
}
