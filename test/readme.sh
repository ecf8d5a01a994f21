#!/bin/sh
# Runs the commands of the README and docs/migration.md on the control plane of
# "make up". The make targets of the README are not run here: they are jobs in CI.
set -eu

cd "$(dirname "$0")/.."
commands=$(awk '/^```shell$/ { on = 1; next } /^```$/ { on = 0 } on && !/^make /' README.md)

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

echo "$commands" | sh -eux
kubectl describe markdownview markdownview-sample
test/migration.sh
