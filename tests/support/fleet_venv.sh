#!/bin/sh
# fleet_venv.sh - sourced by tests of fleets: skips them if Python cannot load the library or lacks pyspark, duckdb and
# pyarrow. Otherwise $venv is an environment with these, and HEAPDB_LIBRARY and HEAPDB_PYTHON are set.
# shellcheck shell=sh
if nm -D "$BUILD/libheapdb.so" | grep -q __asan; then
	echo "python3 cannot load a library with sanitizers"
	exit 77
fi
venv=$HDB_ROOT/build/fleet-venv
if ! timeout 250 sh "$HDB_ROOT/tools/python/make_venv.sh" "$venv" > "$TMPDIR/venv.log" 2>&1; then
	rm -rf "$venv"
	echo "pyspark, duckdb and pyarrow cannot be installed here"
	exit 77
fi
# The package's own library includes SQL.
HEAPDB_LIBRARY=$BUILD/libheapdb.so
[ ! -e "$BUILD/python/libheapdb.so" ] || HEAPDB_LIBRARY=$BUILD/python/libheapdb.so
HEAPDB_PYTHON=$venv/bin/python
PYTHONDONTWRITEBYTECODE=1
export HEAPDB_LIBRARY HEAPDB_PYTHON PYTHONDONTWRITEBYTECODE
