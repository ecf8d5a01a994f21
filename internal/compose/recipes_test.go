package compose

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// TestRecipes checks which containers the recipes compose, in order: Pagefind reads the
// book that mdBook has built.
func TestRecipes(t *testing.T) {
	for name, want := range map[string][]string{"search": {"mdbook", "pagefind"}, "diagrams": {"mdbook"}} {
		b, err := os.ReadFile("../../example/" + name + "/composition.yaml")
		if err != nil {
			t.Fatal(err)
		}
		var composition struct {
			Spec struct {
				Pipeline []struct {
					Input v1beta1.Input `json:"input"`
				} `json:"pipeline"`
			} `json:"spec"`
		}
		if err := yaml.Unmarshal(b, &composition); err != nil {
			t.Fatal(err)
		}
		v := viewtest.View()
		v.Input = composition.Spec.Pipeline[0].Input
		d, errs := composedDeployment(v)
		if errs != nil {
			t.Fatal(errs)
		}
		var got []string
		for _, c := range d.Spec.Template.Spec.InitContainers {
			got = append(got, c.Name)
			if s := c.SecurityContext; *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || !cmp.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) {
				t.Errorf("%s: container %s is not restricted", name, c.Name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: init containers: -want, +got:\n%s", name, diff)
		}
	}
}
