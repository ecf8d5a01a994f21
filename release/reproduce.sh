#!/bin/sh
# Builds the packages of HEAD twice: with the build cache of this machine, and from
# nothing in another folder, with another umask, time zone, home and environment of
# the Go tool. They must not differ in a single byte. The tools are those of BIN, as
# they are no part of a package.
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
	# The tools look older than the sources that were just unpacked.
	env "$@" make -C "$folder" xpkg VERSION=v0.0.0 BIN="$BIN" \
		-o "$BIN/crossplane" -o "$BIN/cyclonedx-gomod" -o "$BIN/release" >"$folder.log" 2>&1 || {
		cat "$folder.log" >&2
		exit 1
	}
}

build one
modules=$(go env GOMODCACHE)
umask 077
build another/folder TZ=Asia/Tokyo HOME="$scratch/home" GOMODCACHE="$modules" GOCACHE="$scratch/cache" \
	GOENV=off GOFLAGS=-tags=other GOAMD64=v3 GOARM64=v9.0 GOFIPS140=latest

for file in "$scratch"/one/dist/*.*; do
	cmp "$file" "$scratch/another/folder/dist/${file##*/}"
	sha256sum "$file" | sed "s|$scratch/one/||"
done
