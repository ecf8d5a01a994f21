// Package request reads a RunFunctionRequest from the wire format of protobuf: the
// MarkdownView, its observed composed resources, and the desired state of other functions.
package request

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/wire"
)

// readCapabilities reads one field of capabilities, packed or not.
func (req *Request) readCapabilities(f wire.Field) error {
	if f.Type == protowire.VarintType {
		req.capabilities |= 1 << f.Bits
	}
	for rest := f.Bytes; len(rest) > 0; {
		capability, n := protowire.ConsumeVarint(rest)
		if n < 0 {
			return protowire.ParseError(n)
		}
		req.capabilities |= 1 << capability
		rest = rest[n:]
	}

	return nil
}

// Capable returns whether Crossplane has a capability.
func (req *Request) Capable(capability int) bool { return req.capabilities&(1<<capability) != 0 }

// A Request is a RunFunctionRequest as the function reads it.
type Request struct {
	Tag      string
	View     view.View
	Observed Observed
	Pipeline Pipeline

	// capabilities has a bit for each capability of Crossplane.
	capabilities uint64
	// RequiresSchema is whether the response requires the schema of the XR.
	RequiresSchema bool

	// Problems are the values that cannot be read.
	Problems report.Problems
}

// A Pipeline is what other functions desire. It is passed on unchanged.
type Pipeline struct {
	// Context and desired are an encoded Struct and an encoded State. Nil means
	// absent.
	Context, Desired []byte

	Composite composite
	// Resources holds the desired composed resources by key, as encoded Resources.
	Resources []wire.Entry
}

// A DesiredResource identifies a resource that another function desires, or that Crossplane
// has sent.
type DesiredResource struct {
	APIVersion string        `json:"apiVersion"`
	Kind       string        `json:"kind"`
	Metadata   view.Identity `json:"metadata"`
}

// Find returns the desired composed resource with a key, and whether there is one. It is
// empty if it cannot be read.
func (p Pipeline) Find(key string) (DesiredResource, bool) {
	for _, e := range p.Resources {
		if e.Key != key {
			continue
		}
		if r, err := decodeObserved[DesiredResource](e); err == nil {
			return *r, true
		}

		return DesiredResource{}, true
	}

	return DesiredResource{}, false
}

// A composite is the desired XR of a pipeline.
type composite struct {
	// Fields has the fields of the object, and status those of its status. The values
	// are encoded.
	Fields, Status []wire.Entry
	// Rest is the encoded Resource without the object: the connection details and the
	// readiness.
	Rest []byte
}
