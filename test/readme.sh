#!/bin/sh
# Runs the commands of the README and of the pages in docs on the control plane of
# "make up". The make targets of the README are not run here: they are jobs in CI.
set -eu

cd "$(dirname "$0")/.."

# run FILE runs the commands of a page.
run() {
	awk '/^```shell$/ { on = 1; next } /^```$/ { on = 0 } on && !/^make /' "$1" | sh -eux
}

make build up
trap 'make down' EXIT
trap 'exit 1' INT TERM
export KUBECONFIG="$PWD/.run/up/kubeconfig" PATH="$PWD/.bin:$PATH"

kubectl delete markdownviews --all
# The README installs the packages. Crossplane would install the function again while
# the configuration, which depends on it, exists.
kubectl delete configurations --all
kubectl wait --for=delete configurationrevisions --all --timeout=2m
kubectl delete functions --all
kubectl wait --for=delete functionrevisions --all --timeout=2m
kubectl wait --for=delete crd/markdownviews.markdownview.fn.crossplane.io --timeout=2m

run README.md
kubectl describe markdownview markdownview-sample
test/migration.sh

# The registry of a real node cannot be reached from here.
registry=$(kubectl get imageconfigs mirror -o jsonpath='{.spec.rewriteImage.prefix}')
if [ "${NODE:-simulated}" != real ]; then
	make push REGISTRY="$registry/crossplane-contrib" PULL_REGISTRY=xpkg.crossplane.io/crossplane-contrib \
		VERSION="$(sed -n 's/.* version=//p' docs/upgrade.md)" DIST=.run/upgrade
	run docs/upgrade.md
fi

run docs/uninstall.md
# Within some seconds, Crossplane would install a function again that a configuration needs.
sleep 10
[ -z "$(kubectl get functions,configurations,xrds,compositions -o name)" ]
run docs/policy.md
run docs/own-api.md
