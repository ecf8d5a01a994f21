package fn_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/internal/compose"
	"github.com/crossplane-contrib/function-markdownview/internal/judge"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// schemaOf returns the schema in the XRD of the Configuration.
func schemaOf(t *testing.T) any {
	t.Helper()
	versions := listAt(readYAML(t, "package/configuration/definition.yaml"), "spec", "versions")

	return at(versions[0], "schema", "openAPIV3Schema")
}

// declared returns the fields that a schema declares below one of its properties, with
// their types.
func declared(schema any, property string) map[string]string {
	out := map[string]string{}
	var walk func(prefix string, s any)
	walk = func(prefix string, s any) {
		properties, _ := at(s, "properties").(object)
		for name, child := range properties {
			out[prefix+name] = schemaType(child)
			walk(prefix+name+".", child)
		}
	}
	walk("", at(schema, "properties", property))

	return out
}

func schemaType(s any) string {
	if at(s, "x-kubernetes-int-or-string") == true {
		return "quantity"
	}
	if of := at(s, "additionalProperties"); of != nil {
		return textAt(s, "type") + " of " + schemaType(of)
	}

	return textAt(s, "type")
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
	schema := schemaOf(t)
	want := declared(schema, "spec")
	if diff := cmp.Diff(want, typed(view.Spec{})); diff != "" || want["book.title"] != "string" {
		t.Errorf("spec: -in the XRD, +in the Go type:\n%s", diff)
	}
	want = map[string]string{
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
}
