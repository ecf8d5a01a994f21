package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/Masterminds/semver/v3"
	"github.com/crossplane/crossplane-runtime/v2/pkg/xpkg"
	"github.com/google/go-containerregistry/pkg/name"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const functionName = "function-markdownview"

type configurationCmd struct {
	Registry string `help:"Registry and folder that clusters pull the function from." placeholder:"REGISTRY/FOLDER" required:""`
	Version  string `help:"Version of the function."                                  required:""`
	Source   string `arg:""                                                           help:"Folder with the sources."            type:"existingdir"`
	Target   string `arg:""                                                           help:"Folder to write."                    type:"path"`
}

// Run copies the sources. If they depend on the function in another registry, it
// changes the dependency, and the name by which the Composition calls the function.
func (c *configurationCmd) Run() error {
	if err := os.CopyFS(c.Target, os.DirFS(c.Source)); err != nil {
		return fmt.Errorf("cannot copy the configuration: %w", err)
	}
	function, err := name.NewRepository(c.Registry+"/"+functionName, name.StrictValidation)
	if err != nil {
		return err
	}

	moved := false
	err = edit(filepath.Join(c.Target, "crossplane.yaml"), "dependsOn", func(dependency map[string]any) error {
		if moved = dependency["package"] != function.Name(); !moved {
			return nil
		}
		if _, err := semver.NewVersion(c.Version); err != nil {
			return fmt.Errorf("cannot depend on version %q of the function: %w", c.Version, err)
		}
		dependency["package"], dependency["version"] = function.Name(), ">="+c.Version
		return nil
	})
	if err != nil || !moved {
		return err
	}

	// Crossplane names a function that it installs as a dependency after its
	// repository: https://github.com/crossplane/crossplane/blob/v2.4.0/internal/controller/pkg/resolver/reconciler.go#L706
	return edit(filepath.Join(c.Target, "composition.yaml"), "pipeline", func(step map[string]any) error {
		return unstructured.SetNestedField(step, xpkg.ToDNSLabel(function.RepositoryStr()), "functionRef", "name")
	})
}

// edit changes each entry of a list in the spec of a YAML file.
func edit(path, list string, change func(entry map[string]any) error) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	object := map[string]any{}
	if err := yaml.Unmarshal(content, &object); err != nil {
		return fmt.Errorf("cannot parse %q: %w", path, err)
	}
	entries, _, err := unstructured.NestedFieldNoCopy(object, "spec", list)
	if err != nil {
		return fmt.Errorf("cannot read %q: %w", path, err)
	}
	for _, e := range entries.([]any) {
		if err := change(e.(map[string]any)); err != nil {
			return err
		}
	}
	if content, err = yaml.Marshal(object); err != nil {
		return fmt.Errorf("cannot write %q: %w", path, err)
	}
	return os.WriteFile(path, content, 0o600)
}
