package wire

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A Value is an encoded Value. A field of this type is written unchanged.
type Value struct{ Encoded []byte }

// Encode returns the encoded Value of the Go value to which from points.
func Encode(from any) Value {
	var w Writer
	w.value(1, reflect.ValueOf(from).Elem())
	f, _, _ := consume(w.joined())

	return Value{f.Bytes}
}

// Map returns the Go struct to which from points as a tree of maps, like that of its JSON.
func Map(from any) map[string]any {
	var w Writer
	w.Object(from)
	s := &structpb.Struct{}
	if err := proto.Unmarshal(w.joined(), s); err != nil {
		panic(fmt.Sprintf("cannot decode what was encoded: %v", err))
	}

	return s.AsMap()
}

// Object writes the fields of a Struct: the fields that are set in the Go struct to
// which from points, by its JSON tags. It writes no null, no empty struct, map or list,
// and no zero of a field with omitempty. It writes a pointer to a zero value.
func (w *Writer) Object(from any) { w.object(reflect.ValueOf(from).Elem()) }

// Field writes an entry of a Struct.
func (w *Writer) Field(key string, value any) {
	// A copy in a variable has an address.
	v := reflect.New(reflect.TypeOf(value)).Elem()
	v.Set(reflect.ValueOf(value))
	w.entry(key, v)
}

func (w *Writer) entry(key string, v reflect.Value) {
	end := w.size
	w.value(2, v)
	w.Text(1, key)
	w.prefix(1, end)
}

func (w *Writer) object(from reflect.Value) {
	for _, f := range slices.Backward(layoutOf(from.Type()).fields) {
		if v := from.FieldByIndex(f.index); f.isSet(v) {
			w.entry(f.name, v)
		}
	}
}

// isSet returns whether a field is written: it must not be nil, an empty map or list, a
// struct without set fields, or the zero of a field with omitempty.
func (f *jsonField) isSet(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Map, reflect.Slice:
		return v.Len() > 0
	case reflect.Struct, reflect.Pointer:
		return !v.IsZero()
	default:
		return !f.omitEmpty || !v.IsZero()
	}
}

// value writes a field that holds a Value. from has an address.
func (w *Writer) value(number protowire.Number, from reflect.Value) {
	end := w.size
	switch from.Kind() {
	case reflect.Pointer:
		w.value(number, from.Elem())

		return
	case reflect.String:
		w.Text(3, from.String())
	case reflect.Bool:
		w.Varint(4, protowire.EncodeBool(from.Bool()))
	case reflect.Int32, reflect.Int64:
		w.number(float64(from.Int()))
	case reflect.Struct:
		switch {
		case from.Type() == reflect.TypeFor[Value]():
			w.Raw(from.Field(0).Bytes())
		case layoutOf(from.Type()).custom:
			encodeCustom(w, from.Addr().Interface())
		default:
			w.object(from)
			w.prefix(5, end)
		}
	case reflect.Map:
		keys := from.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(b.String(), a.String()) })
		elem := reflect.New(from.Type().Elem()).Elem()
		for _, key := range keys {
			elem.Set(from.MapIndex(key))
			w.entry(key.String(), elem)
		}
		w.prefix(5, end)
	case reflect.Slice:
		if from.Type().Elem().Kind() == reflect.Uint8 {
			w.Text(3, base64.StdEncoding.EncodeToString(from.Bytes()))

			break
		}
		for i := from.Len() - 1; i >= 0; i-- {
			w.value(1, from.Index(i))
		}
		w.prefix(6, end)
	default:
		panic(fmt.Sprintf("cannot encode a %s", from.Type()))
	}
	w.prefix(number, end)
}

// encodeCustom writes the Value of a type with a JSON form of its own.
func encodeCustom(w *Writer, from any) {
	switch v := from.(type) {
	// Every response has these two types, so they are not encoded as JSON first.
	case *resource.Quantity:
		w.Text(3, v.String())
	case *intstr.IntOrString:
		if v.Type == intstr.String {
			w.Text(3, v.StrVal)

			return
		}
		w.number(float64(v.IntVal))
	case json.Marshaler:
		out := &structpb.Value{}
		b, err := v.MarshalJSON()
		if err == nil {
			err = out.UnmarshalJSON(b)
		}
		if err == nil {
			b, err = proto.MarshalOptions{Deterministic: true}.Marshal(out)
		}
		if err != nil {
			// Encoding the types of Kubernetes (times, durations) never fails.
			panic(fmt.Sprintf("cannot encode a %T: %v", v, err))
		}
		w.Raw(b)
	}
}
