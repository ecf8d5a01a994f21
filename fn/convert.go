package fn

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
)

// The libraries at hand convert between Structs and Go values by way of JSON
// text or of nested maps. Both walk everything that was observed, managedFields
// included, and copy a book several times. These two conversions walk the Go
// type instead: what a type does not declare is never looked at, and strings
// are shared with the request.

// A mode says what becomes of a field that the Go type does not know.
type mode int

const (
	// lenient leaves it alone: it belongs to others.
	lenient mode = iota
	// strict makes it a fault: it is a typo.
	strict
	// patch does too, but for the directives of a strategic merge patch.
	patch
)

// decode reads v into the Go value that into points to, along its JSON tags. It
// returns a fault for every value of a wrong type, and for every field that the
// mode does not allow.
func decode(v *structpb.Value, into any, path *field.Path, m mode) field.ErrorList {
	d := decoder{mode: m}
	d.value(v, reflect.ValueOf(into).Elem(), path)

	return d.faults
}

type decoder struct {
	mode   mode
	faults field.ErrorList
}

func (d *decoder) fault(path *field.Path, detail string) {
	d.faults = append(d.faults, field.TypeInvalid(path, field.OmitValueType{}, detail))
}

func (d *decoder) value(v *structpb.Value, into reflect.Value, path *field.Path) {
	if isNull(v) {
		return
	}
	if into.Kind() == reflect.Pointer {
		elem, faults := reflect.New(into.Type().Elem()), len(d.faults)
		d.value(v, elem.Elem(), path)
		// A number that cannot be read is not zero. An object holds what of it
		// could be read.
		if len(d.faults) == faults || elem.Elem().Kind() == reflect.Struct {
			into.Set(elem)
		}

		return
	}

	switch into.Kind() {
	case reflect.String:
		s, ok := v.GetKind().(*structpb.Value_StringValue)
		if !ok {
			d.fault(path, "must be a string")

			return
		}
		into.SetString(s.StringValue)
	case reflect.Bool:
		b, ok := v.GetKind().(*structpb.Value_BoolValue)
		if !ok {
			d.fault(path, "must be true or false")

			return
		}
		into.SetBool(b.BoolValue)
	case reflect.Int32, reflect.Int64:
		d.integer(v, into, path)
	case reflect.Struct:
		if layoutOf(into.Type()).custom {
			u, _ := into.Addr().Interface().(json.Unmarshaler)
			d.unmarshal(v, u, path)

			return
		}
		d.object(v, into, path)
	case reflect.Map:
		d.stringMap(v, into, path)
	case reflect.Slice:
		d.list(v, into, path)
	default:
		// The Go types that are decoded are this package's choice, and each
		// has a test.
		panic(fmt.Sprintf("cannot decode into a %s", into.Type()))
	}
}

// integer reads a number. Structs hold every number as a float64.
func (d *decoder) integer(v *structpb.Value, into reflect.Value, path *field.Path) {
	n, ok := v.GetKind().(*structpb.Value_NumberValue)
	if !ok || n.NumberValue != math.Trunc(n.NumberValue) {
		d.fault(path, "must be a whole number")

		return
	}
	// Beyond 2^53 a float64 is no longer exact, and a conversion may overflow.
	if math.Abs(n.NumberValue) > 1<<53 || into.OverflowInt(int64(n.NumberValue)) {
		d.fault(path, "is out of range")

		return
	}
	into.SetInt(int64(n.NumberValue))
}

// isDirective returns whether a field is one of a strategic merge patch itself.
func (d *decoder) isDirective(name string) bool {
	return d.mode == patch && strings.HasPrefix(name, "$")
}

// directive adds a fault for a directive, unless it is one that a person writes.
// With those that kubectl computes, for the order of lists, the result of a merge
// depends on the order in which Go walks a map, and some values make it panic.
func (d *decoder) directive(name string, v *structpb.Value, path *field.Path) {
	switch name {
	case "$patch":
		if s := v.GetStringValue(); s != "replace" && s != "delete" {
			d.faults = append(d.faults, field.NotSupported(path.Child(name), field.OmitValueType{}, []string{"replace", "delete"}))
		}
	case "$retainKeys":
		d.value(v, reflect.ValueOf(new([]string)).Elem(), path.Child(name))
	default:
		d.faults = append(d.faults, field.Forbidden(path.Child(short(name)), "unknown directive: use $patch or $retainKeys, or leave it out"))
	}
}

func (d *decoder) object(v *structpb.Value, into reflect.Value, path *field.Path) {
	s, ok := v.GetKind().(*structpb.Value_StructValue)
	if !ok {
		d.fault(path, "must be an object")

		return
	}

	known := layoutOf(into.Type()).fields
	for _, f := range known {
		if child, ok := s.StructValue.GetFields()[f.name]; ok {
			d.value(child, into.FieldByIndex(f.index), path.Child(f.name))
		}
	}
	if d.mode == lenient {
		return
	}
	for name, child := range s.StructValue.GetFields() {
		if d.isDirective(name) {
			d.directive(name, child, path)

			continue
		}
		if !slices.ContainsFunc(known, func(f jsonField) bool { return f.name == name }) {
			d.faults = append(d.faults, field.Forbidden(path.Child(name), "unknown field: use one of "+names(known)))
		}
	}
}

