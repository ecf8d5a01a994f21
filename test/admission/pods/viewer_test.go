package pods

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	xpv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-markdownview/fn"
)

// TestRendered checks the pods of the rendered examples.
func TestRendered(t *testing.T) {
	files, err := filepath.Glob("../../../example/rendered/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 4 {
		t.Fatalf("want the files of \"make render\", got %v", files)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			deployments := 0
			for document := range bytes.SplitSeq(content, []byte("\n---\n")) {
				d := &appsv1.Deployment{}
				if err := yaml.Unmarshal(document, d); err != nil || d.Kind != "Deployment" {
					continue
				}
				deployments++
				if diff := cmp.Diff([]string{}, violations(t, &d.Spec.Template)); diff != "" {
					t.Errorf("violations: -want, +got:\n%s", diff)
				}
			}
			if deployments != 1 {
				t.Errorf("Deployments: want 1, got %d", deployments)
			}
		})
	}
}

// TestOpenShiftPods applies the Composition for OpenShift twice, as kubectl apply does
// with a custom resource, and composes a MarkdownView with the stored Composition. The
// second apply could remove nulls.
func TestOpenShiftPods(t *testing.T) {
	content, err := os.ReadFile("../../../example/production/openshift.yaml")
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := yaml.YAMLToJSON(content)
	if err != nil {
		t.Fatal(err)
	}
	stored := []byte(`{}`)
	for last := []byte(`{}`); ; last = manifest {
		patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(last, manifest, stored)
		if err != nil {
			t.Fatal(err)
		}
		if stored, err = jsonpatch.MergePatch(stored, patch); err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(last, manifest) {
			break
		}
	}
	composition := &xpv1.Composition{}
	if err := json.Unmarshal(stored, composition); err != nil {
		t.Fatal(err)
	}

	want := &corev1.PodSecurityContext{
		RunAsNonRoot:   ptr.To(true),
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	template := compose(t, composition.Spec.Pipeline[0].Input.Raw).Spec.Template
	if diff := cmp.Diff(want, template.Spec.SecurityContext); diff != "" {
		t.Errorf("security context: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{}, violations(t, &template)); diff != "" {
		t.Errorf("violations: -want, +got:\n%s", diff)
	}
}

// TestProductionPods checks the pods of the Composition for production, in which a web
// server serves the book.
func TestProductionPods(t *testing.T) {
	composition := read[xpv1.Composition](t, "composition.yaml", "Composition", "markdownview-production")
	template := compose(t, composition.Spec.Pipeline[0].Input.Raw).Spec.Template
	if len(template.Spec.InitContainers) != 1 || len(template.Spec.Containers) != 1 {
		t.Fatalf("want mdBook and a web server, got %v and %v", template.Spec.InitContainers, template.Spec.Containers)
	}
	if diff := cmp.Diff([]string{}, violations(t, &template)); diff != "" {
		t.Errorf("violations: -want, +got:\n%s", diff)
	}
}

// TestProductionRole checks that Crossplane has permission for everything that the
// Compositions for production compose.
func TestProductionRole(t *testing.T) {
	role := read[rbacv1.ClusterRole](t, "rbac.yaml", "ClusterRole", "crossplane-markdownview-delivery")
	if role.Labels["rbac.crossplane.io/aggregate-to-crossplane"] != "true" {
		t.Error("want a role that is aggregated to Crossplane")
	}
	got := map[string][]string{}
	for _, rule := range role.Rules {
		got[rule.APIGroups[0]+"/"+rule.Resources[0]] = rule.Verbs
	}
	verbs := []string{"get", "list", "watch", "create", "update", "patch", "delete"}
	want := map[string][]string{"policy/poddisruptionbudgets": verbs, "gateway.networking.k8s.io/httproutes": verbs, "networking.k8s.io/ingresses": verbs, "source.toolkit.fluxcd.io/ocirepositories": verbs[:3]}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules: -want, +got:\n%s", diff)
	}
}

// compose returns the Deployment that the function composes for example/xr.yaml with an
// Input.
func compose(t *testing.T, input []byte) *appsv1.Deployment {
	t.Helper()
	req := &fnv1.RunFunctionRequest{Input: &structpb.Struct{}, Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: &structpb.Struct{}}}}
	if err := req.GetInput().UnmarshalJSON(input); err != nil {
		t.Fatal(err)
	}
	xr, err := os.ReadFile("../../../example/xr.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if xr, err = yaml.YAMLToJSON(xr); err != nil {
		t.Fatal(err)
	}
	if err := req.GetObserved().GetComposite().GetResource().UnmarshalJSON(xr); err != nil {
		t.Fatal(err)
	}
	rsp, err := fn.New(logging.NewNopLogger(), 0).RunFunction(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	content, err := rsp.GetDesired().GetResources()["deployment"].GetResource().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	d := &appsv1.Deployment{}
	if err := json.Unmarshal(content, d); err != nil {
		t.Fatal(err)
	}

	return d
}
