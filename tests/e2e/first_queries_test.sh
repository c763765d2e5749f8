#!/bin/sh
# first_queries_test.sh - several first queries at once, on a dump without a database or with an outdated one: one
# process imports it, the others wait and then read; all give the same answer.
set -eu
cd "$TMPDIR"
# Large enough that the import takes longer than starting the other processes.
hprofgen random --objects 300K --seed 1 -o one.hprof >/dev/null
hprofgen random --objects 300K --seed 2 -o two.hprof >/dev/null

ask() {
	for i in 1 2 3 4; do
		(
			rc=0
			heapdb query top --db dump.hprof --csv --limit 5 >"out$i" 2>"err$i" || rc=$?
			echo $rc >"rc$i"
		) &
	done
	wait
	for i in 1 2 3 4; do
		[ "$(cat "rc$i")" = 0 ] || { echo "$1: exit $(cat "rc$i"): $(cat "err$i")"; exit 1; }
		cmp out1 "out$i" || { echo "$1: another answer"; exit 1; }
	done
}

cp one.hprof dump.hprof
ask "no database"
cp out1 first
cp two.hprof dump.hprof
ask "an outdated database"
cmp -s out1 first && { echo "the old heap answers"; exit 1; }
heapdb query top --db dump.heapdb --csv --limit 5 2>err | cmp - out1
[ ! -s err ] || { cat err; exit 1; }
[ ! -e dump.heapdb.importing ] || { echo "litter"; exit 1; }