func (d *decoder) stringMap(v *structpb.Value, into reflect.Value, path *field.Path) {
	s, ok := v.GetKind().(*structpb.Value_StructValue)
	if !ok {
		d.fault(path, "must be an object")

		return
	}

	if m, ok := into.Addr().Interface().(*map[string]string); ok {
		*m = make(map[string]string, len(s.StructValue.GetFields()))
		for k, child := range s.StructValue.GetFields() {
			if isNull(child) {
				continue
			}
			if d.isDirective(k) {
				d.directive(k, child, path)

				continue
			}
			text, ok := child.GetKind().(*structpb.Value_StringValue)
			if !ok {
				d.fault(path.Key(k), "must be a string")

				continue
			}
			(*m)[k] = text.StringValue
		}

		return
	}

	into.Set(reflect.MakeMapWithSize(into.Type(), len(s.StructValue.GetFields())))
	for k, child := range s.StructValue.GetFields() {
		if isNull(child) {
			continue
		}
		if d.isDirective(k) {
			d.directive(k, child, path)

			continue
		}
		elem := reflect.New(into.Type().Elem()).Elem()
		d.value(child, elem, path.Key(k))
		into.SetMapIndex(reflect.ValueOf(k).Convert(into.Type().Key()), elem)
	}
}

func (d *decoder) list(v *structpb.Value, into reflect.Value, path *field.Path) {
	if b, ok := into.Addr().Interface().(*[]byte); ok {
		text, ok := v.GetKind().(*structpb.Value_StringValue)
		var err error
		if ok {
			*b, err = base64.StdEncoding.DecodeString(text.StringValue)
		}
		if !ok || err != nil {
			d.fault(path, "must be text in base64")
		}

		return
	}

	l, ok := v.GetKind().(*structpb.Value_ListValue)
	if !ok {
		d.fault(path, "must be a list")

		return
	}
	into.Set(reflect.MakeSlice(into.Type(), len(l.ListValue.GetValues()), len(l.ListValue.GetValues())))
	for i, child := range l.ListValue.GetValues() {
		if d.mode != lenient && isNull(child) {
			d.fault(path.Index(i), "must not be null")
		}
		d.value(child, into.Index(i), path.Index(i))
	}
}

// quantity matches all quantities but those with exponents so long that to
// compare them would take minutes. The XRD has the same bounds.
var quantity = regexp.MustCompile(`^"?[-+]?[0-9.]{1,32}([a-zA-Z]{0,2}|[eE][-+]?[0-9]{1,2})"?$`)

// unmarshal reads a value whose Go type has a JSON form of its own, such as a
// quantity.
func (d *decoder) unmarshal(v *structpb.Value, into json.Unmarshaler, path *field.Path) {
	b, err := v.MarshalJSON()
	if _, ok := into.(*resource.Quantity); ok && err == nil && !quantity.Match(b) {
		d.faults = append(d.faults, field.Invalid(path, short(strings.Trim(string(b), `"`)), `must be a quantity such as "100m" or "64Mi"`))

		return
	}
	if err == nil {
		err = into.UnmarshalJSON(b)
	}
	if err != nil {
		d.faults = append(d.faults, field.Invalid(path, short(strings.Trim(string(b), `"`)), err.Error()))
	}
}

// isNull returns whether there is nothing to decode: null, or a value without a
// kind, which the protocol allows and JSON does not.
func isNull(v *structpb.Value) bool {
	if v.GetKind() == nil {
		return true
	}
	_, null := v.GetKind().(*structpb.Value_NullValue)

	return null
}

// encode returns the Struct of an object, along its JSON tags, with the fields
// that are set: no null, no object that nobody made, no zero of a field that may
// be left out. So we own what we mean to own, and a pointer to zero is a zero
// that we do mean.
func encode(object any) *structpb.Struct {
	return encodeStruct(reflect.ValueOf(object).Elem())
}

func encodeStruct(from reflect.Value) *structpb.Struct {
	s := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for _, f := range layoutOf(from.Type()).fields {
		if child := from.FieldByIndex(f.index); isSet(child, f.omitEmpty) {
			s.Fields[f.name] = encodeValue(child)
		}
	}

	return s
}

func encodeValue(from reflect.Value) *structpb.Value {
	switch from.Kind() {
	case reflect.Pointer:
		return encodeValue(from.Elem())
	case reflect.String:
		return structpb.NewStringValue(from.String())
	case reflect.Bool:
		return structpb.NewBoolValue(from.Bool())
	case reflect.Int32, reflect.Int64:
		return structpb.NewNumberValue(float64(from.Int()))
	case reflect.Struct:
		if layoutOf(from.Type()).custom {
			m, _ := from.Interface().(json.Marshaler)

			return marshal(m)
		}

		return structpb.NewStructValue(encodeStruct(from))
	case reflect.Map:
		return structpb.NewStructValue(encodeMap(from))
	case reflect.Slice:
		if from.Type().Elem().Kind() == reflect.Uint8 {
			return structpb.NewStringValue(base64.StdEncoding.EncodeToString(from.Bytes()))
		}
		l := &structpb.ListValue{Values: make([]*structpb.Value, from.Len())}
		for i := range l.Values {
			l.Values[i] = encodeValue(from.Index(i))
		}

		return structpb.NewListValue(l)
	default:
		panic(fmt.Sprintf("cannot encode a %s", from.Type()))
	}
}

