package fn

import (
	"slices"
	"strings"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// read returns the view of a request, and a fault for every value that cannot
// be read. The Input is read strictly, because a field that is not known is a
// typo; the XR is not, because it holds fields of Crossplane and of others.
func read(req *fnv1.RunFunctionRequest) (view, field.ErrorList) {
	v := view{}
	faults := decode(structpb.NewStructValue(req.GetObserved().GetComposite().GetResource()), &v.xr, nil, lenient)
	// The XRD of another author may mean something else by a name in its status.
	faults = slices.DeleteFunc(faults, func(f *field.Error) bool { return strings.HasPrefix(f.Field, "status.") })
	if req.GetInput() != nil {
		faults = append(faults, decode(structpb.NewStructValue(req.GetInput()), &v.input, field.NewPath("input"), strict)...)
	}

	return v, faults
}

// state returns what is read of one of our resources, nil when it was not
// observed.
func state[T any](req *fnv1.RunFunctionRequest, key string) *T {
	r, ok := req.GetObserved().GetResources()[key]
	if !ok {
		return nil
	}
	s := new(T)
	decode(structpb.NewStructValue(r.GetResource()), s, nil, lenient)

	return s
}
