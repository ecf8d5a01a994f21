package fn

import (
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/objects"
	"github.com/crossplane-contrib/function-markdownview/internal/wire"
)

// Crossplane cannot apply a status field that the XRD does not declare. Our XRD
// declares all fields that the function writes. For another XRD, the Input names the
// declared fields, or the function requires the schema of the XR: Crossplane then calls
// the function again with the schema, unless the Composition has already required it
// under the same name.
const (
	ownGroup = "markdownview.fn.crossplane.io"

	// requirementXR is the name of the required schema. Compositions use it too, so it
	// is permanent.
	requirementXR = "xr"

	requirementsSchemas = 3
	selectorAPIVersion  = 1
	selectorKind        = 2

	// capabilitySchemas is CAPABILITY_REQUIRED_SCHEMAS, since Crossplane 2.2.
	capabilitySchemas = 5
)

// needsSchema returns whether the schema of the XR determines which status fields are
// declared.
func (v view) needsSchema() bool {
	group, _, _ := strings.Cut(v.APIVersion, "/")

	return v.input.StatusFields == nil && group != ownGroup
}

// readDeclared reads from the required schemas of a request which status fields the XR
// declares. The schemas are encoded entries of a map; the last one with a key counts.
// Without a schema, all fields count as declared.
func (req *request) readDeclared(schemas [][]byte) error {
	if !req.view.needsSchema() {
		return nil
	}
	req.requiresSchema = req.capable(capabilitySchemas)
	for _, encoded := range schemas {
		e, err := wire.ReadEntry(encoded)
		if err != nil {
			return err
		}
		if e.Key != requirementXR {
			continue
		}
		req.view.declared = nil
		var schema struct {
			Properties map[string]struct {
				Properties map[string]struct {
					Type string `json:"type"`
				} `json:"properties"`
				Open bool `json:"x-kubernetes-preserve-unknown-fields"`
			} `json:"properties"`
		}
		// A Schema has its Struct in the field in which a Resource has its object.
		object, err := objectOf(e.Value)
		if err == nil {
			_, err = objects.Decode(object, &schema, nil, objects.Options{})
		}
		if err != nil {
			return err
		}
		if status := schema.Properties["status"]; schema.Properties != nil && !status.Open {
			req.view.declared = []v1beta1.StatusField{}
			for name, kind := range statusTypes() {
				if status.Properties[string(name)].Type == kind {
					req.view.declared = append(req.view.declared, name)
				}
			}
		}
	}

	return nil
}

// statusTypes returns the types of the status fields in a schema. A field with another
// type has another meaning.
func statusTypes() map[v1beta1.StatusField]string {
	return map[v1beta1.StatusField]string{
		v1beta1.StatusFieldStatus:             "string",
		v1beta1.StatusFieldReplicas:           "integer",
		v1beta1.StatusFieldReadyReplicas:      "integer",
		v1beta1.StatusFieldSelector:           "string",
		v1beta1.StatusFieldObservedGeneration: "integer",
		v1beta1.StatusFieldURL:                "string",
	}
}

// readCapabilities reads one field of capabilities, packed or not.
func (req *request) readCapabilities(f wire.Field) error {
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

// capable returns whether Crossplane has a capability.
func (req *request) capable(capability int) bool { return req.capabilities&(1<<capability) != 0 }

// writeSchema writes the requirement for the schema of the XR.
func writeSchema(w *objects.Writer, v view) {
	w.Entry(requirementsSchemas, requirementXR, func() {
		w.Text(selectorKind, v.Kind)
		w.Text(selectorAPIVersion, v.APIVersion)
	})
}
