package objects

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/crossplane-contrib/function-markdownview/internal/wire"
)

// sized returns a length-delimited field. A message is a concatenation of fields.
func sized(number protowire.Number, value string) string {
	return string(protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), value))
}

// entry returns an entry of a Struct. value is a Value.
func entry(key, value string) string { return sized(1, sized(1, key)+sized(2, value)) }

// Values, and fields that are skipped.
const (
	null   = "\x08\x00"
	number = "\x11\x00\x00\x00\x00\x00\x00\xf0\x3f" // 1
	flag   = "\x20\x01"                             // true
	group  = "\x3b\x08\x00\x3c"
)

func TestEntries(t *testing.T) {
	one := func(key, value string) wire.Entry { return wire.Entry{Key: key, Value: []byte(value)} }

	cases := map[string]struct {
		reason    string
		message   string
		want      []wire.Entry
		wantLast  []wire.Entry
		wantError bool
	}{
		"Empty":     {reason: "A Struct can be empty"},
		"Order":     {reason: "Entries keep their order, or are sorted", message: entry("b", "x") + entry("a", "y"), want: []wire.Entry{one("b", "x"), one("a", "y")}, wantLast: []wire.Entry{one("a", "y"), one("b", "x")}},
		"Repeated":  {reason: "The last of several entries with a key counts", message: entry("a", "x") + entry("a", "y"), want: []wire.Entry{one("a", "x"), one("a", "y")}, wantLast: []wire.Entry{one("a", "y")}},
		"Others":    {reason: "Other fields and types are skipped", message: sized(2, "x") + null + entry("a", "x"), want: []wire.Entry{one("a", "x")}, wantLast: []wire.Entry{one("a", "x")}},
		"Truncated": {reason: "A field must be complete", message: entry("a", "x") + "\x0a\x02a", want: []wire.Entry{one("a", "x")}, wantError: true},
		"Entry":     {reason: "A field of an entry must be complete", message: sized(1, "\x0a\x02a") + entry("a", "x"), wantError: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []wire.Entry
			var failed error
			for e, err := range Entries([]byte(tc.message)) {
				if failed != nil {
					t.Fatalf("\n%s\nEntries(): another entry after error %v", tc.reason, failed)
				}
				if failed = err; err == nil {
					got = append(got, e)
				}
			}
			last, err := ReadEntries([]byte(tc.message))
			if (failed != nil) != tc.wantError || (err != nil) != tc.wantError {
				t.Errorf("\n%s\nwant an error %t, got %v from Entries() and %v from ReadEntries()", tc.reason, tc.wantError, failed, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nEntries(): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.wantLast, last); diff != "" {
				t.Errorf("\n%s\nReadEntries(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestIn(t *testing.T) {
	cases := map[string]struct {
		reason  string
		message string
		want    string
	}{
		"Object":    {reason: "The Struct of a Value is returned", message: sized(5, "x"), want: "x"},
		"Merged":    {reason: "Two Structs of a Value merge", message: sized(5, "x") + sized(5, "y"), want: "xy"},
		"Replaced":  {reason: "A value of another kind replaces a Struct", message: sized(5, "x") + sized(3, "text")},
		"Again":     {reason: "A Struct does not merge with one that was replaced", message: sized(5, "x") + sized(3, "text") + sized(5, "y"), want: "y"},
		"List":      {reason: "A Struct does not merge with a list that was replaced", message: sized(6, "x") + sized(5, "y"), want: "y"},
		"Text":      {reason: "A text is not a Struct", message: sized(3, "x")},
		"Nothing":   {reason: "A Value without a kind is not a Struct"},
		"Truncated": {reason: "A Value that cannot be read is not a Struct", message: sized(5, "x") + sized(5, "y")[:1]},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := string(In([]byte(tc.message))); got != tc.want {
				t.Errorf("\n%s\nIn(): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
