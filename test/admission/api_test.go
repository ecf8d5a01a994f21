// Package admission_test tests which MarkdownViews the API server rejects. It derives
// the CRD from the XRD with the code of Crossplane, and validates with the code of the
// API server, so it needs no control plane.
package admission_test

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	xpv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	extvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	k8sschema "k8s.io/apimachinery/pkg/runtime/schema"
	k8sjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

const definition = "../../package/configuration/definition.yaml"

// An api is the API that the API server serves for an XRD.
type api struct {
	schema   *schema.Structural
	validate func(context.Context, runtime.Object) field.ErrorList
}

// read reads an object strictly: a misspelled field is an error.
func read[T any](t testing.TB, name string) *T {
	t.Helper()
	object := new(T)
	if err := yaml.UnmarshalStrict([]byte(readPage(t, name)), object); err != nil {
		t.Fatalf("cannot read %s: %v", name, err)
	}

	return object
}

// serveFile returns the API of the XRD in a file.
func serveFile(t testing.TB, name string) *api {
	t.Helper()
	a, err := serve(read[xpv1.CompositeResourceDefinition](t, name))
	must(t, err)

	return a
}

// serve returns the API of an XRD, or why the API server would reject its CRD, for
// example because of the estimated cost of CEL rules.
func serve(xrd *xpv1.CompositeResourceDefinition) (*api, error) {
	v1, err := xcrd.ForCompositeResource(xrd)
	if err != nil {
		return nil, errors.Wrap(err, "cannot derive CRD")
	}
	v1.OwnerReferences = nil // They name the XRD by its UID, which a file does not have.

	return serveCRD(v1)
}

// serveCRD is serve for a CRD.
func serveCRD(v1 *extv1.CustomResourceDefinition) (*api, error) {
	extv1.SetObjectDefaults_CustomResourceDefinition(v1)
	crd := &apiextensions.CustomResourceDefinition{}
	if err := extv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(v1, crd, nil); err != nil {
		return nil, errors.Wrap(err, "cannot convert CRD")
	}
	crd.Status.StoredVersions = []string{crd.Spec.Versions[0].Name} // The API server sets this field.
	if errs := extvalidation.ValidateCustomResourceDefinition(context.Background(), crd); len(errs) > 0 {
		return nil, errors.Wrap(errs.ToAggregate(), "cannot create CRD")
	}

	// The conversion has moved the schema of the only version to the top level.
	props := crd.Spec.Validation.OpenAPIV3Schema
	structural, err := schema.NewStructural(props)
	if err != nil {
		return nil, errors.Wrap(err, "cannot read schema")
	}
	validator, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		return nil, errors.Wrap(err, "cannot create validator")
	}
	gvk := k8sschema.GroupVersionKind{Group: crd.Spec.Group, Version: crd.Spec.Versions[0].Name, Kind: crd.Spec.Names.Kind}
	subresources := cmp.Or(crd.Spec.Subresources, &apiextensions.CustomResourceSubresources{})
	strategy := customresource.NewStrategy(nil, true, gvk, validator, nil, structural, subresources.Status, subresources.Scale, nil)

	return &api{schema: structural, validate: strategy.Validate}, nil
}

// create returns an XR as the API server would store it, and the errors for which it
// would reject the XR.
func (a *api) create(t testing.TB, xr map[string]any) (stored map[string]any, rejected []string) {
	t.Helper()
	b, err := json.Marshal(xr)
	must(t, err)
	u := &unstructured.Unstructured{}
	must(t, k8sjson.Unmarshal(b, &u.Object))
	pruning.Prune(u.Object, a.schema, true)
	defaulting.Default(u.Object, a.schema)

	for _, err := range a.validate(context.Background(), u) {
		// This error follows some schema errors and adds nothing.
		if !strings.Contains(err.Detail, "some validation rules were not checked") {
			rejected = append(rejected, err.Error())
		}
	}
	slices.Sort(rejected)

	return u.Object, rejected
}

// view returns a MarkdownView with a spec.
func view(spec map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": "markdownview.fn.crossplane.io/v1alpha1",
		"kind":       "MarkdownView",
		"metadata":   map[string]any{"namespace": "default", "name": "handbook", "uid": "7d3c1e6e-8f7e-4f0a-9a53-0a9a3d9d7c11", "generation": 1},
		"spec":       spec,
	}
}

// spec returns the spec of a small book, with fields in YAML. Those with null are removed.
func spec(t testing.TB, fields string) map[string]any {
	t.Helper()
	all := with(nil)
	must(t, yaml.Unmarshal([]byte(fields), &all))
	maps.DeleteFunc(all, func(_ string, value any) bool { return value == nil })

	return all
}

// with returns the spec of a small book, with fields set or replaced.
func with(fields map[string]any) map[string]any {
	all := map[string]any{"markdowns": files(nil)}
	maps.Copy(all, fields)

	return all
}

// files returns the files of a small book, and more.
func files(more map[string]string) map[string]string {
	all := map[string]string{"SUMMARY.md": "# Summary\n\n- [Page](page.md)\n", "page.md": "# Page\n"}
	maps.Copy(all, more)

	return all
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
