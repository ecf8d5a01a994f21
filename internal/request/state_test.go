package request

import (
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/crossplane-contrib/function-markdownview/internal/wire"
)

// TestReadState checks a State in two parts, which protobuf merges: of the resources with a
// key, the last one counts.
func TestReadState(t *testing.T) {
	encode := func(r *fnv1.Resource) (state, resource []byte) {
		state, _ = proto.Marshal(&fnv1.State{Composite: r, Resources: map[string]*fnv1.Resource{"a": r}})
		resource, _ = proto.Marshal(r)

		return state, resource
	}
	first, one := encode(&fnv1.Resource{Ready: fnv1.Ready_READY_TRUE})
	second, two := encode(&fnv1.Resource{Ready: fnv1.Ready_READY_FALSE})
	composite, resources, err := readState(append(first, second...))
	if diff := cmp.Diff(append(one, two...), composite); diff != "" || err != nil {
		t.Errorf("XR: error %v, -want, +got:\n%s", err, diff)
	}
	if diff := cmp.Diff([]wire.Entry{{Key: "a", Value: two}}, resources); diff != "" {
		t.Errorf("resources: -want, +got:\n%s", diff)
	}
	if _, _, err := readState(first[:len(first)-1]); err == nil {
		t.Error("A State that is cut off: want an error")
	}
}
