package e2e

import (
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

// OwnRegistry checks that the packages can be installed from a user's own registry
// after "make push": Crossplane installs the configuration from there, and the function as
// its dependency. The Composition names that function. No ImageConfig rewrites an image.
// It is the last test, because it deletes the packages that the other tests use.
func OwnRegistry(k *kit) {
	k.alone() // The finalizer of a MarkdownView waits for a call of the function.
	k.kubectl("delete", "imageconfigs.pkg.crossplane.io", "mirror")
	k.kubectl("delete", "configurations.pkg.crossplane.io", k.ConfigurationPackage().Name())
	k.within(5*time.Minute, "the CRD is deleted", func(k *kit) {
		k.kubectl("wait", "--for=delete", "crd/markdownviews."+kind.Group, "--timeout=5s")
	})
	k.kubectl("delete", "functions.pkg.crossplane.io", k.FunctionPackage().Name())

	registry := k.Registry + "/team"
	_, err := controlplane.Command(k.Context(), k.kubeconfig, "make", "--directory=../..", "MAKEFLAGS=", "push",
		"REGISTRY="+registry, "VERSION=v0.3.0", "DIST="+filepath.Join(k.Options.Dir, "own"))
	k.must(err)
	pushed, err := name.ParseReference(registry + "/function-markdownview:v0.3.0")
	k.must(err)
	newest, err := remote.Get(pushed, remote.WithContext(k.Context()))
	k.must(err)
	k.must(remote.Tag(pushed.Context().Tag("v0.3.1"), newest, remote.WithContext(k.Context())))
	_, err = k.run("crossplane", "xpkg", "install", "configuration", registry+"/configuration-markdownview:v0.3.0")
	k.must(err)
	k.must(k.WaitHealthy(k.Context(), "configuration", "team-configuration-markdownview"))
	k.must(k.WaitHealthy(k.Context(), "function", controlplane.OwnFunctionName))
	// Crossplane has installed the version of the configuration, not the newest.
	installed := k.kubectl("get", "functions.pkg.crossplane.io", controlplane.OwnFunctionName, "--output=jsonpath={.spec.package}")
	k.equal("function", registry+"/function-markdownview:v0.3.0", installed)

	k.apply(book("own"))
	k.settle("own")
	k.delete("own", client.PropagationPolicy("Foreground"))
}
