// Package wire reads and writes the JSON-like objects of a RunFunctionRequest
// and a RunFunctionResponse straight from and to protobuf's wire format.
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
// Texts and nested messages are length-delimited, numbers and booleans are
// varints or have a fixed size. So a reader can skip any value without looking
// into it, and a nested message is a slice of the bytes of the message around
// it. A map is a repeated field of messages with a key (1) and a value (2).
//
// The rules for odd encodings: the last value of a field wins, but a message that
// occurs twice is merged, which for encoded messages is concatenation. The last
// entry of a map with the same key wins. Unknown fields are skipped.
//
// # Structs
//
// Kubernetes objects travel as google.protobuf.Struct: maps of Values, and a
// Value is null, a number, a text, a boolean, another Struct or a list.
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
// Generated code makes a tree of Go values of all that, of managedFields too,
// that nobody reads. This package makes none: Decode reads the fields that a Go
// type declares with JSON tags and skips the rest, and texts share the memory of
// the request. A Writer writes Go values the same way, in the order of their
// names, so that equal values give equal bytes.
//
// # Writing backwards
//
// The length of a nested message comes before it, and is known only when it has
// been written. A Writer therefore writes from the end to the beginning: first
// what comes last, then the lengths and tags in front of it. It does not copy
// long texts but refers to them, so that a book passes from the request to the
// response without a copy.
package wire
