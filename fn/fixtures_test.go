package fn_test

import (
	"os"
	"path/filepath"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-markdownview/test/cluster"
)

type object = cluster.Object

var (
	at, textAt, listAt     = cluster.At, cluster.TextAt, cluster.ListAt
	child, metadata, clone = cluster.Child, cluster.Metadata, cluster.Clone
	revisionOf, mergeInto  = cluster.RevisionOf, cluster.Merge
	toStruct, isFatal      = cluster.Struct, cluster.IsFatal
)

// newCluster returns a simulated cluster that checks the laws for each call.
func newCluster(t testing.TB, xr, input object) *cluster.Cluster {
	t.Helper()

	return cluster.New(t, xr, input, checkLaws)
}

// sharing returns a cluster with a MarkdownView and with the ConfigMaps that its spec
// can name.
func sharing(t testing.TB, spec, input object, configMaps map[string]object) *cluster.Cluster {
	t.Helper()
	c := newCluster(t, viewOf(spec), input)
	c.Shared = configMaps

	return c
}

func viewOf(spec object) object {
	return object{
		"apiVersion": "markdownview.fn.crossplane.io/v1alpha1",
		"kind":       "MarkdownView",
		"metadata":   object{"name": "sample", "namespace": "docs"},
		"spec":       spec,
	}
}

// inputWith returns an Input with some fields.
func inputWith(fields object) object {
	in := object{"apiVersion": "markdownview.fn.crossplane.io/v1beta1", "kind": "Input"}
	mergeInto(in, fields)

	return in
}

func book(text string) object {
	return object{"SUMMARY.md": "# Summary\n\n- [Page](page.md)\n", "page.md": text}
}

func data(files object) object { return object{"data": files} }

// from returns an entry of spec.markdownsFrom for a ConfigMap, and image one for an image.
func from(name, path string) object {
	return object{"configMap": object{"name": name}, "path": path}
}

func image(tag string) object {
	return object{"image": object{"reference": "registry.example.com/book" + tag}}
}

func toState(t testing.TB, key string, o object) *fnv1.State {
	t.Helper()

	return &fnv1.State{Resources: map[string]*fnv1.Resource{key: {Resource: toStruct(t, o)}}}
}

// valueOf returns a Value. It keeps Values that are already in value, at any depth.
func valueOf(t testing.TB, value any) *structpb.Value {
	t.Helper()
	switch value := value.(type) {
	case *structpb.Value:
		return value
	case object:
		fields := map[string]*structpb.Value{}
		for name, child := range value {
			fields[name] = valueOf(t, child)
		}

		return structpb.NewStructValue(&structpb.Struct{Fields: fields})
	default:
		v, err := structpb.NewValue(value)
		if err != nil {
			t.Fatalf("cannot create a Value: %v", err)
		}

		return v
	}
}

// readYAML returns the object in a file of the repository.
func readYAML(t testing.TB, path string) object {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", path))
	if err != nil {
		t.Fatal(err)
	}
	out := object{}
	if err := yaml.Unmarshal(b, &out); err != nil {
		t.Fatalf("cannot decode %s: %v", path, err)
	}

	return out
}
