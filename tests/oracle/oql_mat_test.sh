#!/bin/sh
# oql_mat_test.sh - `heapdb oql` compared with a running Eclipse MAT: over 400 statements on each of five dumps.
# ../shared/peers builds MAT; its README explains PEERS, JDK17 and JDK25.
# Slow: MAT opens five dumps, and answers 2,000 statements
set -eu
[ -d "${PEERS:-/nonexistent}/mat/bundles" ] || { echo "no MAT in \$PEERS"; exit 77; }
command -v python3 >/dev/null || { echo "no python3 here"; exit 77; }
command -v zstd >/dev/null || { echo "zstd is not installed"; exit 77; }
shared=$HDB_ROOT/../shared
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
set --
for name in basics colls graph_random loaders strs; do
	zstd -dqf "$shared/dumps/${name}_j17.hprof.zst" -o "$work/$name.hprof"
	set -- "$@" "$work/$name.hprof"
done
python3 "$HDB_ROOT/tests/oracle/oql_mat.py" heapdb "$shared/peers/bin/mat-run" "$work" "$@"
