// Package wire reads the objects of a RunFunctionRequest from protobuf's wire format,
// and writes those of a RunFunctionResponse, without generated code.
//
// # The wire format
//
// An encoded message is a list of fields. A field is a tag, which holds the
// number of the field and the type of what follows, and a value:
//
//	0a 05 68 65 6c 6c 6f
//	│  │  └─ hello
//	│  └──── length: 5 bytes
//	└─────── tag: field 1, type 2 (length-delimited)
//
// Strings and nested messages are length-delimited. Numbers and booleans are
// varints or have a fixed size. So a reader can skip any value without reading
// it, and a nested message is a slice of the bytes of the outer message. A map is
// a repeated field of messages with a key (1) and a value (2).
//
// The rules for unusual encodings: the last value of a field wins. Messages that
// occur twice merge, which for encoded messages is concatenation. The last entry of
// a map with the same key wins. Unknown fields are skipped.
//
// # Structs
//
// Kubernetes objects are sent as google.protobuf.Struct: a map of Values. A Value
// is null, a number, a string, a boolean, another Struct or a list.
//
//	message Struct    { map<string, Value> fields = 1; }
//	message ListValue { repeated Value values = 1; }
//	message Value {
//	  oneof kind {
//	    NullValue null_value   = 1;
//	    double    number_value = 2;
//	    string    string_value = 3;
//	    bool      bool_value   = 4;
//	    Struct    struct_value = 5;
//	    ListValue list_value   = 6;
//	  }
//	}
//
// Generated code decodes all of it into a tree of Go values, even managedFields,
// which are rarely needed. This package has no such tree: Decode reads the fields that a
// Go type declares with JSON tags and skips the others, and strings share the memory
// of the request. A Writer writes the fields of Go values in the order of their
// names, so that equal values give equal bytes.
//
// # Writing backwards
//
// The length of a nested message precedes it, but is known only after the message
// has been written. A Writer therefore writes from the end to the beginning: first
// the last value, then its length and tag. It does not copy long strings but refers
// to them, so that a book passes from the request to the response without a copy.
package wire
