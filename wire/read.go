package wire

import (
	"errors"
	"iter"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/segmentio/asm/utf8"
	"google.golang.org/protobuf/encoding/protowire"
)

var (
	errUTF8   = errors.New("text is not valid UTF-8")
	errNumber = errors.New("field number is out of range")
)

// A Field is a field of an encoded message.
type Field struct {
	Number protowire.Number
	Type   protowire.Type
	// Bits is the value of a varint or of a fixed64.
	Bits uint64
	// Bytes is the value of a length-delimited field. It has no spare capacity.
	Bytes []byte
	// Raw is the whole encoded field.
	Raw []byte
}

// Text returns the value of a string field. It shares the memory of the message.
func (f Field) Text() (string, error) {
	// Validation takes the largest part of a call with a large book. On amd64,
	// segmentio/asm is several times faster than the Go library.
	if !utf8.Valid(f.Bytes) {
		return "", errUTF8
	}

	return unsafe.String(unsafe.SliceData(f.Bytes), len(f.Bytes)), nil
}

// Fields returns the fields of an encoded message in their order. It stops after an
// error.
func Fields(message []byte) iter.Seq2[Field, error] {
	return func(yield func(Field, error) bool) {
		for len(message) > 0 {
			f, n, err := consume(message)
			if !yield(f, err) || err != nil {
				return
			}
			message = message[n:]
		}
	}
}

// consume returns the first field of a message, and its length.
func consume(message []byte) (Field, int, error) {
	number, kind, tag := protowire.ConsumeTag(message)
	if tag < 0 {
		return Field{}, 0, protowire.ParseError(tag)
	}
	if number > protowire.MaxValidNumber {
		return Field{}, 0, errNumber
	}

	f, n := Field{Number: number, Type: kind}, 0
	switch kind {
	case protowire.VarintType:
		f.Bits, n = protowire.ConsumeVarint(message[tag:])
	case protowire.Fixed64Type:
		f.Bits, n = protowire.ConsumeFixed64(message[tag:])
	case protowire.BytesType:
		f.Bytes, n = protowire.ConsumeBytes(message[tag:])
		f.Bytes = slices.Clip(f.Bytes)
	default:
		n = protowire.ConsumeFieldValue(number, kind, message[tag:])
	}
	if n < 0 {
		return Field{}, 0, protowire.ParseError(n)
	}

	f.Raw = message[:tag+n]

	return f, tag + n, nil
}

// Merge merges two encoded messages: the Bytes of a Field or a result of Merge, and the
// Bytes of the next Field. The cost of merging many fields is linear, because append
// leaves spare capacity. The Bytes of a Field have none, so nothing is overwritten.
func Merge(a, b []byte) []byte {
	if len(a) == 0 {
		return b
	}

	return append(a, b...)
}

// An Entry is an entry of an encoded map.
type Entry struct {
	Key string
	// Value is the encoded message.
	Value []byte
}

// ReadEntry returns an entry of a map whose keys are strings and whose values are
// messages.
func ReadEntry(message []byte) (Entry, error) {
	var e Entry
	for f, err := range Fields(message) {
		if err != nil {
			return e, err
		}
		if f.Type != protowire.BytesType {
			continue
		}
		switch f.Number {
		case 1:
			if e.Key, err = f.Text(); err != nil {
				return e, err
			}
		case 2:
			e.Value = Merge(e.Value, f.Bytes)
		}
	}

	return e, nil
}

// Entries returns the entries of an encoded Struct in their order. If a key occurs more
// than once, the last entry counts.
func Entries(object []byte) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for f, err := range Fields(object) {
			var e Entry
			if err == nil {
				if f.Number != 1 || f.Type != protowire.BytesType {
					continue
				}
				e, err = ReadEntry(f.Bytes)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// ReadEntries returns the last entry for each key of an encoded Struct, sorted by key.
func ReadEntries(object []byte) ([]Entry, error) {
	var all []Entry
	for e, err := range Entries(object) {
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}

	return LastOfEach(all), nil
}

// LastOfEach returns the last entry for each key of a map, sorted by key. It reorders
// all.
func LastOfEach(all []Entry) []Entry {
	slices.SortStableFunc(all, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	kept := all[:0]
	for i, e := range all {
		if i+1 == len(all) || all[i+1].Key != e.Key {
			kept = append(kept, e)
		}
	}

	return kept
}

// ObjectIn returns the encoded Struct in an encoded Value, or nil if the Value holds
// something else.
func ObjectIn(message []byte) []byte {
	if v, err := read(message); err == nil && v.kind == kindObject {
		return v.body
	}

	return nil
}

// A kind is the kind of a value.
type kind int

const (
	kindNull kind = iota
	kindNumber
	kindText
	kindBool
	kindObject
	kindList
)

// A value is a Value whose parts are still encoded.
type value struct {
	kind   kind
	number float64
	text   string
	flag   bool
	// body is the encoded Struct or ListValue.
	body []byte
}

// read reads a Value. A Value without a kind, which is valid in protobuf but not in
// JSON, is null.
func read(message []byte) (value, error) {
	var v value
	for f, err := range Fields(message) {
		if err != nil {
			return v, err
		}
		switch protowire.EncodeTag(f.Number, f.Type) {
		case protowire.EncodeTag(1, protowire.VarintType):
			v = value{}
		case protowire.EncodeTag(2, protowire.Fixed64Type):
			v = value{kind: kindNumber, number: math.Float64frombits(f.Bits)}
		case protowire.EncodeTag(3, protowire.BytesType):
			v = value{kind: kindText}
			if v.text, err = f.Text(); err != nil {
				return v, err
			}
		case protowire.EncodeTag(4, protowire.VarintType):
			v = value{kind: kindBool, flag: protowire.DecodeBool(f.Bits)}
		case protowire.EncodeTag(5, protowire.BytesType):
			v = v.with(kindObject, f.Bytes)
		case protowire.EncodeTag(6, protowire.BytesType):
			v = v.with(kindList, f.Bytes)
		}
	}

	return v, nil
}

// with returns the value after reading a message of a kind. Messages of the same kind
// merge.
func (v value) with(k kind, body []byte) value {
	if v.kind == k {
		body = Merge(v.body, body)
	}

	return value{kind: k, body: body}
}
