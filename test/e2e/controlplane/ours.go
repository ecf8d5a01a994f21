package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// FunctionName is the name of the Function.
const FunctionName = "crossplane-contrib-function-markdownview"

// OwnFunctionName is the name of the Function if it is installed from the repositories
// team/… of a user's own registry.
const OwnFunctionName = "team-function-markdownview"

// OptionsFor returns the options for the repository of the function, with dir as the
// run folder.
func OptionsFor(root, dir string) Options {
	o := Options{
		Dir:              dir,
		CrossplaneModule: filepath.Join(root, "test", "tools", "crossplane"),
		Bin:              filepath.Join(root, ".bin"),
		Crossplane:       filepath.Join(root, ".bin", "crossplane-core"),
		Packages:         filepath.Join(root, "dist"),
		Runtime:          filepath.Join(root, "example", "production", "runtime.yaml"),
		FunctionArgs:     map[string][]string{FunctionName: {"--debug"}, OwnFunctionName: nil},
	}
	if version := os.Getenv("CROSSPLANE_VERSION"); version != "" {
		o.Crossplane += "-" + version
		o.CrossplaneModule = o.Crossplane + ".module"
	}
	if os.Getenv("NODE") == "real" {
		o.Debian, o.MdBook = filepath.Join(o.Bin, "debian"), filepath.Join(o.Bin, "mdbook-trixie")
	}

	return o
}

// RealNode returns whether pods run on a real node.
func (o Options) RealNode() bool { return o.Debian != "" }

// FunctionPackage returns the package of the function.
func (o Options) FunctionPackage() Package {
	return Package{
		Kind:       "function",
		Repository: "crossplane-contrib/function-markdownview",
		Version:    "v0.1.0",
		Files:      []string{filepath.Join(o.Packages, "function-markdownview-linux-"+runtime.GOARCH+".xpkg")},
	}
}

// PreviousPackage returns the package of the function of an earlier commit.
func (o Options) PreviousPackage() Package {
	p := o.FunctionPackage()
	p.Files = []string{filepath.Join(o.Packages, "previous", "previous.xpkg")}

	return p
}

// ConfigurationPackage returns the package of the XRD and the Composition.
func (o Options) ConfigurationPackage() Package {
	const name = "configuration-markdownview"
	return Package{
		Kind: "configuration", Repository: "crossplane-contrib/" + name, Version: "v0.1.0",
		Files: []string{filepath.Join(o.Packages, name+".xpkg")},
	}
}

// InstallOurs installs the packages of this repository.
func (i *Installer) InstallOurs(ctx context.Context, o Options) error {
	if o.RealNode() {
		if err := i.applyRuntime(ctx, o.Runtime); err != nil {
			return err
		}
		// The restricted standard is enforced only while the function is installed,
		// because the pods of Crossplane do not meet it.
		if err := i.enforce(ctx, "restricted"); err != nil {
			return err
		}
	}
	if err := i.Install(ctx, o.FunctionPackage()); err != nil {
		return err
	}
	if err := i.Install(ctx, o.ConfigurationPackage()); err != nil {
		return err
	}
	if o.RealNode() {
		return i.enforce(ctx, "privileged")
	}

	return nil
}

// enforce enforces a Pod Security Standard in Crossplane's namespace.
func (i *Installer) enforce(ctx context.Context, level string) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: crossplaneNamespace}}
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, "pod-security.kubernetes.io/enforce", level)
	if err := i.Client.Patch(ctx, ns, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("cannot enforce pod security: %w", err)
	}

	return nil
}

// applyRuntime applies example/production/runtime.yaml, with the local registry as the
// private registry.
func (i *Installer) applyRuntime(ctx context.Context, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot read example: %w", err)
	}
	objs, err := parse(strings.ReplaceAll(string(text), "registry.example.com/xpkg", i.Registry))
	if err != nil {
		return fmt.Errorf("cannot parse %q: %w", path, err)
	}
	for _, u := range objs {
		if err := apply(ctx, i.Client, u); err != nil {
			return err
		}
	}

	return nil
}
