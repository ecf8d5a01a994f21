#!/bin/sh
# step.sh NAME COMMAND...
#
# Runs a command of a long build. It prints only NAME, with its position in NEED, the list
# of everything to build: "[7/14] kube-apiserver". The output goes to .run/build/NAME.log.
# If the command fails, the end of that log is printed.
set -eu

log=$(dirname "$0")/../.run/build/$1.log
mkdir -p "$(dirname "$log")"
position=0 total=0
for name in ${NEED:-}; do
	total=$((total + 1))
	[ "${name##*/}" != "$1" ] || position=$total
done
if [ $position = 0 ]; then echo "$1"; else echo "[$position/$total] $1"; fi
shift
"$@" >"$log" 2>&1 || {
	status=$?
	tail -n 20 "$log"
	echo "cannot run $*: the log is $(realpath "$log")"
	exit $status
} >&2
