// Package wire reads and writes messages in protobuf's wire format, without generated
// code.
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
// # Writing backwards
//
// The length of a nested message precedes it, but is known only after the message
// has been written. A Writer therefore writes from the end to the beginning: first
// the last value, then its length and tag. It does not copy long strings but refers
// to them, so that a book passes from the request to the response without a copy.
package wire
