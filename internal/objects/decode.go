package objects

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/internal/text"
	"github.com/crossplane-contrib/function-markdownview/internal/wire"
)

// Options are the values that Decode reports as errors, besides those of a wrong type.
type Options struct {
	// Strict reports fields that the Go type does not declare, which are typos, and
	// items of lists that are null.
	Strict bool
	// NoNullLists reports lists that are null: all items of the list may be commented
	// out, which must not mean that there is no rule.
	NoNullLists bool
	// Check returns the error of text that is about to be decoded into the Go value to
	// which into points. It is called for values whose Go type has a JSON form of its own.
	Check func(into any, text string) error
}

// maxErrors is the maximum number of errors that Decode reports. Decode then stops, so
// that an invalid object costs no more than a valid one.
const maxErrors = 21

// maxQuoted is how many bytes of text an error quotes.
const maxQuoted = 80

// maxEntries is the maximum number of entries of a map. Decode does not read a larger
// map. The maps of valid objects are far smaller.
const maxEntries = 4096

// Decode reads an encoded Struct into the Go struct to which into points, by its JSON
// tags. It supports structs, pointers, maps, lists, strings, booleans, integers, []byte
// as base64, and structs with a JSON form of their own. Null counts as absent. Strings
// share the memory of the object.
//
// The list has an error for every value of a wrong type, and for every value that the
// options do not allow. path is the path of the object. Decode does not set a value that
// has an error. It returns an error for bytes that are not a Struct.
func Decode(object []byte, into any, path *field.Path, options Options) (field.ErrorList, error) {
	d := decoder{Options: options, root: path}
	d.object(object, reflect.ValueOf(into).Elem())

	return d.errors, d.err
}

type decoder struct {
	Options

	// root and steps are the position of the decoder. Only an error needs them as a
	// path.
	root  *field.Path
	steps []step

	errors field.ErrorList
	err    error
}

// A step leads from a value to a value in it: a field, a key of a map or an item of a
// list.
type step struct {
	field, key string
	index      int
}

func (d *decoder) path() *field.Path {
	p := d.root
	for _, s := range d.steps {
		switch {
		case s.field != "":
			p = p.Child(s.field)
		case s.index >= 0:
			p = p.Index(s.index)
		default:
			p = p.Key(s.key)
		}
	}

	return p
}

func (d *decoder) done() bool { return d.err != nil || len(d.errors) >= maxErrors }

func (d *decoder) report(e *field.Error) {
	if !d.done() {
		d.errors = append(d.errors, e)
	}
}

func (d *decoder) invalid(detail string) {
	d.report(field.TypeInvalid(d.path(), field.OmitValueType{}, detail))
}

// in decodes a value that is one step deeper.
func (d *decoder) in(s step, message []byte, into reflect.Value) {
	d.steps = append(d.steps, s)
	d.value(message, into)
	d.steps = d.steps[:len(d.steps)-1]
}

func (d *decoder) value(message []byte, into reflect.Value) {
	v, err := read(message)
	if err != nil {
		d.err = err
	}
	if d.NoNullLists && v.kind == kindNull && into.Kind() == reflect.Slice {
		d.invalid("must be a list, not null: write [] for an empty list, or remove the field")
	}
	if d.done() || v.kind == kindNull {
		return
	}
	if into.Kind() == reflect.Pointer {
		elem, before := reflect.New(into.Type().Elem()), len(d.errors)
		d.set(v, message, elem.Elem())
		// A number that cannot be read is not zero. A struct keeps the fields that can
		// be read.
		if len(d.errors) == before || elem.Elem().Kind() == reflect.Struct {
			into.Set(elem)
		}

		return
	}
	d.set(v, message, into)
}

// forms has, for each kind of Go value, the kind of Value from which it is decoded.
var forms = [...]struct {
	kind kind
	name string
}{
	reflect.String: {kindText, "a string"},
	reflect.Bool:   {kindBool, "true or false"},
	reflect.Int32:  {kindNumber, "a whole number"},
	reflect.Int64:  {kindNumber, "a whole number"},
	reflect.Struct: {kindObject, "an object"},
	reflect.Map:    {kindObject, "an object"},
	reflect.Slice:  {kindList, "a list"},
}

func (d *decoder) set(v value, message []byte, into reflect.Value) {
	if into.Kind() == reflect.Struct && layoutOf(into.Type()).custom {
		d.custom(message, into)

		return
	}
	if into.Kind() == reflect.Slice && into.Type().Elem().Kind() == reflect.Uint8 {
		d.binary(v, into)

		return
	}
	form := forms[into.Kind()]
	if form.name == "" {
		// The callers choose the Go types, and tests cover each of them.
		panic(fmt.Sprintf("cannot decode into a %s", into.Type()))
	}
	if v.kind != form.kind {
		d.invalid("must be " + form.name)

		return
	}
	switch into.Kind() {
	case reflect.String:
		into.SetString(v.text)
	case reflect.Bool:
		into.SetBool(v.flag)
	case reflect.Int32, reflect.Int64:
		d.integer(v.number, into)
	case reflect.Struct:
		d.object(v.body, into)
	case reflect.Map:
		d.entries(v.body, into)
	default: // A slice.
		d.list(v.body, into)
	}
}

