#!/bin/sh
# sql_extremes_all_test.sh - every function and operator of SQL with extreme arguments: each ends, or is cancelled,
# within a second of processor time.
# Slow: some 150 statements, each of up to two seconds.
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
[ -r /proc/self/stat ] || { echo "no /proc here"; exit 77; }
cd "$TMPDIR"
heapdb import "$DUMP" -o s.heapdb --quiet > /dev/null
if heapdb sql s.heapdb 'SELECT 1' 2>&1 | grep -q 'built without'; then
	echo "built without SQLite"
	exit 77
fi
python3 "$HDB_ROOT/tests/e2e/sql_extremes.py" s.heapdb all
