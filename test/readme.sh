#!/bin/sh
# Runs the commands of the README and of docs/migration.md, word by word, on the
# control plane of "make up". CI runs the make targets as jobs of their own.
set -eu

cd "$(dirname "$0")/.."
commands=$(awk '/^```shell$/ { on = 1; next } /^```$/ { on = 0 } on && !/^make /' README.md)

make build up
trap 'make down' EXIT
trap 'exit 1' INT TERM
export KUBECONFIG="$PWD/.run/up/kubeconfig" PATH="$PWD/.bin:$PATH"

kubectl delete markdownviews --all
# The README installs them. As long as Crossplane knows of the configuration it
# brings back the function that the configuration depends on.
kubectl delete configurations --all
kubectl wait --for=delete configurationrevisions --all --timeout=2m
kubectl delete functions --all
kubectl wait --for=delete functionrevisions --all --timeout=2m
kubectl wait --for=delete crd/markdownviews.markdownview.fn.crossplane.io --timeout=2m

echo "$commands" | sh -eux
kubectl describe markdownview markdownview-sample
test/migration.sh
