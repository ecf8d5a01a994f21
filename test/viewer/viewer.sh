#!/bin/sh
# viewer.sh
#
# Tests the composed viewer with the real mdBook and a real browser, on Linux with
# apt. The image is made of Debian's package of mdBook and what that depends on,
# and kept in .run/viewer. runc and Chromium are installed when they are missing.
#
# SUITE=sid takes the mdBook of another Debian, RUN=REGEXP runs some tests only, V=1
# shows what they measure, and SCREENSHOT=FILE keeps the picture that the browser
# takes.
set -eu

cd "$(dirname "$0")/../.."
suite=${SUITE:-trixie}
mirror=${MIRROR:-http://deb.debian.org/debian}
image=$PWD/.run/viewer/$suite
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

# An apt for a system in which nothing is installed.
apt_in_image() {
	apt-get -qq -o APT::Sandbox::User=root -o Acquire::Languages=none \
		-o Dir::Etc::SourceList="$tmp/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State="$tmp/apt" -o Dir::State::Lists="$tmp/apt/lists" -o Dir::State::status="$tmp/apt/status" \
		-o Dir::Cache="$tmp/apt" -o Dir::Cache::Archives="$tmp/apt/archives" "$@"
}

if [ ! -d "$image" ]; then
	mkdir -p "$tmp/apt/lists/partial" "$tmp/apt/archives/partial" "$tmp/image/usr/lib" "$tmp/image/usr/lib64" "${image%/*}"
	ln -s usr/lib usr/lib64 "$tmp/image"
	: >"$tmp/apt/status"
	echo "deb [target=Packages signed-by=$keyring] $mirror $suite main" >"$tmp/apt/sources.list"
	apt_in_image update
	apt_in_image install --no-install-recommends --download-only --yes mdbook
	for package in "$tmp"/apt/archives/*.deb; do
		dpkg-deb --extract "$package" "$tmp/image"
	done
	# mktemp made the folder for root alone.
	chmod 755 "$tmp/image"
	# Someone else may have been faster.
	mv -T "$tmp/image" "$image" 2>/dev/null || [ -d "$image" ]
fi
echo "$(chroot "$image" /usr/bin/mdbook --version), $(runc --version | head -1), $("$(browser)" --version 2>/dev/null)"

mkdir "$tmp/run"
wait $compiler
(
	cd test/viewer
	VIEWER_IMAGE=$image VIEWER_BROWSER=$(browser) VIEWER_RUN=$tmp/run \
		"$tmp/viewer.test" -test.parallel=4 -test.timeout=5m -test.run="${RUN:-}" ${V:+-test.v}
)
[ -z "${SCREENSHOT:-}" ] || cp "$tmp/run/book.png" "$SCREENSHOT"
