package wire

import (
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

// TestWriter checks the bytes of encoded messages.
func TestWriter(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		write  func(w *Writer)
		want   string
	}{
		"Nothing":   {reason: "Nothing is written", write: func(*Writer) {}},
		"Backwards": {reason: "The field that is written first is the last one", write: func(w *Writer) { w.Text(2, "b"); w.Text(1, "a") }, want: "\x0a\x01a\x12\x01b"},
		"Varint":    {reason: "A number can have several bytes", write: func(w *Writer) { w.Varint(1, 300) }, want: "\x08\xac\x02"},
		"Limit":     {reason: "The smallest number with two bytes", write: func(w *Writer) { w.Varint(1, 128) }, want: "\x08\x80\x01"},
		"Fixed64":   {reason: "A number can have eight bytes", write: func(w *Writer) { w.Fixed64(2, 3) }, want: "\x11\x03\x00\x00\x00\x00\x00\x00\x00"},
		"Message":   {reason: "The length of a message comes before it", write: func(w *Writer) { w.Message(1, func() { w.Text(2, "b"); w.Varint(1, 1) }) }, want: "\x0a\x05\x08\x01\x12\x01b"},
		"Empty":     {reason: "A message can be empty", write: func(w *Writer) { w.Message(1, func() {}) }, want: "\x0a\x00"},
		"Bytes":     {reason: "An encoded message is written unchanged", write: func(w *Writer) { w.Bytes(1, []byte("\x08\x01")) }, want: "\x0a\x02\x08\x01"},
		"Raw":       {reason: "Encoded fields are written unchanged", write: func(w *Writer) { w.Text(1, "b"); w.Raw([]byte("\x08\x01")) }, want: "\x08\x01\x0a\x01b"},
		"Entry":     {reason: "An entry of a map has a key and a message", write: func(w *Writer) { w.Entry(3, "k", func() { w.Varint(1, 1) }) }, want: "\x1a\x07\x0a\x01k\x12\x02\x08\x01"},
	} {
		t.Run(name, func(t *testing.T) {
			var w Writer
			tc.write(&w)
			size := w.size
			if got := string(slices.Concat(w.Parts()...)); got != tc.want || size != len(tc.want) {
				t.Errorf("\n%s\nParts(): want %q, got %q of size %d", tc.reason, tc.want, got, size)
			}
		})
	}
}

// TestParts checks which strings are copied, and that the parts are in order.
func TestParts(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		// texts are the values of field 1, in the order of the message.
		texts []string
		// shared is how many texts are not copied.
		shared int
	}{
		"Short":      {reason: "Short texts are copied into one part", texts: []string{"a", "b"}},
		"AlmostLong": {reason: "A text below the limit is copied", texts: []string{strings.Repeat("x", longText-1)}},
		"Long":       {reason: "A long text is a part of its own", texts: []string{strings.Repeat("x", longText)}, shared: 1},
		"Between":    {reason: "Parts before and after a long text keep their order", texts: []string{"a", strings.Repeat("x", 1<<20), "b", strings.Repeat("y", longText), "c"}, shared: 2},
		"Buffers":    {reason: "Short texts can fill several buffers", texts: slices.Repeat([]string{strings.Repeat("a", longText-1), "b"}, 20)},
	} {
		t.Run(name, func(t *testing.T) {
			var w Writer
			for _, text := range slices.Backward(tc.texts) {
				w.Text(1, text)
			}

			shared := 0
			for _, part := range w.Parts() {
				if slices.ContainsFunc(tc.texts, func(text string) bool {
					return unsafe.StringData(text) == unsafe.SliceData(part) && len(text) == len(part)
				}) {
					shared++
				}
			}
			if shared != tc.shared {
				t.Errorf("\n%s\nparts that share memory with a text: want %d, got %d", tc.reason, tc.shared, shared)
			}
			var got []string
			for f, err := range Fields(slices.Concat(w.parts...)) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(f.Bytes))
			}
			if diff := cmp.Diff(tc.texts, got); diff != "" {
				t.Errorf("\n%s\ntexts: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
