package fn_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-markdownview/internal/compose"
	"github.com/crossplane-contrib/function-markdownview/internal/judge"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// declared returns the fields that a schema declares below one of its properties, with
// their types.
func declared(schema *structpb.Struct, property string) map[string]string {
	out := map[string]string{}
	var walk func(prefix string, s *structpb.Struct)
	walk = func(prefix string, s *structpb.Struct) {
		for name, child := range s.GetFields()["properties"].GetStructValue().GetFields() {
			out[prefix+name] = schemaType(child.GetStructValue())
			walk(prefix+name+".", child.GetStructValue())
		}
	}
	walk("", schema.GetFields()["properties"].GetStructValue().GetFields()[property].GetStructValue())

	return out
}

func schemaType(s *structpb.Struct) string {
	if s.GetFields()["x-kubernetes-int-or-string"].GetBoolValue() {
		return "quantity"
	}
	kind := s.GetFields()["type"].GetStringValue()
	if of := s.GetFields()["additionalProperties"].GetStructValue(); of != nil {
		return kind + " of " + schemaType(of)
	}

	return kind
}

// typed returns the fields of a Go struct with their types, named as in a schema.
func typed(object any) map[string]string {
	out := map[string]string{}
	var walk func(prefix string, t reflect.Type)
	walk = func(prefix string, t reflect.Type) {
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			child := t.Field(i).Type
			out[prefix+name] = goType(child)
			if child.Kind() == reflect.Struct {
				walk(prefix+name+".", child)
			}
		}
	}
	walk("", reflect.TypeOf(object))

	return out
}

func goType(t reflect.Type) string {
	if t.Implements(reflect.TypeFor[json.Marshaler]()) {
		return "quantity"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return goType(t.Elem())
	case reflect.Map:
		return "object of " + goType(t.Elem())
	case reflect.Struct:
		return "object"
	case reflect.Slice:
		return "array"
	case reflect.Int32, reflect.Int64:
		return "integer"
	default:
		return t.Kind().String()
	}
}

// TestXRD compares the Go type of the spec, and the status fields that the function writes, with
// the XRD of the Configuration. Packages files and validate compare the messages of its rules.
func TestXRD(t *testing.T) {
	b, err := os.ReadFile("../package/configuration/definition.yaml")
	if err != nil {
		t.Fatal(err)
	}
	xrd := &structpb.Struct{}
	j, err := yaml.YAMLToJSON(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := xrd.UnmarshalJSON(j); err != nil {
		t.Fatal(err)
	}
	schema := xrd.GetFields()["spec"].GetStructValue().GetFields()["versions"].GetListValue().GetValues()[0].
		GetStructValue().GetFields()["schema"].GetStructValue().GetFields()["openAPIV3Schema"].GetStructValue()

	t.Run("Spec", func(t *testing.T) {
		want := declared(schema, "spec")
		if diff := cmp.Diff(want, typed(view.Spec{})); diff != "" || want["book.title"] != "string" {
			t.Errorf("spec: -in the XRD, +in the Go type:\n%s", diff)
		}
	})

	t.Run("Status", func(t *testing.T) {
		want := map[string]string{
			"status": "string", "replicas": "integer", "readyReplicas": "integer",
			"selector": "string", "observedGeneration": "integer", "url": "string",
		}
		if diff := cmp.Diff(want, declared(schema, "status")); diff != "" {
			t.Errorf("status fields in the XRD: Crossplane can apply only these: -want, +got:\n%s", diff)
		}
		d, _ := compose.Compose(viewtest.View(), request.Observed{})
		got := map[string]string{}
		for name, value := range judge.StatusOf(viewtest.View(), request.Observed{}, d, judge.Readiness{}) {
			got[string(name)] = goType(reflect.TypeOf(value))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("status fields that the function writes: -want, +got:\n%s", diff)
		}
	})
}
