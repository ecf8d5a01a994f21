#!/bin/sh
# lego.sh
#
# Copies the packages of lego, with which Traefik orders certificates from ACME, to the folder
# lego. There they have no DNS providers, which need more packages than the rest of Traefik.
set -eu

cd "$(dirname "$0")"
version=$(sed -n 's|.*go-acme/lego/v4 \(v[^ ]*\).*|\1|p' go.mod)
from=$(cd / && go mod download -json "github.com/go-acme/lego/v4@$version" | sed -n 's|.*"Dir": "\(.*\)".*|\1|p')
for part in acme certcrypto certificate challenge lego log platform registration; do
	rm -rf "lego/$part"
	cp -R "$from/$part" lego
	chmod -R u+w "lego/$part"
done
