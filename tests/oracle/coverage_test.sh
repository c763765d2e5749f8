#!/bin/sh
# coverage_test.sh - answers account for what they omit: rows plus the rest equal the totals in the same answer,
# whatever minimum, depth or threshold applies; reachable and unreachable objects add up to all; rows that belong
# together stay together in every sort order. Uses the sample dump, and others if ../shared/dumps exists.
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
