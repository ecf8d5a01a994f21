#!/bin/sh
# viewer.sh
#
# Tests the composed viewer with the real mdBook and a real browser, on Linux with
# apt. The image is made of Debian's package of mdBook and what that depends on,
# and kept in .bin/mdbook-SUITE (test/mdbook.sh). runc and Chromium are installed
# when they are missing.
#
# SUITE=sid takes the mdBook of another Debian, RUN=REGEXP runs some tests only, V=1
# shows what they measure, and SCREENSHOT=FILE keeps the picture that the browser
# takes.
set -eu

cd "$(dirname "$0")/../.."
suite=${SUITE:-trixie}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

fail() {
	echo "cannot test the viewer: $*" >&2
	exit 1
}

browser() {
	command -v chromium || command -v google-chrome || command -v chromium-browser
}

[ "$(id -u)" = 0 ] || fail "it runs as another user in namespaces of its own, which takes root: run \"sudo make test-viewer\""
[ "$(uname)" = Linux ] || fail "it needs Linux"
command -v apt-get >/dev/null || fail "it needs apt, to get mdBook from Debian"

tmp=$(mktemp -d)
# Meanwhile: it takes the processor, and the rest the network.
go test -C test/viewer -c -o "$tmp/viewer.test" . &
compiler=$!
cleanup() {
	kill $compiler 2>/dev/null || true
	for id in $(runc --root "$tmp/run/runc" list --quiet 2>/dev/null); do
		runc --root "$tmp/run/runc" delete --force "$id"
	done
	rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

packages=
command -v runc >/dev/null || packages="$packages runc"
browser >/dev/null || packages="$packages chromium"
[ -e $keyring ] || packages="$packages debian-archive-keyring"
if [ "$packages" ]; then
	export DEBIAN_FRONTEND=noninteractive
	apt-get -qq update
	# shellcheck disable=SC2086 # Several.
	apt-get -qq -o DPkg::Lock::Timeout=120 install --no-install-recommends $packages >/dev/null
fi

image=$(test/mdbook.sh "$suite")
echo "$(chroot "$image" /usr/bin/mdbook --version), $(runc --version | head -1), $("$(browser)" --version 2>/dev/null)"

mkdir "$tmp/run"
wait $compiler
(
	cd test/viewer
	VIEWER_IMAGE=$image VIEWER_BROWSER=$(browser) VIEWER_RUN=$tmp/run \
		"$tmp/viewer.test" -test.parallel=4 -test.timeout=5m -test.run="${RUN:-}" ${V:+-test.v}
)
[ -z "${SCREENSHOT:-}" ] || cp "$tmp/run/book.png" "$SCREENSHOT"
