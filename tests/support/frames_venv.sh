#!/bin/sh
# frames_venv.sh - prints the path of a Python environment with pyarrow, pandas, polars and duckdb, created once under
# build/ and kept between runs. Prints nothing if the packages are not available. Tests that need it at the same time
# take turns.
set -eu
venv=$HDB_ROOT/build/python-venv
mkdir -p "$HDB_ROOT/build"
exec 9> "$venv.lock"
! command -v flock > /dev/null || flock 9
if [ ! -f "$venv/ready-2" ]; then
	rm -rf "$venv"
	if ! python3 -m venv "$venv" > /dev/null 2>&1 ||
		! timeout 200 "$venv/bin/pip" install -q pyarrow pandas polars duckdb pytest > /dev/null 2>&1; then
		rm -rf "$venv"
		exit 0
	fi
	: > "$venv/ready-2"
fi
echo "$venv"
