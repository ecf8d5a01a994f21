// Package request reads a RunFunctionRequest from the wire format of protobuf: the
// MarkdownView, its observed composed resources, and the desired state of other functions.
package request

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/internal/objects"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/wire"
)

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

// The numbers of the fields that are read, from run_function.proto of function-sdk-go.
const (
	requestMeta      = 1
	requestObserved  = 2
	requestDesired   = 3
	requestInput     = 4
	requestContext   = 5
	requestRequired  = 8
	requestSchemas   = 9
	MetaTag          = 1
	metaCapabilities = 2
)

// An envelope holds the encoded fields of a RunFunctionRequest. Nil means absent.
type envelope struct {
	meta, observed, desired, input, context []byte

	// resources and schemas are the encoded entries of the required resources and
	// schemas.
	resources, schemas [][]byte
}

func open(message []byte) (envelope, error) {
	var e envelope
	for f, err := range wire.Fields(message) {
		if err != nil {
			return e, err
		}
		if f.Type != protowire.BytesType {
			continue
		}
		switch f.Number {
		case requestMeta:
			e.meta = wire.Merge(e.meta, f.Bytes)
		case requestObserved:
			e.observed = wire.Merge(e.observed, f.Bytes)
		case requestDesired:
			e.desired = wire.Merge(e.desired, f.Bytes)
		case requestInput:
			e.input = wire.Merge(e.input, f.Bytes)
		case requestContext:
			e.context = wire.Merge(e.context, f.Bytes)
		case requestRequired:
			e.resources = append(e.resources, f.Bytes)
		case requestSchemas:
			e.schemas = append(e.schemas, f.Bytes)
		}
	}

	return e, nil
}

// Read reads a request. An error means that it cannot be decoded.
func Read(message []byte) (Request, error) {
	var req Request
	e, err := open(message)
	if err != nil {
		return req, err
	}
	req.Pipeline.Context, req.Pipeline.Desired = e.context, e.desired
	for _, step := range []func() error{
		func() error { return req.readMeta(e.meta) },
		func() error { return req.readObserved(e.observed) },
		req.readDesired,
		func() error { return req.readInput(e.input) },
		func() error { return req.readDeclared(e.schemas) },
		func() error { return req.readSent(e.resources) },
	} {
		if err := step(); err != nil {
			return req, err
		}
	}

	return req, nil
}

// readInput reads the Input strictly: an unknown field is a typo. The XR is read
// leniently, because it has fields of Crossplane and of others.
func (req *Request) readInput(input []byte) error {
	errs, err := objects.Decode(input, &req.View.Input, field.NewPath("input"), objects.Options{Strict: true, NoNullLists: true, Check: CheckQuantity})
	req.Problems = append(req.Problems, report.ProblemsOf(report.ReasonInvalidInput, errs)...)

	return err
}

func (req *Request) readMeta(message []byte) error {
	for f, err := range wire.Fields(message) {
		if err != nil {
			return err
		}
		switch {
		case f.Number == MetaTag && f.Type == protowire.BytesType:
			req.Tag, err = f.Text()
		case f.Number == metaCapabilities:
			err = req.readCapabilities(f)
		}
		if err != nil {
			return err
		}
	}

	return nil
}

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

func (req *Request) readObserved(state []byte) error {
	composite, resources, err := readState(state)
	if err != nil {
		return err
	}
	xr, err := objectOf(composite)
	if err != nil {
		return err
	}
	errs, err := objects.Decode(xr, &req.View.XR, nil, objects.Options{Check: CheckQuantity})
	if err != nil {
		return err
	}
	req.Problems = report.ProblemsOf(report.ReasonInvalidSpec, errs)
	// The XRD of another author may use the same names in its status for something
	// else, so a value that cannot be read is no error.
	if _, err := objects.Decode(xr, &req.View.Last, nil, objects.Options{}); err != nil {
		return err
	}
	req.Observed, err = Observe(resources)

	return err
}

func (req *Request) readDesired() error {
	xr, resources, err := readState(req.Pipeline.Desired)
	if err != nil {
		return err
	}
	req.Pipeline.Resources = resources

	c := &req.Pipeline.Composite
	for f, err := range wire.Fields(xr) {
		if err != nil {
			return err
		}
		if f.Number != ResourceObject {
			c.Rest = append(c.Rest, f.Raw...)
		}
	}
	object, err := objectOf(xr)
	if err == nil {
		c.Fields, err = objects.ReadEntries(object)
	}
	if i := slices.IndexFunc(c.Fields, func(e wire.Entry) bool { return e.Key == "status" }); err == nil && i >= 0 {
		c.Status, err = objects.ReadEntries(objects.In(c.Fields[i].Value))
		c.Fields = slices.Delete(c.Fields, i, i+1)
	}

	return err
}
