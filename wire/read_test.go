package wire

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
)

// message returns an encoded message with length-delimited fields, given as numbers and
// values.
func message(fields ...any) []byte {
	var b []byte
	for i := 0; i < len(fields); i += 2 {
		number, _ := fields[i].(int)
		b = protowire.AppendTag(b, protowire.Number(number), protowire.BytesType)
		switch value := fields[i+1].(type) {
		case string:
			b = protowire.AppendString(b, value)
		case []byte:
			b = protowire.AppendBytes(b, value)
		}
	}

	return b
}

func TestEntries(t *testing.T) {
	number := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 1)
	group := protowire.AppendTag(protowire.AppendTag(nil, 1, protowire.StartGroupType), 1, protowire.EndGroupType)

	cases := map[string]struct {
		reason    string
		message   []byte
		want      []Entry
		wantError bool
	}{
		"Empty":          {reason: "An empty Struct has no entries"},
		"Order":          {reason: "Entries keep their order", message: message(1, message(1, "b", 2, "x"), 1, message(1, "a", 2, "y")), want: []Entry{{"b", []byte("x")}, {"a", []byte("y")}}},
		"Repeated":       {reason: "Entries can have the same key", message: message(1, message(1, "a", 2, "x"), 1, message(1, "a", 2, "y")), want: []Entry{{"a", []byte("x")}, {"a", []byte("y")}}},
		"ValueFirst":     {reason: "The value can come before the key", message: message(1, message(2, "x", 1, "a")), want: []Entry{{"a", []byte("x")}}},
		"NoKey":          {reason: "A missing key is empty", message: message(1, message(2, "x")), want: []Entry{{"", []byte("x")}}},
		"NoValue":        {reason: "A missing value is empty", message: message(1, message(1, "a")), want: []Entry{{Key: "a"}}},
		"TwoKeys":        {reason: "The last key of an entry counts", message: message(1, message(1, "a", 1, "b")), want: []Entry{{Key: "b"}}},
		"TwoValues":      {reason: "Two values of an entry merge", message: message(1, message(1, "a", 2, "x", 2, "y")), want: []Entry{{"a", []byte("xy")}}},
		"OtherField":     {reason: "Other fields are skipped", message: message(2, "x", 1, message(1, "a", 3, "x")), want: []Entry{{Key: "a"}}},
		"OtherType":      {reason: "Fields of another type are skipped", message: bytes.Join([][]byte{number, group, message(1, append(message(1, "a"), number...))}, nil), want: []Entry{{Key: "a"}}},
		"Truncated":      {reason: "A field must be complete", message: message(1, message(1, "a"))[:3], wantError: true},
		"TruncatedEntry": {reason: "A field of an entry must be complete", message: message(1, "\x0a\x02a"), wantError: true},
		"UTF8":           {reason: "A key must be valid UTF-8", message: message(1, message(1, "\xff")), wantError: true},
		"FieldZero":      {reason: "No field has the number 0", message: []byte{0x02, 0x00}, wantError: true},
		"FieldTooLarge":  {reason: "Field numbers have a maximum", message: append(protowire.AppendVarint(nil, uint64(protowire.MaxValidNumber+1)<<3), 0), wantError: true},
		"EndGroup":       {reason: "A group must start before it ends", message: protowire.AppendTag(nil, 1, protowire.EndGroupType), wantError: true},
		"OpenGroup":      {reason: "A group must end", message: protowire.AppendTag(nil, 1, protowire.StartGroupType), wantError: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []Entry
			var failed error
			for e, err := range Entries(tc.message) {
				if failed != nil {
					t.Fatalf("\n%s\nEntries(): another entry after error %v", tc.reason, failed)
				}
				if failed = err; err == nil {
					got = append(got, e)
				}
			}
			if (failed != nil) != tc.wantError {
				t.Errorf("\n%s\nEntries(): want an error %t, got %v", tc.reason, tc.wantError, failed)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nEntries(): -want, +got:\n%s", tc.reason, diff)
			}
			if _, err := ReadEntries(tc.message); (err != nil) != tc.wantError {
				t.Errorf("\n%s\nReadEntries(): want an error %t, got %v", tc.reason, tc.wantError, err)
			}
		})
	}
}