// integer reads a number. A Struct holds every number as a float64.
func (d *decoder) integer(number float64, into reflect.Value) {
	switch {
	case number != math.Trunc(number):
		d.invalid("must be a whole number")
	// Beyond 2^53 a float64 is no longer exact, and a conversion may overflow.
	case math.Abs(number) > 1<<53 || into.OverflowInt(int64(number)):
		d.invalid("is out of range")
	default:
		into.SetInt(int64(number))
	}
}

// binary reads bytes, which JSON has as base64.
func (d *decoder) binary(v value, into reflect.Value) {
	b, err := base64.StdEncoding.DecodeString(v.text)
	if v.kind != kindText || err != nil {
		d.invalid("must be text in base64")

		return
	}
	into.SetBytes(b)
}

func (d *decoder) object(object []byte, into reflect.Value) {
	known := layoutOf(into.Type())
	last := make([][]byte, len(known.fields))
	var unknown []wire.Entry
	for e, err := range Entries(object) {
		if err != nil {
			d.err = err

			return
		}
		if i, ok := known.find(e.Key); ok {
			last[i] = e.Value
		} else if d.Strict {
			unknown = append(unknown, e)
		}
	}

	for i, message := range last {
		if f := &known.fields[i]; message != nil {
			d.in(step{field: f.name}, message, into.FieldByIndex(f.index))
		}
	}
	for _, e := range wire.LastOfEach(unknown) {
		if d.done() {
			return
		}
		d.report(field.Forbidden(d.path().Child(text.Cut(e.Key, maxQuoted)), "unknown field: use one of "+known.names()))
	}
}

// entries reads a map.
func (d *decoder) entries(object []byte, into reflect.Value) {
	n := 0
	for _, err := range wire.Fields(object) {
		if err == nil {
			n++
		}
	}
	if n > maxEntries {
		d.report(field.TooMany(d.path(), n, maxEntries))

		return
	}
	if texts, ok := into.Addr().Interface().(*map[string]string); ok && d.texts(object, texts) {
		return
	}
	all, err := ReadEntries(object)
	if err != nil {
		d.err = err

		return
	}

	into.Set(reflect.MakeMapWithSize(into.Type(), len(all)))
	for _, e := range all {
		if d.done() {
			return
		}
		before := len(d.errors)
		elem := reflect.New(into.Type().Elem()).Elem()
		d.in(step{key: text.Cut(e.Key, maxQuoted), index: -1}, e.Value, elem)
		if v, _ := read(e.Value); v.kind != kindNull && (len(d.errors) == before || elem.Kind() != reflect.String) {
			into.SetMapIndex(reflect.ValueOf(e.Key).Convert(into.Type().Key()), elem)
		}
	}
}

// texts reads a map that has only strings, such as the files of a book, without a copy
// of its entries. It returns false for any other map.
func (d *decoder) texts(object []byte, into *map[string]string) bool {
	texts := map[string]string{}
	for e, err := range Entries(object) {
		if err != nil {
			return false
		}
		v, err := read(e.Value)
		if err != nil || v.kind != kindText {
			return false
		}
		texts[e.Key] = v.text
	}
	*into = texts

	return true
}

func (d *decoder) list(list []byte, into reflect.Value) {
	var items [][]byte
	for f, err := range wire.Fields(list) {
		if err != nil {
			d.err = err

			return
		}
		if f.Number == 1 && f.Type == protowire.BytesType {
			items = append(items, f.Bytes)
		}
	}
	into.Set(reflect.MakeSlice(into.Type(), len(items), len(items)))
	for i, item := range items {
		if d.done() {
			return
		}
		if item, err := read(item); d.Strict && err == nil && item.kind == kindNull {
			d.report(field.TypeInvalid(d.path().Index(i), field.OmitValueType{}, "must not be null"))
		}
		d.in(step{index: i}, item, into.Index(i))
	}
}

// custom reads a value whose Go type has a JSON form of its own.
func (d *decoder) custom(message []byte, into reflect.Value) {
	tree := &structpb.Value{}
	if err := proto.Unmarshal(message, tree); err != nil {
		d.err = err

		return
	}
	b, err := json.Marshal(tree.AsInterface())
	form := strings.Trim(string(b), `"`)
	if err == nil && d.Check != nil {
		err = d.Check(into.Addr().Interface(), form)
	}
	if err == nil {
		err = json.Unmarshal(b, into.Addr().Interface())
	}
	if err != nil {
		d.report(field.Invalid(d.path(), text.Cut(form, maxQuoted), err.Error()))
	}
}
