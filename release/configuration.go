package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-containerregistry/pkg/name"
	"sigs.k8s.io/yaml"
)

const functionName = "function-markdownview"

type configurationCmd struct {
	Registry string `help:"Registry and folder from which clusters pull the function." placeholder:"REGISTRY/FOLDER" required:""`
	Version  string `help:"Version of the function."                                  required:""`
	Source   string `arg:""                                                           help:"Folder with the sources."            type:"existingdir"`
	Target   string `arg:""                                                           help:"Folder to write."                    type:"path"`
}

// Run copies the sources, and makes the configuration depend on exactly this version of the
// function: with a range, Crossplane would install the newest one, which this configuration
// was not tested with. If the function is pushed to another registry, Run also changes the
// functionRef of the Composition.
func (c *configurationCmd) Run() error {
	if err := os.CopyFS(c.Target, os.DirFS(c.Source)); err != nil {
		return fmt.Errorf("cannot copy the configuration: %w", err)
	}
	function, err := name.NewRepository(c.Registry+"/"+functionName, name.StrictValidation)
	if err != nil {
		return err
	}

	path := filepath.Join(c.Target, "crossplane.yaml")
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	published := strings.Contains(string(content), " "+function.Name()+"\n")
	version, err := semver.StrictNewVersion(strings.TrimPrefix(c.Version, "v"))
	// A commit between releases, such as v0.1.0-3-g2b1c3d4, is not published.
	if released := err == nil && version.Prerelease() == ""; published && !released {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot depend on version %q of the function: %w", c.Version, err)
	}
	err = edit(path, "dependsOn", func(dependency map[string]any) {
		dependency["package"], dependency["version"] = function.Name(), c.Version
	})
	if err != nil || published {
		return err
	}

	return edit(filepath.Join(c.Target, "composition.yaml"), "pipeline", func(step map[string]any) {
		step["functionRef"] = map[string]any{"name": installedName(function.RepositoryStr())}
	})
}

// installedName returns the name that Crossplane gives a package that it installs as a
// dependency. Importing the code of Crossplane would add a thousand packages:
// https://github.com/crossplane/crossplane-runtime/blob/v2.4.0/pkg/xpkg/name.go#L86
func installedName(repository string) string {
	repository = repository[:min(len(repository), 63)]
	return strings.Trim(strings.NewReplacer("/", "-", ".", "-", "_", "").Replace(repository), "-")
}

// edit changes each entry of a list in the spec of a YAML file.
func edit(path, list string, change func(entry map[string]any)) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	object := map[string]any{}
	if err := yaml.Unmarshal(content, &object); err != nil {
		return fmt.Errorf("cannot parse %q: %w", path, err)
	}
	for _, e := range object["spec"].(map[string]any)[list].([]any) {
		change(e.(map[string]any))
	}
	if content, err = yaml.Marshal(object); err != nil {
		return fmt.Errorf("cannot write %q: %w", path, err)
	}

	return os.WriteFile(path, content, 0o600)
}
