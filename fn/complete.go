package fn

import (
	"fmt"

	"github.com/cespare/xxhash/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/book"
)

// annotationIncomplete is set on the Deployment of a book with problems. Its value is a
// hash of the message of BookComplete.
//
// The function checks a book once: while the Deployment has the desired revision, the
// condition keeps its last value. Crossplane does not write conditions and resources
// together, so the condition alone could be that of another book. The annotation is
// written together with the revision.
const annotationIncomplete = "markdownview.fn.crossplane.io/incomplete"

// maxIncomplete is the size in bytes of the longest description of problems.
const maxIncomplete = 4 << 10

// check sets the condition BookComplete, from checked if compose has checked the book
// already. It returns the errors that keep mdBook from building the book.
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
	hash := d.complete.incomplete()
	if d.applied != d.revision && o.deployment != nil {
		hash = o.deployment.Metadata.Annotations.Incomplete // That of the earlier revision.
	}
	if hash != "" {
		metav1.SetMetaDataAnnotation(&d.encoded.ObjectMeta, annotationIncomplete, hash)
	}

	return nil
}

// runs returns whether the observed Deployment has a revision. If so, an earlier call
// composed the same resources.
func (o observed) runs(revision string) bool {
	return o.deployment != nil && o.deployment.revision() == revision
}

// holds returns whether the ConfigMap that the pods read has all of the files. If so,
// an earlier call has checked them.
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

// complete returns the condition BookComplete for the warnings of a book.
func complete(warnings book.Problems) condition {
	if len(warnings.First) == 0 {
		return condition{TypeBookComplete, statusTrue, ReasonComplete, "No problems found in the book"}
	}

	return condition{TypeBookComplete, statusFalse, ReasonIncomplete, lineOf("The book has problems: "+warnings.String(), maxIncomplete)}
}

// complete returns the condition BookComplete of an earlier call, and whether there is
// one. Without one, the condition is NotChecked.
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

// incomplete returns the value of annotationIncomplete for a condition. It is empty if
// the book has no problems.
func (c condition) incomplete() string {
	if c.Status != statusFalse {
		return ""
	}

	return fmt.Sprintf("%016x", xxhash.Sum64String(c.Message))
}
