package fn

import (
	"encoding/json"
	"reflect"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"
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
