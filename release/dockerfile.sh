#!/bin/sh
# Builds the Dockerfile with docker or buildah, for the platform of this machine, and
# compares its files and configuration with the image that "make xpkg" builds.
set -eu

cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM

if docker info >/dev/null 2>&1; then
	docker build --quiet --tag function-markdownview:compare .
	docker save --output "$scratch/image.tar" function-markdownview:compare
elif command -v buildah >/dev/null; then
	# docker-archive is the format of "docker save".
	buildah build --layers --tag function-markdownview:compare .
	buildah push --quiet function-markdownview:compare "docker-archive:$scratch/image.tar"
elif [ "${GITHUB_ACTIONS:-}" ]; then # The runners of GitHub have docker.
	echo "cannot build the Dockerfile: neither docker nor buildah works" >&2
	exit 1
else
	echo "skipped the comparison with the image of the Dockerfile: neither docker nor buildah works"
	exit 0
fi
cd release
IMAGE=$scratch/image.tar go test -count=1 -run TestDockerfile .
