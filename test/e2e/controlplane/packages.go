package controlplane

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// realRegistry is the registry that users pull from. An ImageConfig rewrites it to the
// local registry, as with a private mirror.
const realRegistry = "xpkg.crossplane.io"

// A Package is a Crossplane package.
type Package struct {
	// Kind is "function" or "configuration".
	Kind string

	// Repository is the repository in the registry that users pull from, such
	// as "crossplane-contrib/function-markdownview".
	Repository string

	// Version is the tag, such as "v0.1.0".
	Version string

	// Files are the .xpkg files, one for each platform.
	Files []string
}

// Name returns the name of an installed package: its repository with dashes.
func (p Package) Name() string {
	return strings.ReplaceAll(p.Repository, "/", "-")
}

// An Installer pushes packages to a registry and installs them in a cluster.
type Installer struct {
	// Client and Kubeconfig are those of the administrator.
	Client     client.WithWatch
	Kubeconfig string

	// CLI is the path of the Crossplane CLI.
	CLI string

	// Registry is the host and port of the registry.
	Registry string

	// Dir is a folder for files that are built.
	Dir string
}

// Push pushes a package to the registry.
func (i *Installer) Push(ctx context.Context, p Package) error {
	_, err := i.crossplane(ctx, "xpkg", "push",
		"--package-files="+strings.Join(p.Files, ","),
		fmt.Sprintf("%s/%s:%s", i.Registry, p.Repository, p.Version))

	return err
}

// PushImage pushes an image to the registry under its public name, such as
// docker.io/library/nginx:1. A real node pulls the images of every registry from there.
func (i *Installer) PushImage(ctx context.Context, image string, img v1.Image) error {
	ref, err := name.ParseReference(image)
	if err != nil {
		return fmt.Errorf("cannot push image: %w", err)
	}
	ours, err := name.ParseReference(fmt.Sprintf("%s/%s:%s", i.Registry, ref.Context().RepositoryStr(), ref.Identifier()))
	if err != nil {
		return fmt.Errorf("cannot push image: %w", err)
	}
	if err := remote.Write(ours, img, remote.WithContext(ctx)); err != nil {
		return fmt.Errorf("cannot push image %q: %w", image, err)
	}

	return nil
}

// Install installs a package as a user does, and waits until it is healthy.
func (i *Installer) Install(ctx context.Context, p Package) error {
	if err := i.Push(ctx, p); err != nil {
		return err
	}
	if err := apply(ctx, i.Client, mirror(i.Registry)); err != nil {
		return err
	}
	if _, err := i.crossplane(ctx, "xpkg", "install", p.Kind, fmt.Sprintf("%s/%s:%s", realRegistry, p.Repository, p.Version)); err != nil {
		return err
	}

	return i.WaitHealthy(ctx, p.Kind, p.Name())
}

// WaitHealthy waits until a package is installed and healthy.
func (i *Installer) WaitHealthy(ctx context.Context, kind, name string) error {
	return Eventually(ctx, 3*time.Minute, func(ctx context.Context) error {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(packageKind(kind))
		if err := i.Client.Get(ctx, client.ObjectKey{Name: name}, u); err != nil {
			return fmt.Errorf("cannot get %s %q: %w", kind, name, err)
		}
		v := struct {
			Status struct {
				Conditions []metav1.Condition `json:"conditions"`
			} `json:"status"`
		}{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &v); err != nil {
			return fmt.Errorf("cannot read %s %q: %w", kind, name, err)
		}
		conditions := v.Status.Conditions
		if !meta.IsStatusConditionTrue(conditions, "Installed") || !meta.IsStatusConditionTrue(conditions, "Healthy") {
			return fmt.Errorf("%s %q is not healthy: %v", kind, name, conditions)
		}

		return nil
	})
}

func packageKind(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "pkg.crossplane.io", Version: "v1", Kind: strings.ToUpper(kind[:1]) + kind[1:]}
}

// Upgrade upgrades a package to a new version. The new image has another label, and
// therefore another digest.
func (i *Installer) Upgrade(ctx context.Context, p Package, version string) error {
	img, err := tarball.ImageFromPath(p.Files[0], nil)
	if err != nil {
		return fmt.Errorf("cannot open package %q: %w", p.Files[0], err)
	}
	cfg, err := img.ConfigFile()
	if err != nil {
		return fmt.Errorf("cannot read package %q: %w", p.Files[0], err)
	}
	config := cfg.Config
	config.Labels = map[string]string{"version": version}
	maps.Copy(config.Labels, cfg.Config.Labels)
	if img, err = mutate.Config(img, config); err != nil {
		return fmt.Errorf("cannot change package %q: %w", p.Files[0], err)
	}
	if err := i.PushImage(ctx, fmt.Sprintf("%s/%s:%s", realRegistry, p.Repository, version), img); err != nil {
		return err
	}
	if _, err := i.crossplane(ctx, "xpkg", "update", p.Kind, fmt.Sprintf("%s/%s:%s", realRegistry, p.Repository, version), p.Name()); err != nil {
		return err
	}

	return i.WaitHealthy(ctx, p.Kind, p.Name())
}

// mirror returns an ImageConfig that has Crossplane pull from host instead of the
// public registry.
func mirror(host string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "pkg.crossplane.io/v1beta1",
		"kind":       "ImageConfig",
		"metadata":   map[string]any{"name": "mirror"},
		"spec": map[string]any{
			"matchImages":  []any{map[string]any{"type": "Prefix", "prefix": realRegistry}},
			"rewriteImage": map[string]any{"prefix": host},
		},
	}}
}

// crossplane runs the Crossplane CLI as the administrator and returns its output.
func (i *Installer) crossplane(ctx context.Context, args ...string) (string, error) {
	return Command(ctx, i.Kubeconfig, i.CLI, args...)
}
