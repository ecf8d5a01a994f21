#!/bin/sh
# Builds the Dockerfile with docker or buildah, for the platform of this machine,
# and compares files and configuration with the image that "make xpkg" made.
set -eu

cd "$(dirname "$0")/../.."
arch=$(go env GOARCH)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM

if docker info >/dev/null 2>&1; then
	docker build --quiet --tag function-markdownview:compare .
	docker save --output "$scratch/image.tar" function-markdownview:compare
else
	# docker-archive is the format of "docker save".
	buildah build --layers --tag function-markdownview:compare .
	buildah push --quiet function-markdownview:compare "docker-archive:$scratch/image.tar"
fi
"$BIN/xpkg" same "$DIST/linux-$arch/runtime.tar" "$scratch/image.tar"
