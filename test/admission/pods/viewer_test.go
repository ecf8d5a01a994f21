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
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-markdownview/fn"
)

// restricted checks that the pods of a Deployment meet the restricted Pod Security Standard,
// according to the evaluator of Kubernetes.
func restricted(t *testing.T, d *appsv1.Deployment) {
	t.Helper()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	must(t, err)
	level, template := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}, d.Spec.Template
	for _, r := range evaluator.EvaluatePod(level, &template.ObjectMeta, &template.Spec) {
		if !r.Allowed {
			t.Errorf("%s: %s", r.ForbiddenReason, r.ForbiddenDetail)
		}
	}
}

// TestRendered checks the pods of the rendered examples, of which at least one has a web server.
func TestRendered(t *testing.T) {
	files, err := filepath.Glob("../../../example/rendered/*.yaml")
	must(t, err)
	if len(files) < 4 {
		t.Fatalf("want the files of \"make render\", got %v", files)
	}
	servers := 0
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			content, err := os.ReadFile(file)
			must(t, err)
			deployments := 0
			for document := range bytes.SplitSeq(content, []byte("\n---\n")) {
				d := &appsv1.Deployment{}
				if err := yaml.Unmarshal(document, d); err == nil && d.Kind == "Deployment" {
					deployments++
					servers += len(d.Spec.Template.Spec.InitContainers)
					restricted(t, d)
				}
			}
			if deployments != 1 {
				t.Errorf("Deployments: want 1, got %d", deployments)
			}
		})
	}
	if servers == 0 {
		t.Error("no pod has a web server, which an init container prepares")
	}
}

// TestOpenShiftPods applies the Composition for OpenShift twice, as kubectl apply does
// with a custom resource, and composes a MarkdownView with the stored Composition. The
// second apply could remove nulls.
func TestOpenShiftPods(t *testing.T) {
	manifest, xr := readJSON(t, "../../../example/production/openshift.yaml"), readJSON(t, "../../../example/xr.yaml")
	stored := []byte(`{}`)
	for _, last := range [][]byte{stored, manifest} {
		patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(last, manifest, stored)
		must(t, err)
		stored, err = jsonpatch.MergePatch(stored, patch)
		must(t, err)
	}
	composition, input, composite, d := &xpv1.Composition{}, &structpb.Struct{}, &structpb.Struct{}, &appsv1.Deployment{}
	must(t, json.Unmarshal(stored, composition))
	must(t, input.UnmarshalJSON(composition.Spec.Pipeline[0].Input.Raw))
	must(t, composite.UnmarshalJSON(xr))
	rsp, err := fn.New(logging.NewNopLogger(), 0).RunFunction(t.Context(), &fnv1.RunFunctionRequest{
		Input: input, Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: composite}},
	})
	must(t, err)
	content, err := rsp.GetDesired().GetResources()["deployment"].GetResource().MarshalJSON()
	must(t, err)
	must(t, json.Unmarshal(content, d))

	want := &corev1.PodSecurityContext{
		RunAsNonRoot:   ptr.To(true),
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	if diff := cmp.Diff(want, d.Spec.Template.Spec.SecurityContext); diff != "" {
		t.Errorf("security context: -want, +got:\n%s", diff)
	}
	restricted(t, d)
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

func readJSON(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	must(t, err)
	content, err = yaml.YAMLToJSON(content)
	must(t, err)

	return content
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
