#!/bin/sh
# crossplane.sh VERSION FOLDER
#
# Writes a Go module to FOLDER from which another version of Crossplane is built than from
# test/tools/crossplane.
set -eu

mkdir -p "$2"
cd "$2"
rm -f go.mod go.sum
go mod init crossplane
# The module with the API types is separate since v2.3.
apis=github.com/crossplane/crossplane/apis/v2@$1
case $1 in v2.[012].*) apis= ;; esac
# shellcheck disable=SC2086 # It can be empty.
go get -tool "github.com/crossplane/crossplane/v2/cmd/crossplane@$1" $apis
