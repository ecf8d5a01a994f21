package e2e

import (
	"path/filepath"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

// OwnRegistry shows that "make push" is all that a registry of one's own takes: the
// configuration is installed from there alone, brings the function, and names it in
// the Composition. No ImageConfig rewrites anything. It is the last test, because it
// removes the packages that the others use.
func OwnRegistry(k *kit) {
	k.kubectl("delete", "imageconfigs.pkg.crossplane.io", "mirror")
	k.kubectl("delete", "configurations.pkg.crossplane.io", k.ConfigurationPackage().Name())
	k.kubectl("delete", "functions.pkg.crossplane.io", k.FunctionPackage().Name())
	// Load has left many MarkdownViews, which Crossplane deletes first.
	k.within(5*time.Minute, "the API is gone", func() error {
		_, err := k.run("kubectl", "wait", "--for=delete", "crd/markdownviews."+kind.Group, "--timeout=5s")
		return err
	})

	registry := k.Registry + "/team"
	_, err := controlplane.Command(k.Context(), k.kubeconfig, "make", "--directory=../..", "MAKEFLAGS=", "push",
		"REGISTRY="+registry, "VERSION=v0.3.0", "DIST="+filepath.Join(k.Options.Dir, "own"))
	k.must(err)
	_, err = k.run("crossplane", "xpkg", "install", "configuration", registry+"/configuration-markdownview:v0.3.0")
	k.must(err)
	k.must(k.WaitHealthy(k.Context(), "configuration", "team-configuration-markdownview"))
	k.must(k.WaitHealthy(k.Context(), "function", controlplane.OwnFunctionName))

	k.apply(book("own"))
	k.settle("own")
	k.must(k.Delete(k.Context(), inNamespace(book("own"), k.namespace), client.PropagationPolicy("Foreground")))
}
