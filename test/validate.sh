#!/bin/sh
# validate.sh [--xrd=FILE] FILE|FOLDER...
#
# Checks resources with "crossplane resource validate": Compositions and XRDs against
# the CRDs of Crossplane, XRs against the XRDs of this repository or that of FILE, Inputs against their
# CRD, HTTPRoutes against that of Gateway API, and the Application of example/authors against
# that of Argo CD. "-" reads resources from standard input.
# The CLI reads the CRDs of Crossplane from its image. This script puts those of the Go
# module into the cache of the CLI, so no image is downloaded.
set -eu

cd "$(dirname "$0")/.."
run=.run/validate
module=github.com/crossplane/crossplane/v2
cd test/tools/crossplane
go mod download $module
version=$(go list -m -f '{{.Version}}' $module)
crossplane=$(go list -m -f '{{.Dir}}' $module)
cd ../../e2e
go mod download sigs.k8s.io/gateway-api
routes=$(go list -m -f '{{.Dir}}' sigs.k8s.io/gateway-api)/config/crd/standard/gateway.networking.k8s.io_httproutes.yaml
cd ../..

image=xpkg.crossplane.io/crossplane/crossplane
cache=$run/$image@$version
mkdir -p "$cache"
cat "$crossplane"/cluster/crds/*.yaml "$crossplane"/cluster/meta/*.yaml >"$cache/package.$$"
mv "$cache/package.$$" "$cache/package.yaml"

cli=.bin/crossplane
[ -x $cli ] || cli=crossplane # As in "make render".
xrds=package/configuration/definition.yaml,example/tutorial/definition.yaml
case ${1-} in --xrd=*)
	xrds=${1#--xrd=}
	shift
	;;
esac
for resources; do
	crds=$xrds,package/function/input,$routes
	case $resources in *argocd*)
		argocd=$(go mod download -json github.com/argoproj/argo-cd/v3@v3.5.7 | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
		crds=$crds,$argocd/manifests/crds/application-crd.yaml
		;;
	esac
	$cli resource validate --error-on-missing-schemas --skip-success-results \
		--cache-dir="$PWD/$run" --crossplane-image=$image:"$version" \
		"$crds" "$resources"
done
