package wire

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	asm "github.com/segmentio/asm/utf8"
	"google.golang.org/protobuf/encoding/protowire"
)

// sized returns a length-delimited field. A message is a concatenation of fields.
func sized(number protowire.Number, value string) string {
	return string(protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), value))
}

const (
	varint = "\x08\x2a" // 42 in field 1.
	group  = "\x0b\x0c" // An empty group in field 1.
)

func TestFields(t *testing.T) {
	const overlong = "\xf8\xff\xff\xff\xff\x01\x00" // The tag of a number that is too large.

	for name, tc := range map[string]struct {
		reason, message string
		want            []Field
		wantError       bool
	}{
		"Empty":     {reason: "A message can be empty"},
		"Order":     {reason: "Fields keep their order", message: sized(2, "b") + sized(1, ""), want: []Field{{Number: 2, Type: protowire.BytesType, Bytes: []byte("b"), Raw: []byte("\x12\x01b")}, {Number: 1, Type: protowire.BytesType, Bytes: []byte{}, Raw: []byte("\x0a\x00")}}},
		"Varint":    {reason: "A varint is read", message: varint, want: []Field{{Number: 1, Bits: 42, Raw: []byte(varint)}}},
		"Fixed64":   {reason: "A number of eight bytes is read", message: "\x11\x02\x00\x00\x00\x00\x00\x00\x00", want: []Field{{Number: 2, Type: protowire.Fixed64Type, Bits: 2, Raw: []byte("\x11\x02\x00\x00\x00\x00\x00\x00\x00")}}},
		"Group":     {reason: "Values of other types are not read", message: group, want: []Field{{Number: 1, Type: protowire.StartGroupType, Raw: []byte(group)}}},
		"Largest":   {reason: "The largest field number is valid", message: "\xf8\xff\xff\xff\x0f\x00", want: []Field{{Number: protowire.MaxValidNumber, Raw: []byte("\xf8\xff\xff\xff\x0f\x00")}}},
		"TooLarge":  {reason: "Field numbers have a maximum", message: varint + overlong, want: []Field{{Number: 1, Bits: 42, Raw: []byte(varint)}}, wantError: true},
		"Zero":      {reason: "No field has the number 0", message: "\x02\x00", wantError: true},
		"Truncated": {reason: "A field must be complete", message: sized(1, "a")[:2], wantError: true},
		"EndGroup":  {reason: "A group must start before it ends", message: group[1:], wantError: true},
		"OpenGroup": {reason: "A group must end", message: group[:1], wantError: true},
	} {
		t.Run(name, func(t *testing.T) {
			var got []Field
			var failed error
			for f, err := range Fields([]byte(tc.message)) {
				if failed != nil {
					t.Fatalf("\n%s\nFields(): another field after error %v", tc.reason, failed)
				}
				if failed = err; err == nil {
					got = append(got, f)
				}
			}
			if (failed != nil) != tc.wantError {
				t.Errorf("\n%s\nFields(): want an error %t, got %v", tc.reason, tc.wantError, failed)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nFields(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReadEntry(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, message string
		want            Entry
		wantError       bool
	}{
		"Entry":      {reason: "An entry has a key and a value", message: sized(1, "a") + sized(2, "x"), want: Entry{"a", []byte("x")}},
		"ValueFirst": {reason: "The value can come before the key", message: sized(2, "x") + sized(1, "a"), want: Entry{"a", []byte("x")}},
		"NoKey":      {reason: "A missing key is empty", message: sized(2, "x"), want: Entry{"", []byte("x")}},
		"NoValue":    {reason: "A missing value is empty", message: sized(1, "a"), want: Entry{"a", []byte{}}},
		"TwoKeys":    {reason: "The last key counts", message: sized(1, "a") + sized(1, "b"), want: Entry{"b", []byte{}}},
		"EmptyValue": {reason: "An empty value changes nothing", message: sized(2, "x") + sized(2, "") + sized(1, "a"), want: Entry{"a", []byte("x")}},
		"TwoValues":  {reason: "Two values merge", message: sized(2, "x") + sized(1, "a") + sized(2, "y"), want: Entry{"a", []byte("xy")}},
		"Others":     {reason: "Other fields and types are skipped", message: varint + sized(1, "a") + sized(3, "x") + varint + group, want: Entry{"a", []byte{}}},
		"Truncated":  {reason: "A field must be complete", message: sized(1, "a")[:2], wantError: true},
		"UTF8":       {reason: "A key must be valid UTF-8", message: sized(1, "\xff"), wantError: true},
	} {
		t.Run(name, func(t *testing.T) {
			message := []byte(tc.message)
			got, err := ReadEntry(message)
			if (err != nil) != tc.wantError {
				t.Errorf("\n%s\nReadEntry(): want an error %t, got %v", tc.reason, tc.wantError, err)
			}
			if string(message) != tc.message {
				t.Errorf("\n%s\nReadEntry() must not write into the message: want %q, got %q", tc.reason, tc.message, message)
			}
			if diff := cmp.Diff(tc.want, got); err == nil && diff != "" {
				t.Errorf("\n%s\nReadEntry(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLastOfEach(t *testing.T) {
	entry := func(key, value string) Entry { return Entry{key, []byte(value)} }
	got := LastOfEach([]Entry{entry("b", "1"), entry("a", "2"), entry("a", "3"), entry("c", "4"), entry("b", "5")})
	if diff := cmp.Diff([]Entry{entry("a", "3"), entry("b", "5"), entry("c", "4")}, got); diff != "" {
		t.Errorf("LastOfEach(): -want, +got:\n%s", diff)
	}
}

// TestMergeMany checks that a field that is split into many is not copied for each of them.
func TestMergeMany(t *testing.T) {
	const fragments = 1 << 15
	split := []byte(strings.Repeat(sized(2, "abcd"), fragments))
	allocations := testing.AllocsPerRun(1, func() {
		if e, err := ReadEntry(split); len(e.Value) != 4*fragments || err != nil {
			t.Errorf("ReadEntry(): want %d bytes, got %d and %v", 4*fragments, len(e.Value), err)
		}
	})
	if allocations > 100 {
		t.Errorf("ReadEntry() of %d fields: want at most 100 allocations, got %v", fragments, allocations)
	}
}

// TestText changes a bit at every position of texts of every length. Text must accept the
// result if and only if the Go library considers it valid UTF-8. The length and the
// position decide how Text checks it.
func TestText(t *testing.T) {
	whole := []byte(strings.Repeat("a page, Seite für Seite: 一ページ目 🎉 ", 4))
	r := rand.New(rand.NewPCG(1, 2))
	for length := range whole {
		for position := range length {
			text := bytes.Clone(whole[:length])
			text[position] ^= 1 << r.IntN(8)
			if _, err := (Field{Bytes: text}).Text(); (err == nil) != utf8.Valid(text) {
				t.Errorf("Text(%q): got error %v", text, err)
			}
		}
	}
}

// BenchmarkText compares the validation of texts with that of the Go library.
func BenchmarkText(b *testing.B) {
	for language, sentence := range map[string]string{
		"ASCII":    "Read the [guide](guide.md) before you change a Deployment.\n",
		"English":  "Read the [guide](guide.md) — it’s short — before you change a Deployment.\n",
		"Japanese": "デプロイメントを変更する前に[ガイド](guide.md)を読んでください。\n",
	} {
		text := []byte(strings.Repeat(sentence, 900<<10/len(sentence)))
		for library, valid := range map[string]func([]byte) bool{"asm": asm.Valid, "go": utf8.Valid} {
			b.Run(language+"/"+library, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					valid(text)
				}
			})
		}
	}
}
