#!/bin/sh
# Runs the commands of the README and of the pages in docs, in the order of each page, on
# the control plane of "make up". Pages are read in the order in which a platform team
# needs them. Not run are make targets, which are jobs in CI, and commands that need a
# published release or Docker.
set -eu

cd "$(dirname "$0")/.."

# A port is forwarded for some seconds, and only to a real pod.
forward='/^kubectl port-forward/d'
[ "${NODE:-simulated}" != real ] || forward='s/^kubectl port-forward.*/timeout 5 & || [ $? = 124 ]/'

# run FILE [SED...] runs the commands of a page, after changes. They are in
# a file, because some of them read standard input.
run() {
	page=$1
	shift
	awk '/^```shell$/ { on = 1; next } /^```$/ { on = 0 } on && !/^(make (render|up)|git clone)/' "$page" | sed "$forward" >"$tmp/run"
	for change; do
		sed -i.bak "$change" "$tmp/run"
	done
	sh -eux "$tmp/run"
}

# without deletes what a page has created and installed. Crossplane would install the
# function again while the configuration, which depends on it, exists.
without() {
	kubectl delete markdownviews.markdownview.fn.crossplane.io --all --all-namespaces
	kubectl delete configurations --all
	kubectl wait --for=delete configurationrevisions --all --timeout=2m
	kubectl delete functions --all
	kubectl wait --for=delete functionrevisions --all --timeout=2m
	kubectl wait --for=delete crd/markdownviews.markdownview.fn.crossplane.io --timeout=2m
}

make build up
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"; make down' EXIT
trap 'exit 1' INT TERM
export KUBECONFIG="$PWD/.run/up/kubeconfig" PATH="$PWD/.bin:$PATH"

# A reader of the README serves a folder in this cluster, and installs the packages in
# another one.
sed '/^## Install$/,$d' README.md >"$tmp/try.md"
sed -n '/^## Install$/,$p' README.md >"$tmp/install.md"
run "$tmp/try.md" "s|^go install ./markdownview|go build -o .bin/markdownview ./markdownview|"
without
run "$tmp/install.md"
kubectl describe markdownview markdownview-sample
run docs/web-server.md 's/NAME/markdownview-sample/'
run docs/render.md
run docs/content.md "s|handbook/|$tmp/handbook/|g"
run docs/authors.md "s|docs --output|example/authors/handbook --output|" "s|book.yaml|example/authors/book.yaml|"
run docs/serving.md
run docs/status.md
kubectl delete markdownviews --all
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
if [ "${NODE:-simulated}" != real ]; then
	run docs/registry.md "s|registry.example.com|$registry|" "s|^make push|& DIST=.run/own|"
	[ "$(kubectl get functions -o name)" = function.pkg.crossplane.io/team-function-markdownview ]
	without
fi
run docs/policy.md
run docs/own-api.md
