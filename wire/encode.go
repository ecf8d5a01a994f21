package wire

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

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
	v := reflect.ValueOf(from)
	encoderOf(v.Type().Elem())(&w, 1, v.UnsafePointer())
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
func (w *Writer) Object(from any) {
	v := reflect.ValueOf(from)
	w.object(layoutOf(v.Type().Elem()), v.UnsafePointer())
}

// Field writes an entry of a Struct.
func (w *Writer) Field(key string, value any) {
	v := reflect.ValueOf(value)
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	end := w.size
	encoderOf(v.Type())(w, 2, p.UnsafePointer())
	w.Text(1, key)
	w.prefix(1, end)
}

func (w *Writer) object(l *layout, from unsafe.Pointer) {
	for i := len(l.fields) - 1; i >= 0; i-- {
		f := &l.fields[i]
		child := unsafe.Add(from, f.offset)
		if !f.isSet(child) {
			continue
		}
		end := w.size
		f.encoder()(w, 2, child)
		w.Raw(f.key)
		w.prefix(1, end)
	}
}

// An encoder writes a field that holds a Value, from a Go value of one type. There is
// one for each type, which uses the offsets of fields: reflection on all the fields
// that are not set would take most of the time of a call.
type encoder func(w *Writer, number protowire.Number, from unsafe.Pointer)

// encoderOf returns the encoder of a type.
func encoderOf(t reflect.Type) encoder {
	switch t.Kind() {
	case reflect.Pointer:
		elem := encoderOf(t.Elem())

		return func(w *Writer, number protowire.Number, from unsafe.Pointer) {
			elem(w, number, *(*unsafe.Pointer)(from))
		}
	case reflect.String:
		return func(w *Writer, number protowire.Number, from unsafe.Pointer) { w.text(number, *(*string)(from)) }
	case reflect.Bool:
		return enclosed(func(w *Writer, from unsafe.Pointer) { w.Varint(4, protowire.EncodeBool(*(*bool)(from))) })
	case reflect.Int32:
		return enclosed(func(w *Writer, from unsafe.Pointer) { w.number(float64(*(*int32)(from))) })
	case reflect.Int64:
		return enclosed(func(w *Writer, from unsafe.Pointer) { w.number(float64(*(*int64)(from))) })
	case reflect.Struct:
		return encoderOfStruct(t)
	case reflect.Map:
		return encoderOfMap(t)
	case reflect.Slice:
		return encoderOfSlice(t)
	default:
		panic(fmt.Sprintf("cannot encode a %s", t))
	}
}

// enclosed returns an encoder that writes a Value. body writes the field of the Value.
func enclosed(body func(w *Writer, from unsafe.Pointer)) encoder {
	return func(w *Writer, number protowire.Number, from unsafe.Pointer) {
		end := w.size
		body(w, from)
		w.prefix(number, end)
	}
}

func encoderOfStruct(t reflect.Type) encoder {
	switch l := layoutOf(t); {
	case t == reflect.TypeFor[Value]():
		return func(w *Writer, number protowire.Number, from unsafe.Pointer) { w.Bytes(number, (*Value)(from).Encoded) }
	case l.custom:
		return enclosed(func(w *Writer, from unsafe.Pointer) { encodeCustom(w, reflect.NewAt(t, from).Interface()) })
	default:
		return enclosed(func(w *Writer, from unsafe.Pointer) {
			end := w.size
			w.object(l, from)
			w.prefix(5, end)
		})
	}
}

func encoderOfMap(t reflect.Type) encoder {
	if t == reflect.TypeFor[map[string]string]() {
		return enclosed(encodeTexts)
	}
	elem := encoderOf(t.Elem())

	return enclosed(func(w *Writer, from unsafe.Pointer) {
		all, m, value := w.size, reflect.NewAt(t, from).Elem(), reflect.New(t.Elem())
		keys := m.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(b.String(), a.String()) })
		for _, key := range keys {
			value.Elem().Set(m.MapIndex(key))
			end := w.size
			elem(w, 2, value.UnsafePointer())
			w.Text(1, key.String())
			w.prefix(1, end)
		}
		w.prefix(5, all)
	})
}

// encodeTexts writes a map of strings, such as the files of a book.
func encodeTexts(w *Writer, from unsafe.Pointer) {
	texts := *(*map[string]string)(from)
	keys := make([]string, 0, len(texts))
	for key := range texts {
		keys = append(keys, key)
	}
	slices.Sort(keys)

	all := w.size
	for _, key := range slices.Backward(keys) {
		end := w.size
		w.text(2, texts[key])
		w.Text(1, key)
		w.prefix(1, end)
	}
	w.prefix(5, all)
}

func encoderOfSlice(t reflect.Type) encoder {
	if t.Elem().Kind() == reflect.Uint8 {
		return func(w *Writer, number protowire.Number, from unsafe.Pointer) {
			w.text(number, base64.StdEncoding.EncodeToString(*(*[]byte)(from)))
		}
	}
	elem := encoderOf(t.Elem())

	return enclosed(func(w *Writer, from unsafe.Pointer) {
		end, list := w.size, reflect.NewAt(t, from).Elem()
		for i := list.Len() - 1; i >= 0; i-- {
			elem(w, 1, list.Index(i).Addr().UnsafePointer())
		}
		w.prefix(6, end)
	})
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

// isSetFunc returns a function that returns whether a field of a type is written: it
// must not be nil, an empty map or list, a struct without set fields, or the zero of a
// field with omitempty.
func isSetFunc(t reflect.Type, omitEmpty bool) func(unsafe.Pointer) bool {
	switch t.Kind() {
	case reflect.Pointer:
		return func(p unsafe.Pointer) bool { return *(*unsafe.Pointer)(p) != nil }
	case reflect.Slice:
		return func(p unsafe.Pointer) bool { return len(*(*[]struct{})(p)) > 0 }
	case reflect.Map:
		// In memory, a map is a pointer.
		return func(p unsafe.Pointer) bool {
			return *(*unsafe.Pointer)(p) != nil && reflect.NewAt(t, p).Elem().Len() > 0
		}
	default:
		if t.Kind() != reflect.Struct && !omitEmpty {
			return func(unsafe.Pointer) bool { return true }
		}

		return func(p unsafe.Pointer) bool { return !reflect.NewAt(t, p).Elem().IsZero() }
	}
}
