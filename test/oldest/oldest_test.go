// Package oldest_test tests that the oldest supported Kubernetes accepts the XRDs. An
// API server estimates the cost of the CEL rules of a CRD, and rejects a CRD that
// exceeds the limit. Older releases have higher estimates, and fewer CEL functions. The
// oldest supported Kubernetes is the version of apiextensions-apiserver in go.mod.
package oldest_test

import (
	"context"
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
			crd, internal := readCRD(t, file), &apiextensions.CustomResourceDefinition{}
			extv1.SetObjectDefaults_CustomResourceDefinition(crd)
			if err := extv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, internal, nil); err != nil {
				t.Fatal(err)
			}
			if errs := validation.ValidateCustomResourceDefinition(context.Background(), internal); len(errs) > 0 {
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
		metav1.TypeMeta
		Metadata metav1.ObjectMeta `json:"metadata"`
		Spec     struct {
			extv1.CustomResourceDefinitionSpec
			DefaultCompositionRef any `json:"defaultCompositionRef"`
			Versions              []struct {
				extv1.CustomResourceDefinitionVersion
				Referenceable bool `json:"referenceable"`
			} `json:"versions"`
		} `json:"spec"`
	}{}
	if err := yaml.UnmarshalStrict(b, &xrd); err != nil {
		t.Fatal(err)
	}
	crd := &extv1.CustomResourceDefinition{ObjectMeta: xrd.Metadata, Spec: xrd.Spec.CustomResourceDefinitionSpec}
	version := xrd.Spec.Versions[0].CustomResourceDefinitionVersion
	version.Storage = true
	crd.Spec.Versions = []extv1.CustomResourceDefinitionVersion{version}
	crd.Status.StoredVersions = []string{version.Name}

	return crd
}
