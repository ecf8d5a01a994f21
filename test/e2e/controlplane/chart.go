package controlplane

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// crossplaneSource returns the folder of the Crossplane module from which
// crossplane-core is built. It has the CRDs and the chart.
func crossplaneSource(ctx context.Context, module string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/crossplane/crossplane/v2")
	cmd.Dir = module
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("cannot find the source of Crossplane: %w", err)
	}
	dir := strings.TrimSpace(string(out))
	if dir == "" {
		return "", fmt.Errorf("cannot find the source of Crossplane: its module is not in the module cache")
	}

	return dir, nil
}

// chartObjects renders Crossplane's chart with values and returns its objects of the
// given kinds, or all objects if no kinds are given.
func chartObjects(dir string, overrides map[string]any, kinds ...string) ([]*unstructured.Unstructured, error) {
	chart, err := loader.LoadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot load chart %q: %w", dir, err)
	}
	values, err := chartutil.ToRenderValues(chart, overrides, chartutil.ReleaseOptions{
		Name:      "crossplane",
		Namespace: crossplaneNamespace,
		IsInstall: true,
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("cannot render chart %q: %w", dir, err)
	}
	files, err := engine.Engine{}.Render(chart, values)
	if err != nil {
		return nil, fmt.Errorf("cannot render chart %q: %w", dir, err)
	}

	objs := []*unstructured.Unstructured{}
	for name, text := range files {
		for doc := range strings.SplitSeq(text, "\n---") {
			u := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(doc), &u.Object); err != nil {
				return nil, fmt.Errorf("cannot parse %q of the chart: %w", name, err)
			}
			if len(kinds) == 0 && u.GetKind() != "" || slices.Contains(kinds, u.GetKind()) {
				objs = append(objs, u)
			}
		}
	}

	return objs, nil
}

// apply applies an object with server-side apply.
func apply(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
	if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("e2e"), client.ForceOwnership); err != nil {
		return fmt.Errorf("cannot apply %s %q: %w", u.GetKind(), u.GetName(), err)
	}

	return nil
}
