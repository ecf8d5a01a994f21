package fn

import (
	"fmt"

	"github.com/cespare/xxhash/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/book"
)

// annotationIncomplete is on the Deployment of a book with problems. It holds a hash
// of the message of BookComplete.
//
// A book is parsed once: while the Deployment has the desired revision, the condition
// repeats what it was. Conditions and resources are not written together, so a
// condition alone could stay that of another book. The annotation is written
// together with the revision.
const annotationIncomplete = "markdownview.fn.crossplane.io/incomplete"

// maxIncomplete is how many bytes of problems are described.
const maxIncomplete = 4 << 10

// check sets the condition of the book, from its warnings where it has been checked
// already. The errors are those of a book that cannot be served.
func (d *desired) check(v view, o observed, f *files, checked *book.Problems) field.ErrorList {
	last, ok := v.last.complete()
	switch {
	case v.Spec.bookImage() != nil:
		d.complete = v.Spec.bookImage().inImage()
	case ok && o.runs(d.revision) && o.deployment.Metadata.Annotations.Incomplete == last.incomplete():
		d.complete = last
	case checked != nil:
		d.complete = complete(*checked)
	default:
		errs, warnings := f.check()
		if len(errs) > 0 {
			return errs
		}
		d.complete = complete(warnings)
	}
	if hash := d.complete.incomplete(); hash != "" {
		metav1.SetMetaDataAnnotation(&d.encoded.ObjectMeta, annotationIncomplete, hash)
	}

	return nil
}

// runs returns whether the Deployment has a revision: then what is desired was
// composed before.
func (o observed) runs(revision string) bool {
	return o.deployment != nil && o.deployment.revision() == revision
}

// holds returns whether the ConfigMap that the pods read has all of the files: then
// they were checked before.
func (o observed) holds(f *files) bool {
	if o.deployment == nil || o.configMaps[o.deployment.configMap()] == nil {
		return false
	}
	cm := o.configMaps[o.deployment.configMap()]

	return holds(cm.Data, f.data) && holds(cm.BinaryData, f.binaryData)
}

// summary returns the SUMMARY.md that the pods read.
func (o observed) summary() string {
	if o.deployment == nil || o.configMaps[o.deployment.configMap()] == nil {
		return ""
	}

	return o.configMaps[o.deployment.configMap()].Data[summary]
}

// complete returns the condition of a book that has some problems, or none.
func complete(warnings book.Problems) condition {
	if len(warnings.First) == 0 {
		return condition{TypeBookComplete, statusTrue, ReasonComplete, "No problems found in the book"}
	}

	return condition{TypeBookComplete, statusFalse, ReasonIncomplete, lineOf("The book has problems: "+warnings.String(), maxIncomplete)}
}

// complete returns the condition as it was, and whether it was known.
func (l lastStatus) complete() (condition, bool) {
	c := l.condition(TypeBookComplete)
	switch {
	case c.Status == statusTrue && c.Reason == ReasonComplete:
		return complete(book.Problems{}), true
	case c.Status == statusFalse && c.Reason == ReasonIncomplete && c.Message != "":
		c.Message = lineOf(c.Message, maxIncomplete)

		return c, true
	default:
		return condition{TypeBookComplete, statusUnknown, ReasonNotChecked, "The book is not checked while there are errors: see the condition Degraded"}, false
	}
}

// incomplete returns the value of annotationIncomplete for the condition. It is
// empty where there is no problem.
func (c condition) incomplete() string {
	if c.Status != statusFalse {
		return ""
	}

	return fmt.Sprintf("%016x", xxhash.Sum64String(c.Message))
}
