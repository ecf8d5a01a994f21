package request

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/crossplane-contrib/function-markdownview/internal/wire"
)

// The numbers of the fields of a State and of a Resource, from run_function.proto of
// function-sdk-go.
const (
	StateComposite = 1
	StateResources = 2
	ResourceObject = 1
	ResourceReady  = 3
)

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
		case StateComposite:
			composite = wire.Merge(composite, f.Bytes)
		case StateResources:
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
		if f.Number == ResourceObject && f.Type == protowire.BytesType {
			object = wire.Merge(object, f.Bytes)
		}
	}

	return object, nil
}
