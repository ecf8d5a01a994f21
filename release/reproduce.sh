#!/bin/sh
# Builds the packages and the programs of HEAD twice, and fails if they differ in a single byte: once
# with the build cache of this machine, and once without a cache in another folder, with
# another umask, time zone, home directory and environment of the Go tool. Both builds
# use the tools in BIN, which are not part of a package.
set -eu

cd "$(dirname "$0")/.."
commit=$(git rev-parse HEAD)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM

# build FOLDER [VARIABLE=VALUE...]
build() {
	folder=$scratch/$1
	shift
	mkdir -p "$folder"
	git archive "$commit" | tar -x -C "$folder"
	# -o keeps make from building the tools again: they are older than the unpacked sources.
	env "$@" make -C "$folder" xpkg programs VERSION=v0.0.0 BIN="$BIN" \
		-o "$BIN/crossplane" -o "$BIN/cyclonedx-gomod" -o "$BIN/regctl" -o "$BIN/release" >"$folder.log" 2>&1 || {
		cat "$folder.log" >&2
		exit 1
	}
}

build one
modules=$(go env GOMODCACHE)
umask 077
build another/folder TZ=Asia/Tokyo HOME="$scratch/home" GOMODCACHE="$modules" GOCACHE="$scratch/cache" \
	GOENV=off GOFLAGS=-tags=other GOAMD64=v3 GOARM64=v9.0 GOFIPS140=latest

for file in "$scratch"/one/dist/*; do
	[ -f "$file" ] || continue
	cmp "$file" "$scratch/another/folder/dist/${file##*/}"
	sha256sum "$file" | sed "s|$scratch/one/||"
done
