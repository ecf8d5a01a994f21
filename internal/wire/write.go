package wire

import (
	"slices"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	// longText is the length in bytes from which a Writer refers to bytes instead of
	// copying them.
	longText = 2 << 10
	// chunk is the size in bytes of the buffers that a Writer fills.
	chunk = 2 << 10
)

// A Writer writes a message from its end to its beginning. The zero value is
// ready for use.
type Writer struct {
	// parts has what has been written before the buffer, the last part of the message
	// first.
	parts [][]byte
	// buffer is filled from its end. The first free bytes are not written yet, and the
	// bytes from free to end are not in parts.
	buffer    []byte
	free, end int

	// size is how many bytes have been written.
	size int
}

// Parts returns the message in parts, which follow one another. The Writer must not be
// used again.
func (w *Writer) Parts() [][]byte {
	w.cut()
	slices.Reverse(w.parts)

	return w.parts
}

// cut moves the written bytes of the buffer to parts.
func (w *Writer) cut() {
	if w.free < w.end {
		w.parts = append(w.parts, w.buffer[w.free:w.end])
		w.end = w.free
	}
}

// Raw writes encoded bytes. The Writer may refer to them, so they must not change.
func (w *Writer) Raw(b []byte) {
	w.size += len(b)
	if len(b) >= longText {
		w.cut()
		w.parts = append(w.parts, b)

		return
	}
	copy(w.reserve(len(b)), b)
}

// reserve returns the next n bytes to write.
func (w *Writer) reserve(n int) []byte {
	if n > w.free {
		w.cut()
		w.buffer = make([]byte, max(chunk, n))
		w.free, w.end = len(w.buffer), len(w.buffer)
	}
	w.free -= n

	return w.buffer[w.free : w.free+n]
}

func (w *Writer) varint(v uint64) {
	if v < 0x80 && w.free > 0 { // Most tags and lengths are one byte.
		w.free--
		w.buffer[w.free] = byte(v)
		w.size++

		return
	}
	n := protowire.SizeVarint(v)
	protowire.AppendVarint(w.reserve(n)[:0], v)
	w.size += n
}

func (w *Writer) tag(number protowire.Number, t protowire.Type) {
	w.varint(protowire.EncodeTag(number, t))
}

// Message writes a field that holds a message. body writes the fields of the message.
func (w *Writer) Message(number protowire.Number, body func()) {
	end := w.size
	body()
	w.prefix(number, end)
}

// prefix writes the tag and the length of the message that was written since the Writer
// had the size end.
func (w *Writer) prefix(number protowire.Number, end int) {
	w.varint(uint64(w.size - end)) //nolint:gosec // A size is not negative.
	w.tag(number, protowire.BytesType)
}

// Bytes writes a field that holds an encoded message.
func (w *Writer) Bytes(number protowire.Number, b []byte) {
	end := w.size
	w.Raw(b)
	w.prefix(number, end)
}

// Text writes a field that holds a string.
func (w *Writer) Text(number protowire.Number, text string) {
	w.Bytes(number, unsafe.Slice(unsafe.StringData(text), len(text)))
}

// Varint writes a field that holds a varint.
func (w *Writer) Varint(number protowire.Number, v uint64) {
	w.varint(v)
	w.tag(number, protowire.VarintType)
}

// Fixed64 writes a field that holds a number of eight bytes.
func (w *Writer) Fixed64(number protowire.Number, v uint64) {
	protowire.AppendFixed64(w.reserve(8)[:0], v)
	w.size += 8
	w.tag(number, protowire.Fixed64Type)
}

// Entry writes an entry of a map, whose value is a message. value writes its fields.
func (w *Writer) Entry(number protowire.Number, key string, value func()) {
	end := w.size
	w.Message(2, value)
	w.Text(1, key)
	w.prefix(number, end)
}
