package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Accepted checks that the API server accepts everything that the function composes: it
// sends many random MarkdownViews, and the resources composed from them with random
// Inputs, to the API server as a dry run. The API server must return each text of a
// ConfigMap as it was sent.
func Accepted(k *kit) {
	const n = 3000
	dir := k.TempDir()
	_, err := k.run("samples", dir, fmt.Sprintf("--n=%d", n), "--namespace="+k.namespace)
	k.must(err)
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	k.must(err)
	// The cluster has no Gateway API.
	files = slices.DeleteFunc(files, func(file string) bool { return strings.HasSuffix(file, "-httproute.json") })
	if len(files) < 3*n {
		k.Fatalf("want at least three objects for each sample, got %d files", len(files))
	}
	k.Logf("%d objects", len(files))

	workers := errgroup.Group{}
	workers.SetLimit(8)
	for _, file := range files {
		workers.Go(func() error {
			if err := k.dryRun(file); err != nil {
				return fmt.Errorf("%s is rejected: %w", filepath.Base(file), err)
			}

			return nil
		})
	}
	k.must(workers.Wait())
}

func (k *kit) dryRun(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(b, &u.Object); err != nil {
		return err
	}
	// A user creates a MarkdownView, Crossplane applies the rest.
	if strings.HasSuffix(file, "-view.json") {
		if len(u.GetName()) > 63 {
			return nil // Crossplane rejects it. Its composed resources still have valid names.
		}

		return k.Create(k.Context(), u, client.DryRunAll)
	}
	sent := u.DeepCopy()
	if err := k.Apply(k.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("e2e"), client.ForceOwnership, client.DryRunAll); err != nil {
		return err
	}
	if u.GetUID() == "" {
		return errors.New("the API server has returned no object")
	}

	for _, name := range []string{"data", "binaryData"} {
		if !reflect.DeepEqual(sent.Object[name], u.Object[name]) {
			return fmt.Errorf("the API server has changed %s", name)
		}
	}

	return nil
}
