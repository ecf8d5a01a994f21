#!/bin/sh
# debian.sh FOLDER
#
# Unpacks what a real node needs from Debian into FOLDER, and installs nothing:
#
#   host   runc, the CNI plugins and nft, for this machine; what it has already is
#          left out
#   nginx  a root filesystem with nginx
#   pause  a root filesystem with a static program that waits
#
# The packages come from the mirror that apt is configured with. MIRROR names
# another one for the images, such as on a machine that is not a Debian.
set -eu

fail() {
	echo "cannot get the node's packages from Debian: $*" >&2
	exit 1
}

command -v apt-get >/dev/null || fail "this needs apt-get"
mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep '/debian/$' | head -n 1)}
[ "$mirror" ] || fail "apt knows no mirror of Debian: set MIRROR"

mkdir -p "$(dirname "$1")"
tmp=$(mktemp -d "$1.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM

# download FOLDER OPTIONS downloads $packages with what they depend on and
# unpacks them. All that apt writes is below $tmp.
download() {
	folder=$1
	shift
	mkdir -p "$tmp/$folder/lists/partial" "$tmp/$folder/archives/partial" "$tmp/$folder/root/usr/bin" "$tmp/$folder/root/usr/sbin" "$tmp/$folder/root/usr/lib" "$tmp/$folder/root/usr/lib64"
	# Where a package still has files in /lib or /sbin they belong in /usr.
	ln -s usr/bin usr/sbin usr/lib usr/lib64 "$tmp/$folder/root"
	set -- -qq -o APT::Sandbox::User=root -o Acquire::Languages=none -o Dir::State::Lists="$tmp/$folder/lists" \
		-o Dir::Cache="$tmp/$folder" -o Dir::Cache::Archives="$tmp/$folder/archives" -o Debug::NoLocking=true "$@"
	apt-get "$@" update
	apt-get "$@" install --no-install-recommends --download-only --yes $packages
	for package in "$tmp/$folder/archives"/*.deb; do
		[ ! -e "$package" ] || dpkg-deb --extract "$package" "$tmp/$folder/root"
	done
}

packages="runc containernetworking-plugins nftables"
download host

packages="nginx busybox-static"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e $keyring ] || fail "this needs the package debian-archive-keyring"
: >"$tmp/status"
echo "deb [signed-by=$keyring] $mirror trixie main" >"$tmp/sources.list"
download image -o Dir::State::status="$tmp/status" -o Dir::Etc::SourceList="$tmp/sources.list" -o Dir::Etc::SourceParts=/dev/null

# image NAME PROGRAM FILES makes a root filesystem of a program, the libraries that
# it needs, and other files.
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
