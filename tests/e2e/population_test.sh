#!/bin/sh
# population_test.sh - all interfaces count the same objects: reachable ones of 50 classes, strings and entries, and the
# others with --all and --unreachable, in the command, SQL, OQL, Python, MCP and the extension. Each query that counts
# objects has these options or explains why not.
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1
# shellcheck disable=SC2153 # the dump of the tests
cp "$DUMP" "$work/sample.hprof"
shared=$HDB_ROOT/../shared/dumps
[ ! -f "$shared/refs_j17_all.hprof.zst" ] || zstd -dqf "$shared/refs_j17_all.hprof.zst" -o "$work/refs.hprof"
# A program without sanitizers cannot load a library built with them.
export HEAPDB_LIBRARY="$BUILD/python/libheapdb.so"
if [ ! -e "$HEAPDB_LIBRARY" ] || nm -D "$BUILD/libheapdb.so" | grep -q __asan; then
	HEAPDB_LIBRARY=
fi
export PYTHONPATH="$HDB_ROOT/tools/python"
for dump in "$work"/*.hprof; do
	heapdb import "$dump" -o "${dump%.hprof}.heapdb" --quiet > /dev/null
	python3 "$HDB_ROOT/tests/e2e/population.py" "${dump%.hprof}.heapdb"
done
