#!/bin/sh
# render.sh [-update]
#
# Renders the examples with the Crossplane CLI and its engine, and compares the output
# with the files in example/rendered, or writes them with -update. The function listens
# on a socket in a temporary folder until the script exits.
set -eu

cd "$(dirname "$0")/.."
crossplane=${CROSSPLANE:-.bin/crossplane}
tmp=$(mktemp -d)
function=
trap '[ -z "$function" ] || kill $function; rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM

.bin/function-markdownview --insecure --network=unix --address="$tmp/sock" --metrics-address= 2>"$tmp/log" &
function=$!
for _ in $(seq 100); do
	[ ! -S "$tmp/sock" ] || break
	kill -0 $function 2>/dev/null || break
	sleep 0.1
done
[ -S "$tmp/sock" ] || { cat "$tmp/log" >&2; exit 1; }

# render FILE XRD XR COMPOSITION [OPTION...]
render() {
	file=$1 xrd=$2 xr=$3 composition=$4
	shift 4
	code=0
	"$crossplane" composition render "$xr" "$composition" example/functions.yaml --xrd="$xrd" \
		--crossplane-binary=.bin/crossplane-core \
		--function-annotations=render.crossplane.io/runtime-development-target="unix:$tmp/sock" \
		"$@" >"$tmp/out" 2>"$tmp/err" || code=$?
	# If the function returns a fatal result, the CLI prints only that, as an error.
	case $code,$file in
	0,*.yaml) mv "$tmp/out" "$tmp/$file" ;;
	1,*.txt) fold -s -w 100 "$tmp/err" >"$tmp/$file" ;;
	*)
		echo "cannot render $xr: exit code $code" >&2
		cat "$tmp/err" >&2
		exit 1
		;;
	esac
	if [ "$update" ]; then
		cp "$tmp/$file" example/rendered/
	elif ! diff -u "example/rendered/$file" "$tmp/$file" >"$tmp/diff"; then
		echo "example/rendered/$file is out of date: run \"make generate\":" >&2
		cat "$tmp/diff" >&2
		exit 1
	fi
}

update=${1:-}
ours=package/configuration
tutorial=example/tutorial
render first.yaml $ours/definition.yaml example/xr.yaml $ours/composition.yaml
render settled.yaml $ours/definition.yaml example/xr.yaml $ours/composition.yaml --observed-resources=example/observed.yaml
render nested.yaml $ours/definition.yaml example/nested/xr.yaml $ours/composition.yaml
render from.yaml $ours/definition.yaml example/from/xr.yaml $ours/composition.yaml --required-resources=example/from/configmap.yaml
render image.yaml $ours/definition.yaml example/from/image.yaml example/production/composition.yaml
render platform.yaml $ours/definition.yaml example/platform/xr.yaml example/platform/composition.yaml
render invalid.txt $ours/definition.yaml example/invalid/xr.yaml example/platform/composition.yaml
# The part of the OpenAPI schema of the tutorial's XRD that shows the function which status
# fields exist.
mkdir "$tmp/schemas"
cat >"$tmp/schemas/view.zoetrope.github.io.json" <<'EOS'
{"openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "v1"}, "paths": {}, "components": {"schemas": {"io.github.zoetrope.view.v1.MarkdownView": {
  "type": "object",
  "x-kubernetes-group-version-kind": [{"group": "view.zoetrope.github.io", "version": "v1", "kind": "MarkdownView"}],
  "properties": {"status": {"type": "object", "properties": {"status": {"type": "string"}}}}
}}}}
EOS
render tutorial.yaml $tutorial/definition.yaml $tutorial/xr.yaml $tutorial/composition.yaml --required-schemas="$tmp/schemas"

cat "$tmp/first.yaml"
echo
echo "---"
echo "# The MarkdownView when all composed resources are ready:"
# Print the first document.
awk '/^---$/ { n++; next } n == 1' "$tmp/settled.yaml"
