package fn

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/internal/objects"
	"github.com/crossplane-contrib/function-markdownview/internal/wire"
)

// The numbers of the fields that are read, from run_function.proto of function-sdk-go.
const (
	requestMeta     = 1
	requestObserved = 2
	requestDesired  = 3
	requestInput    = 4
	requestContext  = 5
	requestRequired = 8
	requestSchemas  = 9

	metaTag          = 1
	metaCapabilities = 2

	stateComposite = 1
	stateResources = 2

	resourceObject = 1
	resourceReady  = 3
)

// A request is a RunFunctionRequest as the function reads it.
type request struct {
	tag      string
	view     view
	observed observed
	pipeline pipeline

	// capabilities has a bit for each capability of Crossplane.
	capabilities uint64
	// requiresSchema is whether the response requires the schema of the XR.
	requiresSchema bool

	// problems are the values that cannot be read.
	problems problems
}

// A pipeline is what other functions desire. It is passed on unchanged.
type pipeline struct {
	// context and desired are an encoded Struct and an encoded State. Nil means
	// absent.
	context, desired []byte

	composite composite
	// resources holds the desired composed resources by key, as encoded Resources.
	resources []wire.Entry
}

// A composite is the desired XR of a pipeline.
type composite struct {
	// fields has the fields of the object, and status those of its status. The values
	// are encoded.
	fields, status []wire.Entry
	// rest is the encoded Resource without the object: the connection details and the
	// readiness.
	rest []byte
}

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

// read reads a request. An error means that it cannot be decoded.
func read(message []byte) (request, error) {
	var req request
	e, err := open(message)
	if err != nil {
		return req, err
	}
	req.pipeline.context, req.pipeline.desired = e.context, e.desired
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
func (req *request) readInput(input []byte) error {
	errs, err := objects.Decode(input, &req.view.input, field.NewPath("input"), objects.Options{Strict: true, NoNullLists: true, Check: checkQuantity})
	req.problems = append(req.problems, problemsOf(ReasonInvalidInput, errs)...)

	return err
}

func (req *request) readMeta(message []byte) error {
	for f, err := range wire.Fields(message) {
		if err != nil {
			return err
		}
		switch {
		case f.Number == metaTag && f.Type == protowire.BytesType:
			req.tag, err = f.Text()
		case f.Number == metaCapabilities:
			err = req.readCapabilities(f)
		}
		if err != nil {
			return err
		}
	}

	return nil
}

func (req *request) readObserved(state []byte) error {
	composite, resources, err := readState(state)
	if err != nil {
		return err
	}
	xr, err := objectOf(composite)
	if err != nil {
		return err
	}
	errs, err := objects.Decode(xr, &req.view.xr, nil, objects.Options{Check: checkQuantity})
	if err != nil {
		return err
	}
	req.problems = problemsOf(ReasonInvalidSpec, errs)
	// The XRD of another author may use the same names in its status for something
	// else, so a value that cannot be read is no error.
	if _, err := objects.Decode(xr, &req.view.last, nil, objects.Options{}); err != nil {
		return err
	}
	req.observed, err = observe(resources)

	return err
}

func (req *request) readDesired() error {
	xr, resources, err := readState(req.pipeline.desired)
	if err != nil {
		return err
	}
	req.pipeline.resources = resources

	c := &req.pipeline.composite
	for f, err := range wire.Fields(xr) {
		if err != nil {
			return err
		}
		if f.Number != resourceObject {
			c.rest = append(c.rest, f.Raw...)
		}
	}
	object, err := objectOf(xr)
	if err == nil {
		c.fields, err = objects.ReadEntries(object)
	}
	if i := slices.IndexFunc(c.fields, func(e wire.Entry) bool { return e.Key == "status" }); err == nil && i >= 0 {
		c.status, err = objects.ReadEntries(objects.In(c.fields[i].Value))
		c.fields = slices.Delete(c.fields, i, i+1)
	}

	return err
}

// readState returns the encoded Resources of a State: the XR, and the composed
// resources by their keys.
func readState(state []byte) (composite []byte, resources []wire.Entry, err error) {
	for f, err := range wire.Fields(state) {
		if err != nil {
			return nil, nil, err
		}
		if f.Type != protowire.BytesType {
			continue
		}
		switch f.Number {
		case stateComposite:
			composite = wire.Merge(composite, f.Bytes)
		case stateResources:
			e, err := wire.ReadEntry(f.Bytes)
			if err != nil {
				return nil, nil, err
			}
			resources = append(resources, e)
		}
	}

	return composite, wire.LastOfEach(resources), nil
}

// objectOf returns the encoded Struct of an encoded Resource.
func objectOf(resource []byte) ([]byte, error) {
	var object []byte
	for f, err := range wire.Fields(resource) {
		if err != nil {
			return nil, err
		}
		if f.Number == resourceObject && f.Type == protowire.BytesType {
			object = wire.Merge(object, f.Bytes)
		}
	}

	return object, nil
}
