#!/bin/sh
# tools/python/make_venv.sh DIR - a Python environment with what the tests of the fleet need: PySpark 4
# (450 MB, Spark itself), DuckDB, pyarrow. Does nothing if it is there. Spark wants JDK 17 or 21.
set -eu

venv=$1
[ ! -f "$venv/ready" ] || exit 0
rm -rf "$venv"
python3 -m venv "$venv"
"$venv/bin/pip" install -q 'pyspark==4.0.*' duckdb pyarrow
: > "$venv/ready"
