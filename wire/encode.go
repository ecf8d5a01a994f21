package wire

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
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
	w.entry(key, v)
}

func (w *Writer) entry(key string, v reflect.Value) {
	end := w.size
	w.value(2, v)
	w.Text(1, key)
	w.prefix(1, end)
}

func (w *Writer) object(l *layout, from reflect.Value) {
	for _, f := range slices.Backward(l.fields) {
		if v := from.FieldByIndex(f.index); f.isSet(v) {
			w.entry(f.name, v)
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
		switch l := layoutOf(from.Type()); {
		case from.Type() == reflect.TypeFor[Value]():
			w.Raw(from.Field(0).Bytes())
		case l.custom:
			w.custom(from.Addr().Interface())
		default:
			w.object(l, from)
			w.prefix(5, end)
		}
	case reflect.Map:
		w.entries(from)
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

// entries writes the entries of a map, sorted by key.
func (w *Writer) entries(from reflect.Value) {
	if texts, ok := from.Addr().Interface().(*map[string]string); ok {
		keys := slices.AppendSeq(make([]string, 0, len(*texts)), maps.Keys(*texts))
		slices.Sort(keys)
		for _, key := range slices.Backward(keys) {
			w.Message(1, func() {
				w.Message(2, func() { w.Text(3, (*texts)[key]) })
				w.Text(1, key)
			})
		}

		return
	}
	keys := from.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(b.String(), a.String()) })
	elem := reflect.New(from.Type().Elem()).Elem()
	for _, key := range keys {
		elem.Set(from.MapIndex(key))
		w.entry(key.String(), elem)
	}
}

// custom writes the field of the Value of a type with a JSON form of its own.
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
		w.json(from)
	}
}

// json writes the field of the Value of a type whose JSON is a string, a number or null,
// such as a time or a duration. A time that is zero is null.
func (w *Writer) json(from any) {
	b, err := json.Marshal(from)
	var form any
	if err == nil {
		err = json.Unmarshal(b, &form)
	}
	switch form := form.(type) {
	case nil:
		w.Varint(1, 0)
	case string:
		w.Text(3, form)
	case float64:
		w.number(form)
	default:
		err = fmt.Errorf("it is a %T in JSON", form)
	}
	if err != nil {
		// Encoding the types of Kubernetes never fails.
		panic(fmt.Sprintf("cannot encode a %T: %v", from, err))
	}
}
