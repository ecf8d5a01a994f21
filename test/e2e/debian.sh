#!/bin/sh
# debian.sh FOLDER
#
# Unpacks the Debian packages of a real node into FOLDER. It installs nothing.
#
#   host   runc, the CNI plugins and nft, and those of their dependencies that this machine
#          does not have
#   nginx  a root filesystem with nginx
#   pause  a root filesystem with busybox, a static program
#
# The packages come from the mirror of this machine's apt. On a machine that is not Debian,
# set MIRROR=URL: the packages of the root filesystems then come from that mirror.
set -eu

fail() {
	echo "cannot get packages of Debian: $*" >&2
	exit 1
}

command -v apt-get >/dev/null || fail "apt-get is required"
mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep '/debian/$' | head -n 1)}
[ "$mirror" ] || fail "apt has no mirror of Debian: set MIRROR"

mkdir -p "$(dirname "$1")"
tmp=$(mktemp -d "$1.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM

# download FOLDER OPTION... downloads $packages and their dependencies and unpacks
# them. apt writes only to $tmp.
download() {
	folder=$1
	shift
	mkdir -p "$tmp/$folder/lists/partial" "$tmp/$folder/archives/partial" "$tmp/$folder/root/usr/bin" "$tmp/$folder/root/usr/sbin" "$tmp/$folder/root/usr/lib" "$tmp/$folder/root/usr/lib64"
	# Some packages have files in /bin, /sbin or /lib, which are links to /usr.
	ln -s usr/bin usr/sbin usr/lib usr/lib64 "$tmp/$folder/root"
	set -- -qq -o APT::Sandbox::User=root -o Acquire::Languages=none -o Dir::State::Lists="$tmp/$folder/lists" \
		-o Dir::Cache="$tmp/$folder" -o Dir::Cache::Archives="$tmp/$folder/archives" -o Debug::NoLocking=true "$@"
	apt-get "$@" update
	apt-get "$@" install --reinstall --no-install-recommends --download-only --yes $packages
	for package in "$tmp/$folder/archives"/*.deb; do
		[ ! -e "$package" ] || dpkg-deb --extract "$package" "$tmp/$folder/root"
	done
}

packages="runc containernetworking-plugins nftables"
download host

packages="nginx busybox-static"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e $keyring ] || fail "the package debian-archive-keyring is required"
: >"$tmp/status"
echo "deb [signed-by=$keyring] $mirror trixie main" >"$tmp/sources.list"
download image -o Dir::State::status="$tmp/status" -o Dir::Etc::SourceList="$tmp/sources.list" -o Dir::Etc::SourceParts=/dev/null

# image NAME PROGRAM FILE... creates a root filesystem with a program, its libraries,
# and other files.
image() {
	name=$1
	program=$2
	shift 2
	root=$tmp/image/root
	loader=$(find "$root/usr/lib64" "$root/usr/lib" -name 'ld-linux*.so*' | head -n 1)
	libraries=$(find "$root/usr/lib" -name libc.so.6 -exec dirname {} \;)
	if [ "$name" != pause ]; then
		set -- "$@" $("$loader" --library-path "$libraries" --list "$root/$program" |
			sed -n "s|.* => $root/\(.*\) (0x.*|\1|p; s|^[[:space:]]*\(/lib[^ ]*/ld-[^ ]*\) .*|\1|p")
	fi
	mkdir -p "$tmp/out/$name/usr"
	ln -s usr/lib usr/lib64 "$tmp/out/$name"
	for file in "$program" "$@"; do
		mkdir -p "$tmp/out/$name/$(dirname "$file")"
		cp -rL "$root/$file" "$tmp/out/$name/$file"
	done
}

image nginx usr/sbin/nginx etc/nginx/mime.types
image pause usr/bin/busybox

mv "$tmp/host/root" "$tmp/out/host"
rm -rf "$1"
mv "$tmp/out" "$1"
