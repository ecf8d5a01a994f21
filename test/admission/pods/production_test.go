// Package pods tests the pods that the function composes against the restricted Pod Security
// Standard, and that the files of example/production match each other. test/e2e runs the
// function with them in a namespace that enforces the standard.
package pods

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	pkgmetav1 "github.com/crossplane/crossplane/apis/v2/pkg/meta/v1"
	"github.com/crossplane/crossplane/apis/v2/pkg/v1beta1"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"
)

// read strictly decodes the object with a kind and name in a file of
// example/production.
func read[T any](t *testing.T, file, kind, name string) *T {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("../../../example/production", file))
	must(t, err)
	for document := range strings.SplitSeq(string(content), "\n---\n") {
		meta := &metav1.PartialObjectMetadata{}
		must(t, yaml.Unmarshal([]byte(document), meta))
		if meta.Kind != kind || meta.Name != name {
			continue
		}
		object := new(T)
		must(t, yaml.UnmarshalStrict([]byte(document), object))

		return object
	}
	t.Fatalf("%s has no %s %q", file, kind, name)

	return nil
}

// ours returns the template of the Deployment that Crossplane creates for the function.
func ours(t *testing.T) *appsv1.DeploymentSpec {
	t.Helper()
	return read[v1beta1.DeploymentRuntimeConfig](t, "runtime.yaml", "DeploymentRuntimeConfig", "function-markdownview").Spec.DeploymentTemplate.Spec
}

// TestFunctionPods checks the fields of the pods for which the defaults of Kubernetes and Crossplane
// are not good enough. The pods set no users and groups: the SCC restricted-v2 of OpenShift has a
// range of users and groups for each namespace. It sets them in pods that set none, and rejects
// pods that set others:
// https://docs.redhat.com/en/documentation/openshift_container_platform/4.20/html/authentication_and_authorization/managing-pod-security-policies
func TestFunctionPods(t *testing.T) {
	pod := ours(t).Template.Spec
	if len(pod.Containers) != 1 {
		t.Fatalf("containers: want 1, got %d", len(pod.Containers))
	}
	probe := func(path string) corev1.ProbeHandler {
		return corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString("metrics")}}
	}
	want := []any{
		&corev1.PodSecurityContext{
			RunAsNonRoot:   ptr.To(true),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		&corev1.SecurityContext{
			RunAsNonRoot: ptr.To(true), ReadOnlyRootFilesystem: ptr.To(true), AllowPrivilegeEscalation: ptr.To(false),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
		probe("/readyz"), probe("/livez"),
	}
	c := pod.Containers[0]
	got := []any{pod.SecurityContext, c.SecurityContext, c.ReadinessProbe.ProbeHandler, c.LivenessProbe.ProbeHandler}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if c.Resources.Requests.Cpu().IsZero() || c.Resources.Requests.Memory().IsZero() || c.Resources.Limits.Memory().IsZero() {
		t.Errorf("requests or limits are missing: %v", c.Resources)
	}
}

// TestSelectors checks that every selector selects the pods of the Deployment.
func TestSelectors(t *testing.T) {
	d := ours(t)
	labels := map[string]string{"app.kubernetes.io/name": "function-markdownview"}
	selector := &metav1.LabelSelector{MatchLabels: labels}
	want := map[string]any{
		"pods": labels, "budget": selector, "kubernetes.io/hostname": selector, "topology.kubernetes.io/zone": selector,
	}
	budget := read[policyv1.PodDisruptionBudget](t, "runtime.yaml", "PodDisruptionBudget", "function-markdownview")
	got := map[string]any{"pods": d.Template.Labels, "budget": budget.Spec.Selector}
	for _, s := range d.Template.Spec.TopologySpreadConstraints {
		got[s.TopologyKey] = s.LabelSelector
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("labels and selectors: -want, +got:\n%s", diff)
	}
	if d.Replicas == nil || *d.Replicas < 2 {
		t.Error("want two replicas or more, so that the PodDisruptionBudget can keep one")
	}
}

// TestImageConfigs checks that ImageConfigs for our packages also match their copies in
// the mirror.
func TestImageConfigs(t *testing.T) {
	// The package of the function on which our configuration depends.
	const file = "../../package/configuration/crossplane.yaml"
	function := *read[pkgmetav1.Configuration](t, file, "Configuration", "configuration-markdownview").Spec.DependsOn[0].Package
	images := map[string][]v1beta1.ImageMatch{}
	for _, name := range []string{"function", "configuration"} {
		mirror := read[v1beta1.ImageConfig](t, "mirror.yaml", "ImageConfig", "mirror-"+name).Spec
		original := v1beta1.ImageMatch{Prefix: strings.Replace(function, "/function-", "/"+name+"-", 1)}
		if diff := cmp.Diff(original, mirror.MatchImages[0]); diff != "" {
			t.Errorf("mirrored images: -want, +got:\n%s", diff)
		}
		images[name] = []v1beta1.ImageMatch{original, {Prefix: mirror.RewriteImage.Prefix}}
	}

	runtime := read[v1beta1.ImageConfig](t, "runtime.yaml", "ImageConfig", "function-markdownview-runtime")
	if diff := cmp.Diff(images["function"], runtime.Spec.MatchImages); diff != "" {
		t.Errorf("images of the runtime: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff("function-markdownview", runtime.Spec.Runtime.ConfigReference.Name); diff != "" {
		t.Errorf("runtime config: -want, +got:\n%s", diff)
	}

	signature := read[v1beta1.ImageConfig](t, "signature.yaml", "ImageConfig", "function-markdownview-signature")
	f, c := images["function"], images["configuration"]
	want := []v1beta1.ImageMatch{f[0], c[0], f[1], c[1]}
	if diff := cmp.Diff(want, signature.Spec.MatchImages); diff != "" {
		t.Errorf("signed images: -want, +got:\n%s", diff)
	}
}

// TestSigner checks that only the release workflow is a valid signer, and only for a
// version tag.
func TestSigner(t *testing.T) {
	signature := read[v1beta1.ImageConfig](t, "signature.yaml", "ImageConfig", "function-markdownview-signature")
	identity := signature.Spec.Verification.Cosign.Authorities[0].Keyless.Identities[0]
	if _, err := os.Stat("../../../.github/workflows/release.yaml"); err != nil {
		t.Error(err)
	}
	for subject, want := range map[string]bool{
		"crossplane-contrib/function-markdownview/.github/workflows/release.yaml@refs/tags/v0.1.0":      true,
		"crossplane-contrib/function-markdownview/.github/workflows/release.yaml@refs/heads/main":       false,
		"crossplane-contrib/function-markdownview/.github/workflows/ci.yaml@refs/tags/v0.1.0":           false,
		"someone/function-markdownview/.github/workflows/release.yaml@refs/tags/v0.1.0":                 false,
		"crossplane-contrib/function-markdownview/.github/workflows/release.yaml@refs/tags/v0.1.0-evil": false,
	} {
		if got := regexp.MustCompile(identity.SubjectRegExp).MatchString("https://github.com/" + subject); got != want {
			t.Errorf("signed by %s: want %v, got %v", subject, want, got)
		}
	}
}
