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

	"github.com/crossplane/crossplane/apis/v2/pkg/v1beta1"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"
)

// read strictly decodes the object with a kind and name in a file of
// example/production.
func read[T any](t *testing.T, file, kind, name string) *T {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("../../../example/production", file))
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(content), "\n---\n") {
		meta := &metav1.PartialObjectMetadata{}
		if err := yaml.Unmarshal([]byte(document), meta); err != nil {
			t.Fatal(err)
		}
		if meta.Kind != kind || meta.Name != name {
			continue
		}
		object := new(T)
		if err := yaml.UnmarshalStrict([]byte(document), object); err != nil {
			t.Fatal(err)
		}

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

// violations returns how a pod violates the restricted Pod Security Standard, according
// to the evaluator of Kubernetes.
func violations(t *testing.T, pod *corev1.PodTemplateSpec) []string {
	t.Helper()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, r := range evaluator.EvaluatePod(api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}, &pod.ObjectMeta, &pod.Spec) {
		if !r.Allowed {
			got = append(got, r.ForbiddenReason+": "+r.ForbiddenDetail)
		}
	}

	return got
}

// TestOpenShift checks that the pods set no users and groups. The SCC restricted-v2 of
// OpenShift has a range of users and groups for each namespace: it sets them in pods that
// set none, and rejects pods that set others:
// https://docs.redhat.com/en/documentation/openshift_container_platform/4.20/html/authentication_and_authorization/managing-pod-security-policies
func TestOpenShift(t *testing.T) {
	type identity struct {
		RunAsUser, RunAsGroup, FSGroup *int64
		SELinux                        *corev1.SELinuxOptions
		Groups                         []int64
	}
	pod := ours(t).Template.Spec
	want := identity{}
	got := identity{pod.SecurityContext.RunAsUser, pod.SecurityContext.RunAsGroup, pod.SecurityContext.FSGroup, pod.SecurityContext.SELinuxOptions, pod.SecurityContext.SupplementalGroups}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pod: -want, +got:\n%s", diff)
	}
	for _, c := range pod.Containers {
		got := identity{RunAsUser: c.SecurityContext.RunAsUser, RunAsGroup: c.SecurityContext.RunAsGroup, SELinux: c.SecurityContext.SELinuxOptions}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("container %q: -want, +got:\n%s", c.Name, diff)
		}
	}
}

// TestContainer checks the fields of the container for which the defaults of Kubernetes
// and Crossplane are not good enough.
func TestContainer(t *testing.T) {
	containers := ours(t).Template.Spec.Containers
	if len(containers) != 1 {
		t.Fatalf("containers: want 1, got %d", len(containers))
	}
	c := containers[0]
	if c.SecurityContext.ReadOnlyRootFilesystem == nil || !*c.SecurityContext.ReadOnlyRootFilesystem {
		t.Error("the root file system is writable")
	}
	if c.Resources.Requests.Cpu().IsZero() || c.Resources.Requests.Memory().IsZero() || c.Resources.Limits.Memory().IsZero() {
		t.Errorf("requests or limits are missing: %v", c.Resources)
	}
	for path, probe := range map[string]*corev1.Probe{"/readyz": c.ReadinessProbe, "/livez": c.LivenessProbe} {
		if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Path != path || probe.HTTPGet.Port.String() != "metrics" {
			t.Errorf("want a probe of %s on the metrics port", path)
		}
	}
}

// TestSelectors checks that every selector selects the pods of the Deployment.
func TestSelectors(t *testing.T) {
	d := ours(t)
	budget := read[policyv1.PodDisruptionBudget](t, "runtime.yaml", "PodDisruptionBudget", "function-markdownview")
	selectors := map[string]*metav1.LabelSelector{"PodDisruptionBudget": budget.Spec.Selector}
	for _, s := range d.Template.Spec.TopologySpreadConstraints {
		selectors[s.TopologyKey] = s.LabelSelector
	}
	for _, key := range []string{"PodDisruptionBudget", "kubernetes.io/hostname", "topology.kubernetes.io/zone"} {
		s, err := metav1.LabelSelectorAsSelector(selectors[key])
		if err != nil {
			t.Fatal(err)
		}
		if s.Empty() || !s.Matches(labels.Set(d.Template.Labels)) {
			t.Errorf("%s: %q does not select the pods of the function", key, s)
		}
	}
	if d.Replicas == nil || *d.Replicas < 2 {
		t.Error("want two replicas or more, so that the PodDisruptionBudget can keep one")
	}
}

