package controlplane

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// ModuleDir returns the folder of a Go module that the module in a folder requires.
func ModuleDir(ctx context.Context, folder, module string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "-C", folder, "list", "-m", "-f", "{{.Dir}}", module).Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		return "", fmt.Errorf("cannot find the source of %s in the module cache: %w", module, err)
	}

	return dir, nil
}

// crossplaneSource returns the folder cluster of the Crossplane module from which
// crossplane-core is built. It has the CRDs and the chart.
func (cp *ControlPlane) crossplaneSource(ctx context.Context) (string, error) {
	dir, err := ModuleDir(ctx, cp.options.CrossplaneModule, "github.com/crossplane/crossplane/v2")

	return filepath.Join(dir, "cluster"), err
}

// applyChart applies the objects of Crossplane's chart that have one of the kinds, or all if
// there are no kinds, in the namespace of Crossplane, which it creates.
func (cp *ControlPlane) applyChart(ctx context.Context, source string, values map[string]any, kinds ...string) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: crossplaneNamespace}}
	if err := cp.Client.Create(ctx, ns); err != nil {
		return fmt.Errorf("cannot create namespace %q: %w", crossplaneNamespace, err)
	}
	objs, err := chartObjects(filepath.Join(source, "charts", "crossplane"), values)
	if err != nil {
		return err
	}
	for _, o := range objs {
		if len(kinds) > 0 && !slices.Contains(kinds, o.GetKind()) {
			continue
		}
		if err := apply(ctx, cp.Client, o); err != nil {
			return err
		}
	}

	return nil
}

// chartObjects renders Crossplane's chart with values and returns its objects.
func chartObjects(dir string, overrides map[string]any) ([]*unstructured.Unstructured, error) {
	chart, err := loader.LoadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot load chart %q: %w", dir, err)
	}
	release := chartutil.ReleaseOptions{Name: "crossplane", Namespace: crossplaneNamespace, IsInstall: true}
	values, err := chartutil.ToRenderValues(chart, overrides, release, nil)
	if err != nil {
		return nil, fmt.Errorf("cannot render chart %q: %w", dir, err)
	}
	files, err := engine.Engine{}.Render(chart, values)
	if err != nil {
		return nil, fmt.Errorf("cannot render chart %q: %w", dir, err)
	}

	var objs []*unstructured.Unstructured
	for name, text := range files {
		docs, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("cannot parse %q of the chart: %w", name, err)
		}
		objs = append(objs, docs...)
	}

	return objs, nil
}

// parse returns the objects of YAML documents.
func parse(text string) ([]*unstructured.Unstructured, error) {
	var objs []*unstructured.Unstructured
	for doc := range strings.SplitSeq(text, "\n---") {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(doc), &u.Object); err != nil {
			return nil, err
		}
		if u.GetKind() != "" {
			objs = append(objs, u)
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
