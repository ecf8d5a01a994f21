// Package oldest_test tests that the oldest supported Kubernetes accepts the XRDs. An
// API server estimates the cost of the CEL rules of a CRD, and rejects a CRD that
// exceeds the limit. Older releases have higher estimates, and fewer CEL functions. The
// oldest supported Kubernetes is the version of apiextensions-apiserver in go.mod.
package oldest_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func TestXRDs(t *testing.T) {
	for name, file := range map[string]string{
		"Package":  "../../package/configuration/definition.yaml",
		"Tutorial": "../../example/tutorial/definition.yaml",
	} {
		t.Run(name, func(t *testing.T) {
			crd := internal(t, readCRD(t, file))
			if errs := validation.ValidateCustomResourceDefinition(context.Background(), crd); len(errs) > 0 {
				t.Errorf("%s: %v", file, errs.ToAggregate())
			}
		})
	}
}

// readCRD returns the CRD of an XRD, without the fields that Crossplane adds, which
// have no CEL rules.
func readCRD(t *testing.T, file string) *extv1.CustomResourceDefinition {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	xrd := struct {
		Metadata metav1.ObjectMeta
		Spec     struct {
			Group    string
			Names    extv1.CustomResourceDefinitionNames
			Scope    extv1.ResourceScope
			Versions []struct {
				Name   string
				Schema struct{ OpenAPIV3Schema json.RawMessage }
			}
		}
	}{}
	if err := yaml.Unmarshal(b, &xrd); err != nil {
		t.Fatal(err)
	}
	version := xrd.Spec.Versions[0]
	schema := &extv1.JSONSchemaProps{}
	if err := yaml.UnmarshalStrict(version.Schema.OpenAPIV3Schema, schema); err != nil {
		t.Fatal(err)
	}

	return &extv1.CustomResourceDefinition{
		ObjectMeta: xrd.Metadata,
		Spec: extv1.CustomResourceDefinitionSpec{
			Group: xrd.Spec.Group, Names: xrd.Spec.Names, Scope: xrd.Spec.Scope,
			Versions: []extv1.CustomResourceDefinitionVersion{{
				Name: version.Name, Served: true, Storage: true,
				Schema: &extv1.CustomResourceValidation{OpenAPIV3Schema: schema},
			}},
		},
		Status: extv1.CustomResourceDefinitionStatus{StoredVersions: []string{version.Name}},
	}
}

// internal returns a CRD in the form that the API server validates.
func internal(t *testing.T, crd *extv1.CustomResourceDefinition) *apiextensions.CustomResourceDefinition {
	t.Helper()
	extv1.SetObjectDefaults_CustomResourceDefinition(crd)
	out := &apiextensions.CustomResourceDefinition{}
	if err := extv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, out, nil); err != nil {
		t.Fatal(err)
	}

	return out
}
