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
# The packages of the root filesystems come from test/debian.sh.
set -eu

mkdir -p "$(dirname "$1")"
tmp=$(mktemp -d "$1.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM

# apt for this machine, which writes only to $tmp.
apt() {
	apt-get -qq -o APT::Sandbox::User=root -o Acquire::Languages=none -o Dir::State::Lists="$tmp/lists" \
		-o Dir::Cache="$tmp" -o Dir::Cache::Archives="$tmp/archives" -o Debug::NoLocking=true "$@"
}

# Some packages have files in /bin, /sbin or /lib, which are links to /usr.
mkdir -p "$tmp/lists/partial" "$tmp/archives/partial" "$tmp/out/host/usr/bin" "$tmp/out/host/usr/sbin" "$tmp/out/host/usr/lib" "$tmp/out/host/usr/lib64"
ln -s usr/bin usr/sbin usr/lib usr/lib64 "$tmp/out/host"
apt update
apt install --reinstall --no-install-recommends --download-only --yes runc containernetworking-plugins nftables
for package in "$tmp"/archives/*.deb; do
	dpkg-deb --extract "$package" "$tmp/out/host"
done

# image NAME ROOT PROGRAM FILE... creates a root filesystem with a program of the root
# directory ROOT, its libraries, and other files.
image() {
	out=$tmp/out/$1 root=$2 program=$3
	shift 3
	loader=$(find "$root/usr/lib64" "$root/usr/lib" -name 'ld-linux*.so*' | head -n 1)
	if [ "$loader" ]; then
		libraries=$(find "$root/usr/lib" -name libc.so.6 -exec dirname {} \;)
		set -- "$@" $("$loader" --library-path "$libraries" --list "$root/$program" |
			sed -n "s|.* => $root/\(.*\) (0x.*|\1|p; s|^[[:space:]]*\(/lib[^ ]*/ld-[^ ]*\) .*|\1|p")
	fi
	mkdir -p "$out/usr"
	ln -s usr/lib usr/lib64 "$out"
	for file in "$program" "$@"; do
		mkdir -p "$out/$(dirname "$file")"
		cp -rL "$root/$file" "$out/$file"
	done
}

nginx=$("$(dirname "$0")/../debian.sh" trixie nginx)
busybox=$("$(dirname "$0")/../debian.sh" trixie busybox-static)
image nginx "$nginx" usr/sbin/nginx etc/nginx/mime.types
image pause "$busybox" usr/bin/busybox

rm -rf "$1"
mv "$tmp/out" "$1"
