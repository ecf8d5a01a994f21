// Package objects converts Kubernetes objects between google.protobuf.Struct, as they are
// sent, and Go values. A Struct is a map of Values. A Value is null, a number, a string, a
// boolean, another Struct or a list.
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
package objects
