#!/bin/sh
# debian.sh SUITE PACKAGE...
#
# Unpacks packages of a Debian suite (trixie, sid) and their dependencies into
# .bin/PACKAGE-SUITE, a root directory named after the first package, and prints that
# directory. It installs nothing and does not need root. The packages come from the
# mirror of this machine's apt, or from MIRROR=URL, for a machine that is not Debian.
#
# Run mdBook with "unshare --map-root-user --root=DIRECTORY mdbook": mdBook 0.5 of Debian
# reads icons from /usr/share, so running it with its own ld.so is not enough.
set -eu

cd "$(dirname "$0")/.."
suite=${1:?which suite of Debian: trixie or sid}
shift
root=$PWD/.bin/${1:?which package}-$suite
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

fail() {
	echo "cannot get packages of Debian: $*" >&2
	exit 1
}

# apt for a system without installed packages.
apt() {
	apt-get -qq -o APT::Sandbox::User=root -o Acquire::Languages=none \
		-o Dir::Etc::SourceList="$tmp/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State="$tmp/apt" -o Dir::State::Lists="$tmp/apt/lists" -o Dir::State::status="$tmp/apt/status" \
		-o Dir::Cache="$tmp/apt" -o Dir::Cache::Archives="$tmp/apt/archives" "$@" >&2
}

if [ ! -d "$root" ]; then
	command -v apt-get >/dev/null || fail "apt is required"
	[ -e $keyring ] || fail "the package debian-archive-keyring is required"
	# Use the mirror of Debian itself: that of security updates has other suites.
	# shellcheck disable=SC2016 # The variables are apt's.
	mirror=${MIRROR:-$(apt-get indextargets --format '$(SITE) $(LABEL) $(REPO_URI)' 'Created-By: Packages' | awk '$2 == "Debian" { print $3; exit }')}
	[ "$mirror" ] || fail "apt has no mirror of Debian: run \"apt-get update\", or set MIRROR"

	mkdir -p .bin
	tmp=$(mktemp -d .bin/debian.XXXXXX)
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 1' INT TERM
	tmp=$PWD/$tmp
	mkdir -p "$tmp/apt/lists/partial" "$tmp/apt/archives/partial" "$tmp/root/usr/lib" "$tmp/root/usr/lib64" "$tmp/root/usr/bin"
	ln -s usr/lib usr/lib64 usr/bin "$tmp/root"
	: >"$tmp/apt/status"
	echo "deb [target=Packages signed-by=$keyring] $mirror $suite main" >"$tmp/apt/sources.list"
	apt update
	apt install --no-install-recommends --download-only --yes "$@"
	for package in "$tmp"/apt/archives/*.deb; do
		dpkg-deb --extract "$package" "$tmp/root"
	done
	# mktemp created the folder for one user only.
	chmod 755 "$tmp/root"
	# Another run may have created the directory meanwhile.
	mv -T "$tmp/root" "$root" 2>/dev/null || [ -d "$root" ]
fi
echo "$root"
