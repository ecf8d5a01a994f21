#!/bin/sh
# images.sh FOLDER
#
# Writes the files of the images of two recipes to FOLDER: pagefind, for example/search, and
# mermaid, for example/diagrams. npm downloads exact versions and checks their hashes, and
# runs no scripts. docs/look.md builds the images.
#
# ARCH=arm64 writes files for arm64 instead of this machine's architecture.
set -eu

mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")"
case ${ARCH:-$(uname -m)} in
amd64 | x86_64) cpu=x64 ;;
*) cpu=arm64 ;;
esac

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM
for recipe in search diagrams; do
	mkdir "$tmp/$recipe"
	cp $recipe/package.json $recipe/package-lock.json "$tmp/$recipe"
	(cd "$tmp/$recipe" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error --os=linux --cpu=$cpu >&2)
done
rm -rf "$out/pagefind" "$out/mermaid"
mkdir -p "$out/pagefind" "$out/mermaid"
cp "$tmp/search/node_modules/@pagefind/linux-$cpu/bin/pagefind_extended" "$out/pagefind/pagefind"
cp "$tmp/diagrams/node_modules/mermaid/dist/mermaid.min.js" "$tmp/diagrams/node_modules/mermaid/LICENSE" "$out/mermaid/"
