package request

import (
	"strings"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/objects"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/wire"
)

// Crossplane cannot apply a status field that the XRD does not declare. Our XRD
// declares all fields that the function writes. For another XRD, the Input names the
// declared fields, or the function requires the schema of the XR: Crossplane then calls
// the function again with the schema, unless the Composition has already required it
// under the same name.
const (
	ownGroup = "markdownview.fn.crossplane.io"
	// RequirementXR is the name of the required schema. Compositions use it too, so it
	// is permanent.
	RequirementXR = "xr"
	// capabilitySchemas is CAPABILITY_REQUIRED_SCHEMAS, since Crossplane 2.2.
	capabilitySchemas = 5
)

// needsSchema returns whether the schema of the XR determines which status fields are
// declared.
func needsSchema(v view.View) bool {
	group, _, _ := strings.Cut(v.APIVersion, "/")

	return v.Input.StatusFields == nil && group != ownGroup
}

// readDeclared reads from the required schemas of a request which status fields the XR
// declares. The schemas are encoded entries of a map; the last one with a key counts.
// Without a schema, all fields count as declared.
func (req *Request) readDeclared(schemas [][]byte) error {
	if !needsSchema(req.View) {
		return nil
	}
	req.RequiresSchema = req.Capable(capabilitySchemas)
	for _, encoded := range schemas {
		e, err := wire.ReadEntry(encoded)
		if err != nil {
			return err
		}
		if e.Key != RequirementXR {
			continue
		}
		req.View.Declared = nil
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
			req.View.Declared = []v1beta1.StatusField{}
			for name, kind := range statusTypes() {
				if status.Properties[string(name)].Type == kind {
					req.View.Declared = append(req.View.Declared, name)
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
