#!/bin/sh
# microbench.sh BASE ROUNDS BENCHTIME
#
# Compares the benchmarks of package fn with those at the commit BASE. They run in turn,
# so a busy machine affects both.
set -eu

cd "$(dirname "$0")/.."
run=.run/microbench
rm -rf $run
mkdir -p $run/base
git archive "$1" | tar -x -C $run/base
(cd $run/base && go test -c -o ../base.test ./fn)
go test -c -o $run/now.test ./fn

for round in $(seq "$2"); do
	for side in base now; do
		[ $side = base ] && folder=$run/base/fn || folder=fn
		echo "round $round of $2: $side" >&2
		(cd $folder && "$OLDPWD/$run/$side.test" -test.run '^$' -test.bench . -test.benchtime "$3") >>$run/$side.txt
	done
done
.bin/benchstat "$1=$run/base.txt" "now=$run/now.txt"
