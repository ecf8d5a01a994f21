#!/bin/sh
# Builds the packages and the programs in DIST again, from the same files, and fails if one differs in a
# single byte. The second build has no build cache, another folder, umask, time zone and home directory,
# and another environment of the Go tool. Both builds use the tools in BIN, which are not part of a
# package.
set -eu

cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM
modules=$(go env GOMODCACHE)
umask 077
mkdir -p "$scratch/another/folder"
git ls-files -z --cached --others --exclude-standard >"$scratch/files"
tar -c -f "$scratch/files.tar" --null -T "$scratch/files"
tar -x -f "$scratch/files.tar" -C "$scratch/another/folder"
# -o keeps make from building the tools again: they are older than the unpacked sources.
env TZ=Asia/Tokyo HOME="$scratch/home" GOMODCACHE="$modules" GOCACHE="$scratch/cache" \
	GOENV=off GOFLAGS=-tags=other GOAMD64=v3 GOARM64=v9.0 GOFIPS140=latest \
	make -j2 -C "$scratch/another/folder" xpkg programs VERSION="$VERSION" BIN="$BIN" DIST=dist \
	-o "$BIN/crossplane" -o "$BIN/cyclonedx-gomod" -o "$BIN/regctl" -o "$BIN/release" >"$scratch/log" 2>&1 || {
	cat "$scratch/log" >&2
	exit 1
}

cd "$scratch/another/folder/dist"
for file in *; do
	[ -f "$file" ] || continue
	cmp "$file" "$DIST/$file"
	sha256sum "$file"
done
