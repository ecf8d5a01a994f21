package objects

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/crossplane-contrib/function-markdownview/internal/wire"
)

// A Value is an encoded Value. A field of this type is written unchanged.
type Value struct{ Encoded []byte }

// Encode returns the encoded Value of the Go value to which from points.
func Encode(from any) Value {
	var w Writer
	w.value(reflect.ValueOf(from).Elem())
	parts := w.Parts()
	if len(parts) == 1 {
		return Value{parts[0]}
	}

	return Value{slices.Concat(parts...)}
}

// A Writer writes messages that hold objects.
type Writer struct{ wire.Writer }

// Object writes the fields of a Struct: the fields that are set in the Go struct to
// which from points, by its JSON tags. It writes no null, no zero struct, no empty map
// or list, and no zero of a field with omitempty. It writes a pointer to a zero value.
func (w *Writer) Object(from any) {
	v := reflect.ValueOf(from).Elem()
	w.object(layoutOf(v.Type()), v)
}

// Field writes an entry of a Struct.
func (w *Writer) Field(key string, value any) {
	// A copy in a variable has an address.
	v := reflect.New(reflect.TypeOf(value)).Elem()
	v.Set(reflect.ValueOf(value))
	w.field(key, v)
}

// ObjectField writes an entry of a Struct whose value is a Struct. body writes the
// entries of the inner Struct.
func (w *Writer) ObjectField(key string, body func()) {
	w.Entry(1, key, func() { w.Message(5, body) })
}

func (w *Writer) field(key string, v reflect.Value) {
	w.Entry(1, key, func() { w.value(v) })
}

func (w *Writer) object(l *layout, from reflect.Value) {
	for _, f := range slices.Backward(l.fields) {
		if v := from.FieldByIndex(f.index); f.isSet(v) {
			w.field(f.name, v)
		}
	}
}

// isSet returns whether a field is written: it must not be nil, an empty map or list, a
// zero struct, or the zero of a field with omitempty.
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

// value writes the field of a Value. A struct has an address.
func (w *Writer) value(from reflect.Value) {
	switch from.Kind() {
	case reflect.Pointer, reflect.Interface:
		w.value(from.Elem())
	case reflect.Invalid: // What a nil pointer or interface holds.
		w.Varint(1, 0)
	case reflect.String:
		w.Text(3, from.String())
	case reflect.Bool:
		w.Varint(4, protowire.EncodeBool(from.Bool()))
	case reflect.Int32, reflect.Int64:
		w.number(float64(from.Int()))
	case reflect.Float64:
		w.number(from.Float())
	case reflect.Struct:
		switch l := layoutOf(from.Type()); {
		case from.Type() == reflect.TypeFor[Value]():
			w.Raw(from.Field(0).Bytes())
		case l.custom:
			w.custom(from.Addr().Interface())
		default:
			w.Message(5, func() { w.object(l, from) })
		}
	case reflect.Map:
		w.Message(5, func() { w.entries(from) })
	case reflect.Slice:
		w.list(from)
	default:
		panic(fmt.Sprintf("cannot encode a %s", from.Type()))
	}
}

func (w *Writer) number(f float64) { w.Fixed64(2, math.Float64bits(f)) }

// list writes a list, or bytes as text in base64.
func (w *Writer) list(from reflect.Value) {
	if from.Type().Elem().Kind() == reflect.Uint8 {
		w.Text(3, base64.StdEncoding.EncodeToString(from.Bytes()))

		return
	}
	w.Message(6, func() {
		for i := from.Len() - 1; i >= 0; i-- {
			w.Message(1, func() { w.value(from.Index(i)) })
		}
	})
}

// entries writes the entries of a map, sorted by key.
func (w *Writer) entries(from reflect.Value) {
	if texts, ok := from.Interface().(map[string]string); ok {
		keys := slices.AppendSeq(make([]string, 0, len(texts)), maps.Keys(texts))
		slices.Sort(keys)
		for _, key := range slices.Backward(keys) {
			w.Entry(1, key, func() { w.Text(3, texts[key]) })
		}

		return
	}
	keys := from.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(b.String(), a.String()) })
	elem := reflect.New(from.Type().Elem()).Elem()
	for _, key := range keys {
		elem.Set(from.MapIndex(key))
		w.field(key.String(), elem)
	}
}

// custom writes the field of the Value of a type with a JSON form of its own, such as a
// time.
func (w *Writer) custom(from any) {
	switch from := from.(type) {
	// Every response has these two types, so they are not encoded as JSON first.
	case *resource.Quantity:
		w.Text(3, from.String())
	case *intstr.IntOrString:
		if from.Type == intstr.Int {
			w.number(float64(from.IntVal))
		} else {
			w.Text(3, from.StrVal)
		}
	default:
		var form any
		b, err := json.Marshal(from)
		if err == nil {
			err = json.Unmarshal(b, &form)
		}
		if err != nil {
			// Encoding the types of Kubernetes never fails.
			panic(fmt.Sprintf("cannot encode a %T: %v", from, err))
		}
		w.value(reflect.ValueOf(form))
	}
}
