#!/bin/sh
# coverage_test.sh - what answers leave out they say: rows and the rest come to the totals that the
# same answer states, whatever minimum, depth or threshold cuts; reachable and unreachable ones come
# to all; rows that belong together stay together, whatever they are sorted by. On the sample dump
# and, where ../shared/dumps is there, on others.
# Slow: every query with many limits on many dumps.
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
heapdb import "$DUMP" -o "$work/sample.heapdb" --quiet > "$work/out"
set -- "$work/sample.heapdb"
dumps=$HDB_ROOT/../shared/dumps
if [ -d "$dumps" ] && command -v zstd > /dev/null; then
	for name in android_ahat_test refs_j17_all; do
		zstd -dqf "$dumps/$name.hprof.zst" -o "$work/$name.hprof"
		heapdb import "$work/$name.hprof" -o "$work/$name.heapdb" --quiet > "$work/out"
		set -- "$@" "$work/$name.heapdb"
	done
fi
python3 "$HDB_ROOT/tests/oracle/coverage_oracle.py" "$@"
