package compose

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// Conflicts returns the conflicts of our resources with those that other functions
// desire, and with those that exist.
func Conflicts(req request.Request, d *Desired) report.Problems {
	p := report.ProblemsOf(report.ReasonPipelineConflict, conflictsInPipeline(req.View, d.Resources, req.Pipeline))

	return append(p, conflictsInCluster(req.View, d.Resources, req.Observed)...)
}

// conflictsInPipeline returns an error for every desired resource of another function
// that has the key of one of ours but is a different resource: one of them would be
// lost.
func conflictsInPipeline(v view.View, resources []ComposedResource, p request.Pipeline) field.ErrorList {
	var errs field.ErrorList
	for _, ours := range resources {
		theirs, desired := p.Find(ours.Key)
		same := ours.part == part{ours.Key, theirs.APIVersion, theirs.Kind, theirs.Metadata.Name} &&
			(theirs.Metadata.Namespace == "" || theirs.Metadata.Namespace == v.Namespace())
		if desired && !same {
			errs = append(errs, field.Forbidden(field.NewPath("desired", "resources").Key(ours.Key),
				"rename it in the other function of the pipeline, which desires a different resource with this name"))
		}
	}

	return errs
}

// conflictsInCluster returns a problem for each existing resource that does not have the
// name that the function composes, for example because another function has composed it
// with the same key. It also returns one if the resources are not in the namespace that
// the Input or the claim of a cluster-scoped XR names. Crossplane never moves or renames a
// resource.
func conflictsInCluster(v view.View, resources []ComposedResource, o request.Observed) report.Problems {
	var p report.Problems
	moved := ""
	for _, ours := range resources {
		actual, ok := o.Identities[ours.Key]
		if ok && actual.Name != "" && actual.Name != ours.Name {
			p = append(p, report.Problem{Reason: report.ReasonResourceConflict, Error: field.Forbidden(field.NewPath("observed", "resources").Key(ours.Key),
				fmt.Sprintf("delete %q, and Crossplane creates it again as %q: Crossplane never renames a resource", report.Short(actual.Name), ours.Name))})
		}
		if moved == "" && actual.Namespace != v.Namespace() {
			moved = actual.Namespace
		}
	}
	if moved != "" && v.Metadata.Namespace == "" {
		p = append(p, report.Problem{Reason: report.ReasonInvalidInput, Error: field.Forbidden(v.NamespacePath(),
			fmt.Sprintf("set namespace %q again, or delete the XR first: the composed resources are there and cannot be moved", report.Short(moved)))})
	}

	return p
}
