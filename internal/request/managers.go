package request

import (
	"strings"

	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/wire"
)

// composedManager is the prefix of the field manager under which Crossplane applies
// composed resources:
// https://github.com/crossplane/crossplane/blob/v2.4.0/internal/controller/apiextensions/composite/composition_functions.go
const composedManager = "apiextensions.crossplane.io/composed"

// managers holds the managedFields of an observed Deployment. They are long and rarely
// needed, so they stay encoded until they are read.
type managers struct{ encoded wire.Entry }

// A managedField is a field of a Deployment whose owners the function reads.
type managedField int

// The fields whose owners the function reads.
const (
	FieldReplicas managedField = iota
	FieldImage
)

// An owner is a field manager. Fields has those of its fields that the function reads.
type owner struct {
	Manager string `json:"manager"`
	Fields  struct {
		Spec struct {
			Replicas *struct{} `json:"f:replicas"`
			Template struct {
				Spec struct {
					// Containers are keyed by k:{"name":"NAME"}.
					Containers map[string]struct {
						Image *struct{} `json:"f:image"`
					} `json:"f:containers"`
				} `json:"f:spec"`
			} `json:"f:template"`
		} `json:"f:spec"`
	} `json:"fieldsV1"`
}

func (o owner) owns(f managedField) bool {
	if f == FieldReplicas {
		return o.Fields.Spec.Replicas != nil
	}

	containers := o.Fields.Spec.Template.Spec.Containers

	return containers[`k:{"name":"`+view.ContainerName+`"}`].Image != nil || containers[`k:{"name":"`+view.ServerName+`"}`].Image != nil
}

// CrossplaneOwns returns whether Crossplane is the only owner of a field.
func (m managers) CrossplaneOwns(f managedField) bool {
	type managed struct {
		Metadata struct {
			ManagedFields []owner `json:"managedFields"`
		} `json:"metadata"`
	}
	deployment, err := decodeObserved[managed](m.encoded)
	if err != nil {
		return false
	}
	owned := false
	for _, o := range deployment.Metadata.ManagedFields {
		if !o.owns(f) {
			continue
		}
		if !strings.HasPrefix(o.Manager, composedManager) {
			return false
		}
		owned = true
	}

	return owned
}
