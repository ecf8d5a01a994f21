package wire

import (
	"errors"
	"iter"
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
	// On amd64, segmentio/asm validates 900 KiB of Japanese in 0.1 ms, and of English in
	// 0.05 ms. The Go library takes 0.7 and 0.15 ms: see BenchmarkText. A call validates a
	// book twice, so with the Go library, a call for such a Japanese book would take 1.4
	// times the CPU.
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
func consume(message []byte) (f Field, length int, err error) {
	number, kind, tag := protowire.ConsumeTag(message)
	if tag < 0 {
		return Field{}, 0, protowire.ParseError(tag)
	}
	if number > protowire.MaxValidNumber {
		return Field{}, 0, errNumber
	}

	// A local Field that is copied into the result would take four times as long.
	f.Number, f.Type = number, kind
	n := 0
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
	// Value is the encoded message. It is not nil.
	Value []byte
}

// ReadEntry returns an entry of a map whose keys are strings and whose values are
// messages.
func ReadEntry(message []byte) (e Entry, err error) {
	e.Value = []byte{}
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