func encodeMap(from reflect.Value) *structpb.Struct {
	s := &structpb.Struct{Fields: make(map[string]*structpb.Value, from.Len())}
	if m, ok := from.Interface().(map[string]string); ok {
		for k, text := range m {
			s.Fields[k] = structpb.NewStringValue(text)
		}

		return s
	}
	for i := from.MapRange(); i.Next(); {
		s.Fields[i.Key().String()] = encodeValue(i.Value())
	}

	return s
}

// marshal encodes a value whose Go type has a JSON form of its own.
func marshal(from json.Marshaler) *structpb.Value {
	// The two that every answer has are spared the way through JSON text, which
	// takes as long as all else of them.
	switch from := from.(type) {
	case resource.Quantity:
		return structpb.NewStringValue(from.String())
	case intstr.IntOrString:
		if from.Type == intstr.Int {
			return structpb.NewNumberValue(float64(from.IntVal))
		}

		return structpb.NewStringValue(from.StrVal)
	}

	v := &structpb.Value{}
	if err := v.UnmarshalJSON(mustMarshal(from)); err != nil {
		panic(fmt.Sprintf("cannot encode a %T: %v", from, err))
	}

	return v
}

// mustMarshal returns the JSON form of a value. Those of Kubernetes (quantities,
// IntOrString, times) never fail.
func mustMarshal(from json.Marshaler) []byte {
	b, err := from.MarshalJSON()
	if err != nil {
		panic(fmt.Sprintf("cannot encode a %T: %v", from, err))
	}

	return b
}

func isSet(v reflect.Value, omitEmpty bool) bool {
	switch v.Kind() {
	case reflect.Map, reflect.Slice:
		return v.Len() > 0
	case reflect.Pointer, reflect.Struct:
		return !v.IsZero()
	default:
		return !omitEmpty || !v.IsZero()
	}
}

// A jsonField is a field of a Go struct that has a JSON name.
type jsonField struct {
	name      string
	index     []int
	omitEmpty bool
}

func names(fields []jsonField) string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.name
	}

	return strings.Join(out, ", ")
}

// A layout is what the conversions must know of a Go struct.
type layout struct {
	// fields are in the order of their names.
	fields []jsonField

	// custom is whether the struct has a JSON form of its own. Of the types that
	// are converted only structs have one.
	custom bool
}

// layouts are those of every struct that the conversions meet.
var layouts = layoutsOf(
	reflect.TypeFor[xr](),
	reflect.TypeFor[configMapState](),
	reflect.TypeFor[deploymentState](),
	reflect.TypeFor[serviceState](),
	reflect.TypeFor[v1beta1.Input](),
	reflect.TypeFor[status](),
	reflect.TypeFor[corev1.ConfigMap](),
	reflect.TypeFor[appsv1.Deployment](),
	reflect.TypeFor[corev1.Service](),
)

func layoutsOf(roots ...reflect.Type) map[reflect.Type]layout {
	known := map[reflect.Type]layout{}
	for len(roots) > 0 {
		t := roots[0]
		roots = roots[1:]
		switch t.Kind() {
		case reflect.Pointer, reflect.Map, reflect.Slice:
			roots = append(roots, t.Elem())
		case reflect.Struct:
			if _, ok := known[t]; ok {
				continue
			}
			known[t] = newLayout(t)
			for _, f := range known[t].fields {
				roots = append(roots, t.FieldByIndex(f.index).Type)
			}
		default:
		}
	}

	return known
}

func layoutOf(t reflect.Type) layout {
	if known, ok := layouts[t]; ok {
		return known
	}

	return newLayout(t)
}

func newLayout(t reflect.Type) layout {
	fields := fieldsOf(t)
	slices.SortFunc(fields, func(a, b jsonField) int { return strings.Compare(a.name, b.name) })

	return layout{fields: fields, custom: reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())}
}

// fieldsOf returns the JSON fields of a struct, those of an inlined one as its
// own.
func fieldsOf(t reflect.Type) []jsonField {
	var fields []jsonField
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" && f.Anonymous && f.Type.Kind() == reflect.Struct:
			for _, inlined := range fieldsOf(f.Type) {
				inlined.index = append([]int{i}, inlined.index...)
				fields = append(fields, inlined)
			}
		case name != "" && name != "-" && f.IsExported():
			fields = append(fields, jsonField{name: name, index: f.Index, omitEmpty: strings.Contains(options, "omitempty")})
		}
	}

	return fields
}
