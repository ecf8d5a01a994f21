// Package viewtest has MarkdownViews, observed resources and templates for the tests of the
// other packages.
package viewtest

import (
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/objects"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/wire"
)

// Object returns the Struct of a YAML text.
func Object(t *testing.T, text string) *structpb.Struct {
	t.Helper()
	b, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s := &structpb.Struct{}
	if err := s.UnmarshalJSON(b); err != nil {
		t.Fatal(err)
	}

	return s
}

// Encode returns a message in the wire format of protobuf.
func Encode(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatalf("cannot encode a message: %v", err)
	}

	return b
}

// Resource returns the Resource of a YAML text.
func Resource(t *testing.T, text string) *fnv1.Resource {
	t.Helper()

	return &fnv1.Resource{Resource: Object(t, text)}
}

// Entries of managedFields.
const (
	CrossplaneManager = `{manager: apiextensions.crossplane.io/composed/0a1b, fieldsV1: {"f:spec": {"f:replicas": {}, "f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"mdbook\"}": {"f:image": {}}}}}}}}`
	HandManager       = `{manager: kubectl-edit, fieldsV1: {"f:spec": {"f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"mdbook\"}": {"f:image": {}}}}}}}}`
	OtherManager      = `{manager: apiextensions.crossplane.io/composed/0a1b, fieldsV1: {"f:spec": {"f:selector": {}}}}`
)

// ObserveDeployment returns the observed state of a Deployment.
func ObserveDeployment(t *testing.T, text string) request.Observed {
	t.Helper()
	o, err := request.Observe([]wire.Entry{{Key: view.KeyDeployment, Value: Encode(t, Resource(t, text))}})
	if err != nil {
		t.Fatal(err)
	}

	return o
}

// View returns a view that requests two replicas.
func View() view.View {
	v := view.View{}
	v.Metadata.Name, v.Metadata.Namespace = "sample", "default"
	v.Spec.Markdowns = map[string]string{"SUMMARY.md": "- [A](a.md)", "a.md": ""}
	v.Spec.Replicas = ptr.To[int32](2)

	return v
}

// With returns a view with an Input, in YAML.
func With(t *testing.T, input string) view.View {
	t.Helper()
	v := View()
	v.Input = *Decode[v1beta1.Input](t, input)

	return v
}

// Revision is the revision of settledView. It is a literal, so that a test
// fails when revisions change: such a change restarts every pod of every book.
const Revision = "01bc3c27ea1374f4"

// Decode returns the Go value of YAML texts, as the function reads them, each over those
// before it. It returns nil if the first is empty.
func Decode[T any](t *testing.T, texts ...string) *T {
	t.Helper()
	if texts[0] == "" {
		return nil
	}
	s := new(T)
	for _, text := range texts {
		if errs, err := objects.Decode(Encode(t, Object(t, text)), s, nil, objects.Options{}); err != nil || len(errs) > 0 {
			t.Fatalf("cannot decode %s: %v, %v", text, err, errs)
		}
	}

	return s
}

// Messages returns the messages of problems.
func Messages(p report.Problems) []string {
	var out []string
	for _, problem := range p {
		out = append(out, problem.Error.Error())
	}

	return out
}

// Template returns a template of an Input from a YAML text.
func Template(t *testing.T, text string) *runtime.RawExtension {
	t.Helper()
	if text == "" {
		return nil
	}
	b, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}

	return &runtime.RawExtension{Raw: b}
}
