package objects_test

import (
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/crossplane-contrib/function-markdownview/internal/objects"
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

func TestIn(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, message, want string
	}{
		"Object":    {reason: "The Struct of a Value is returned", message: sized(5, "x"), want: "x"},
		"Replaced":  {reason: "A value of another kind replaces a Struct", message: sized(5, "x") + sized(3, "text")},
		"Text":      {reason: "A text is not a Struct", message: sized(3, "x")},
		"Nothing":   {reason: "A Value without a kind is not a Struct"},
		"Truncated": {reason: "A Value that cannot be read is not a Struct", message: sized(5, "x") + sized(5, "y")[:1]},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(objects.In([]byte(tc.message))); got != tc.want {
				t.Errorf("\n%s\nIn(): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
