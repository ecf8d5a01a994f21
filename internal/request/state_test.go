package request

import (
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane-contrib/function-markdownview/internal/wire"
)

// TestReadState checks a State in two parts, which protobuf merges: the last resource with a
// key counts.
func TestReadState(t *testing.T) {
	encode := func(m proto.Message) []byte {
		b, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}

		return b
	}
	part := func(name string) (state, resource, object []byte) {
		s := &structpb.Struct{Fields: map[string]*structpb.Value{name: structpb.NewBoolValue(true)}}
		r := &fnv1.Resource{Resource: s}

		return encode(&fnv1.State{Composite: r, Resources: map[string]*fnv1.Resource{"a": r}}), encode(r), encode(s)
	}
	state, resource, object := part("x")
	stateToo, resourceToo, objectToo := part("y")
	composite, resources, err := readState(append(state, stateToo...))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append(resource, resourceToo...), composite); diff != "" {
		t.Errorf("XR: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]wire.Entry{{Key: "a", Value: resourceToo}}, resources); diff != "" {
		t.Errorf("resources: -want, +got:\n%s", diff)
	}
	got, err := objectOf(composite)
	if diff := cmp.Diff(append(object, objectToo...), got); diff != "" || err != nil {
		t.Errorf("object: error %v, -want, +got:\n%s", err, diff)
	}
	if _, _, err := readState(state[:len(state)-1]); err == nil {
		t.Error("A State that is cut off: want an error")
	}
}
