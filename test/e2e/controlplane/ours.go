package controlplane

import (
	"context"
	"path/filepath"
	"runtime"
)

// FunctionName is what Crossplane calls our function.
const FunctionName = "crossplane-contrib-function-markdownview"

// OptionsFor are the options for the repository of the function, with dir as
// the run folder.
func OptionsFor(root, dir string) Options {
	return Options{
		Dir:          dir,
		Bin:          filepath.Join(root, ".bin"),
		Tools:        filepath.Join(root, "test", "tools"),
		Packages:     filepath.Join(root, "dist"),
		FunctionArgs: map[string][]string{FunctionName: {"--debug"}},
	}
}

// FunctionPackage is the package of our function.
func (o Options) FunctionPackage() Package {
	return Package{
		Kind:       "function",
		Repository: "crossplane-contrib/function-markdownview",
		Version:    "v0.1.0",
		Files:      []string{filepath.Join(o.Packages, "function-markdownview-linux-"+runtime.GOARCH+".xpkg")},
	}
}

// ConfigurationPackage is the package of our API.
func (o Options) ConfigurationPackage() Package {
	return Package{
		Kind:       "configuration",
		Repository: "crossplane-contrib/configuration-markdownview",
		Version:    "v0.1.0",
		Files:      []string{filepath.Join(o.Packages, "configuration-markdownview.xpkg")},
	}
}

// InstallOurs installs the packages of this repository.
func (i *Installer) InstallOurs(ctx context.Context, o Options) error {
	if err := i.Install(ctx, o.FunctionPackage()); err != nil {
		return err
	}
	return i.Install(ctx, o.ConfigurationPackage())
}
