#!/bin/sh
# fleet_test.sh - the dumps of a fleet as tables, imported in one process after another and by Spark with two workers,
# one of which is killed; the reports by DuckDB and by Spark; the data source. 24 dumps here, 200 with HEAPDB_FLEET=full
# (make nightly), which also measures the speedup with two workers.
# Slow: 24 dumps by two ways, and Spark.
set -eu
[ -r /proc/self/stat ] || { echo "no /proc here"; exit 77; }
for tool in java javac python3; do
	command -v $tool > /dev/null || { echo "no $tool here"; exit 77; }
done
cd "$TMPDIR"
# shellcheck source=tests/support/fleet_venv.sh
. "$HDB_ROOT/tests/support/fleet_venv.sh"

# Missing packages are reported in one line.
code=0
HEAPDB_PYTHON=/nowhere/python3 heapdb fleet . > out 2>&1 || code=$?
[ $code -eq 4 ] && [ "$(wc -l < out)" -eq 1 ] && grep -q 'requires Python' out
code=0
PYTHONPATH='' "$BUILD/heapdb" fleet . > out 2>&1 || code=$?
[ $code -eq 4 ] && [ "$(wc -l < out)" -eq 1 ] &&
	grep -q 'requires the Python package heapdb-jvm: pip install .WHEEL.fleet' out
code=0
"$BUILD/heapdb" fleet > out 2>&1 || code=$?
[ $code -eq 2 ]

export PYTHONPATH="$HDB_ROOT/tools/python"
programs=3 builds=8
[ "${HEAPDB_FLEET:-}" != full ] || programs=20 builds=10
python3 "$HDB_ROOT/bench/java/fleet.py" dumps $programs $builds
"$venv/bin/python" "$HDB_ROOT/tests/e2e/fleet_test.py" "$TMPDIR" "${HEAPDB_FLEET:-small}"