// TestImageConfigs checks that ImageConfigs for our packages also match their copies in
// the mirror.
func TestImageConfigs(t *testing.T) {
	function := repository(t, "../../../package/configuration/crossplane.yaml")
	configuration := strings.Replace(function, "/function-", "/configuration-", 1)
	mirrored := map[string]string{}
	for _, name := range []string{"mirror-function", "mirror-configuration"} {
		mirror := read[v1beta1.ImageConfig](t, "mirror.yaml", "ImageConfig", name)
		mirrored[mirror.Spec.MatchImages[0].Prefix] = mirror.Spec.RewriteImage.Prefix
	}

	runtime := read[v1beta1.ImageConfig](t, "runtime.yaml", "ImageConfig", "function-markdownview-runtime")
	if diff := cmp.Diff([]v1beta1.ImageMatch{{Prefix: function}, {Prefix: mirrored[function]}}, runtime.Spec.MatchImages); diff != "" {
		t.Errorf("images of the runtime: -want, +got:\n%s", diff)
	}
	config := read[v1beta1.DeploymentRuntimeConfig](t, "runtime.yaml", "DeploymentRuntimeConfig", "function-markdownview")
	if diff := cmp.Diff(config.Name, runtime.Spec.Runtime.ConfigReference.Name); diff != "" {
		t.Errorf("runtime config: -want, +got:\n%s", diff)
	}

	signature := read[v1beta1.ImageConfig](t, "signature.yaml", "ImageConfig", "function-markdownview-signature")
	want := []v1beta1.ImageMatch{{Prefix: function}, {Prefix: configuration}, {Prefix: mirrored[function]}, {Prefix: mirrored[configuration]}}
	if diff := cmp.Diff(want, signature.Spec.MatchImages); diff != "" {
		t.Errorf("signed images: -want, +got:\n%s", diff)
	}
}

// repository returns the repository of the function on which our configuration depends.
func repository(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := struct {
		Spec struct{ DependsOn []struct{ Package string } }
	}{}
	if err := yaml.Unmarshal(content, &c); err != nil {
		t.Fatal(err)
	}

	return c.Spec.DependsOn[0].Package
}

// TestSigner checks that only the release workflow is a valid signer, and only for a
// version tag.
func TestSigner(t *testing.T) {
	signature := read[v1beta1.ImageConfig](t, "signature.yaml", "ImageConfig", "function-markdownview-signature")
	identity := signature.Spec.Verification.Cosign.Authorities[0].Keyless.Identities[0]
	if _, err := os.Stat("../../../.github/workflows/release.yaml"); err != nil {
		t.Error(err)
	}
	cases := map[string]bool{
		"https://github.com/crossplane-contrib/function-markdownview/.github/workflows/release.yaml@refs/tags/v0.1.0":      true,
		"https://github.com/crossplane-contrib/function-markdownview/.github/workflows/release.yaml@refs/heads/main":       false,
		"https://github.com/crossplane-contrib/function-markdownview/.github/workflows/ci.yaml@refs/tags/v0.1.0":           false,
		"https://github.com/someone/function-markdownview/.github/workflows/release.yaml@refs/tags/v0.1.0":                 false,
		"https://github.com/crossplane-contrib/function-markdownview/.github/workflows/release.yaml@refs/tags/v0.1.0-evil": false,
	}
	for subject, want := range cases {
		if got := regexp.MustCompile(identity.SubjectRegExp).MatchString(subject); got != want {
			t.Errorf("signed by %s: want %v, got %v", subject, want, got)
		}
	}
}
