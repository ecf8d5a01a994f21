#!/bin/sh
# previous.sh COMMIT FILE
#
# Builds the package of the function of an earlier commit as FILE, with the Makefile of
# that commit and the tools of this one, and puts its CHANGELOG.md beside it.
set -eu

cd "$(dirname "$0")/.."
# A shallow clone or the first commit has no previous one.
commit=$(git rev-parse --quiet --verify "$1^{commit}") || {
	echo "this clone has no commit $1: the test Upgrade uses a build of HEAD. Run \"git fetch --deepen=1\" to compare with the previous commit." >&2
	commit=HEAD
}
source=.run/previous
rm -rf $source
mkdir -p $source "$(dirname "$2")"
git archive "$commit" | tar -x -C $source
package=dist/function-markdownview-linux-$(go env GOARCH).xpkg
env -u MAKEFLAGS make -C $source "$package" DIST=dist VERSION=v0.0.1 BIN="$PWD/.bin" \
	-o "$PWD/.bin/crossplane" -o "$PWD/.bin/cyclonedx-gomod" -o "$PWD/.bin/regctl"
cp $source/CHANGELOG.md "$(dirname "$2")"
mv "$source/$package" "$2"
rm -rf $source
