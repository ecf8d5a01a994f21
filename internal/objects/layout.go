package objects

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// A jsonField is a field of a Go struct that has a JSON name.
type jsonField struct {
	name      string
	index     []int
	omitEmpty bool
}

// A layout describes a Go struct for reading and writing it.
type layout struct {
	// fields is sorted by name.
	fields []jsonField

	// custom is whether the struct has a JSON form of its own. Only structs have one,
	// not the other types that are read and written.
	custom bool
}

// find returns the position of the field with a name.
func (l *layout) find(name string) (int, bool) {
	return slices.BinarySearchFunc(l.fields, name, func(f jsonField, name string) int { return strings.Compare(f.name, name) })
}

func (l *layout) names() string {
	names := make([]string, len(l.fields))
	for i, f := range l.fields {
		names[i] = f.name
	}

	return strings.Join(names, ", ")
}

// layouts caches the layout of each Go struct, as encoding/json does.
var layouts sync.Map // of reflect.Type to *layout

func layoutOf(t reflect.Type) *layout {
	if l, ok := layouts.Load(t); ok {
		return l.(*layout) //nolint:forcetypeassert // Nothing else is stored.
	}
	l := &layout{fields: fieldsOf(t), custom: reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())}
	slices.SortFunc(l.fields, func(a, b jsonField) int { return strings.Compare(a.name, b.name) })
	layouts.Store(t, l)

	return l
}

// fieldsOf returns the JSON fields of a struct, including those of inlined structs.
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
			// A field hides inlined fields of the same name.
			fields = slices.DeleteFunc(fields, func(inlined jsonField) bool { return inlined.name == name })
			fields = append(fields, jsonField{name, f.Index, strings.Contains(options, "omitempty")})
		}
	}

	return fields
}
