package compose

import (
	"fmt"

	"github.com/cespare/xxhash/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/book"
	"github.com/crossplane-contrib/function-markdownview/internal/files"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// maxIncomplete is the size in bytes of the longest description of problems.
const maxIncomplete = 4 << 10

// check sets the condition BookComplete, from checked if compose has checked the book
// already. It returns the errors that keep mdBook from building the book.
func (d *Desired) check(v view.View, o request.Observed, f *files.Files, checked *book.Problems) field.ErrorList {
	last, ok := LastComplete(v.Last)
	switch {
	case v.Spec.BookImage() != nil:
		d.Complete = inImage(*v.Spec.BookImage())
	case ok && runs(o, d.Revision) && o.Deployment.Metadata.Annotations.Incomplete == incompleteHash(last):
		d.Complete = last
	case checked != nil:
		d.Complete = completeOf(*checked)
	default:
		errs, warnings := f.Check()
		if len(errs) > 0 {
			return errs
		}
		d.Complete = completeOf(warnings)
	}
	hash := incompleteHash(d.Complete)
	if d.Applied != d.Revision && o.Deployment != nil {
		hash = o.Deployment.Metadata.Annotations.Incomplete // That of the earlier revision.
	}
	if hash != "" {
		metav1.SetMetaDataAnnotation(&d.encoded.ObjectMeta, view.AnnotationIncomplete, hash)
	}

	return nil
}

// runs returns whether the observed Deployment has a revision. If so, an earlier call
// composed the same resources.
func runs(o request.Observed, revision string) bool {
	return o.Deployment != nil && o.Deployment.Revision() == revision
}

// holds returns whether the ConfigMap that the pods read has all of the files. If so,
// an earlier call has checked them.
func holds(o request.Observed, f *files.Files) bool {
	if o.Deployment == nil || o.ConfigMaps[o.Deployment.ConfigMap()] == nil {
		return false
	}
	cm := o.ConfigMaps[o.Deployment.ConfigMap()]

	return view.Holds(cm.Data, f.Data) && view.Holds(cm.BinaryData, f.BinaryData)
}

// summary returns the SUMMARY.md that the pods read.
func summary(o request.Observed) string {
	if o.Deployment == nil || o.ConfigMaps[o.Deployment.ConfigMap()] == nil {
		return ""
	}

	return o.ConfigMaps[o.Deployment.ConfigMap()].Data[view.SummaryName]
}

// completeOf returns the condition BookComplete for the warnings of a book.
func completeOf(warnings book.Problems) report.Condition {
	if len(warnings.First) == 0 {
		return report.Condition{Type: report.TypeBookComplete, Status: report.True, Reason: report.ReasonComplete, Message: "No problems found in the book"}
	}

	return report.Condition{Type: report.TypeBookComplete, Status: report.False, Reason: report.ReasonIncomplete, Message: report.LineOf("The book has problems: "+warnings.String(), maxIncomplete)}
}

// LastComplete returns the condition BookComplete of an earlier call, and whether there is
// one. Without one, the condition is NotChecked.
func LastComplete(l view.LastStatus) (report.Condition, bool) {
	c := l.Condition(report.TypeBookComplete)
	switch {
	case c.Reason == report.ReasonComplete:
		return completeOf(book.Problems{}), true
	case c.Status == report.False && c.Reason == report.ReasonIncomplete && c.Message != "":
		c.Message = report.LineOf(c.Message, maxIncomplete)

		return c, true
	default:
		return report.Condition{Type: report.TypeBookComplete, Status: report.Unknown, Reason: report.ReasonNotChecked, Message: "First fix the errors in the condition Degraded: the book has not been checked yet"}, false
	}
}

// incompleteHash returns the value of view.AnnotationIncomplete for a condition. It is empty if
// the book has no problems.
func incompleteHash(c report.Condition) string {
	if c.Status != report.False {
		return ""
	}

	return fmt.Sprintf("%016x", xxhash.Sum64String(c.Message))
}

// inImage returns the condition BookComplete of a book in an image.
func inImage(image view.ImageSource) report.Condition {
	message := fmt.Sprintf("The function does not read image %s, which holds the book", report.Line(image.Reference))
	if !view.Pinned(image.Reference) {
		message += ". Name a digest: a new image with the same tag is not rolled out"
	}

	return report.Condition{Type: report.TypeBookComplete, Status: report.Unknown, Reason: report.ReasonNotChecked, Message: message}
}
