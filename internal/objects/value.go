package objects

import (
	"iter"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/crossplane-contrib/function-markdownview/internal/wire"
)

// Entries returns the entries of an encoded Struct in their order. If a key occurs more
// than once, the last entry counts.
func Entries(object []byte) iter.Seq2[wire.Entry, error] {
	return func(yield func(wire.Entry, error) bool) {
		for f, err := range wire.Fields(object) {
			var e wire.Entry
			if err == nil {
				if f.Number != 1 || f.Type != protowire.BytesType {
					continue
				}
				e, err = wire.ReadEntry(f.Bytes)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// ReadEntries returns the last entry for each key of an encoded Struct, sorted by key.
func ReadEntries(object []byte) ([]wire.Entry, error) {
	var all []wire.Entry
	for e, err := range Entries(object) {
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}

	return wire.LastOfEach(all), nil
}

// In returns the encoded Struct in an encoded Value, or nil if the Value holds
// something else.
func In(message []byte) []byte {
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
func read(message []byte) (v value, err error) {
	for f, err := range wire.Fields(message) {
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
		body = wire.Merge(v.body, body)
	}

	return value{kind: k, body: body}
}