func TestLastOfEach(t *testing.T) {
	entry := func(key, value string) Entry { return Entry{key, []byte(value)} }

	cases := map[string]struct {
		reason string
		all    []Entry
		want   []Entry
	}{
		"None":   {reason: "A map can be empty"},
		"Sorted": {reason: "Entries are sorted by their keys", all: []Entry{entry("b", "1"), entry("a", "2")}, want: []Entry{entry("a", "2"), entry("b", "1")}},
		"Last": {
			reason: "The last entry with a key counts",
			all:    []Entry{entry("a", "1"), entry("b", "2"), entry("a", "3"), entry("a", "4"), entry("b", "5")},
			want:   []Entry{entry("a", "4"), entry("b", "5")},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, LastOfEach(tc.all)); diff != "" {
				t.Errorf("\n%s\nLastOfEach(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestMerge(t *testing.T) {
	cases := map[string]struct {
		reason     string
		a, b, want string
	}{
		"Both":   {reason: "Two messages merge by concatenation", a: "a", b: "b", want: "ab"},
		"First":  {reason: "An empty message changes nothing", a: "a", want: "a"},
		"Second": {reason: "An empty message changes nothing", b: "b", want: "b"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			around := message(1, tc.a, 2, "other", 1, tc.b)
			before := string(around)
			var got []byte
			for f, err := range Fields(around) {
				if err != nil {
					t.Fatal(err)
				}
				if f.Number == 1 {
					got = Merge(got, f.Bytes)
				}
			}
			if string(got) != tc.want {
				t.Errorf("\n%s\nMerge(): want %q, got %q", tc.reason, tc.want, got)
			}
			if string(around) != before {
				t.Errorf("\n%s\nMerge() must not write into the message: want %q, got %q", tc.reason, before, around)
			}
		})
	}

	if Merge(nil, []byte{}) == nil {
		t.Error("Merge() of nil and an empty message: want an empty message, got nil")
	}
}

// TestMergeMany checks that the memory to merge a field that is split into many is linear
// in their number.
func TestMergeMany(t *testing.T) {
	const fragments = 1 << 15
	split := bytes.Repeat(message(5, "abcd"), fragments)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := len(ObjectIn(split))
	runtime.ReadMemStats(&after)
	if want := 4 * fragments; got != want {
		t.Fatalf("ObjectIn(): want %d bytes, got %d", want, got)
	}
	if most, allocated := uint64(10*4*fragments), after.TotalAlloc-before.TotalAlloc; allocated > most {
		t.Errorf("ObjectIn() of %d fields: want at most %d bytes of memory, got %d", fragments, most, allocated)
	}
}

func TestObjectIn(t *testing.T) {
	cases := map[string]struct {
		reason  string
		message []byte
		want    string
	}{
		"Object":    {reason: "The Struct of a Value is returned", message: message(5, "x"), want: "x"},
		"Merged":    {reason: "Two Structs of a Value merge", message: message(5, "x", 5, "y"), want: "xy"},
		"Replaced":  {reason: "A value of another kind replaces a Struct", message: message(5, "x", 3, "text")},
		"Again":     {reason: "A Struct does not merge with one that was replaced", message: message(5, "x", 3, "text", 5, "y"), want: "y"},
		"List":      {reason: "A Struct does not merge with a list that was replaced", message: message(6, "x", 5, "y"), want: "y"},
		"Text":      {reason: "A text is not a Struct", message: message(3, "x")},
		"Nothing":   {reason: "A Value without a kind is not a Struct"},
		"Truncated": {reason: "A Value that cannot be read is not a Struct", message: message(5, "x")[:1]},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := string(ObjectIn(tc.message)); got != tc.want {
				t.Errorf("\n%s\nObjectIn(): want %q, got %q", tc.reason, tc.want, got)
			}
		})
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
