#!/bin/sh
# hostile_doors_test.sh - damaged input files other than dumps: budgets and baselines of gate, series of growth,
# recordings, rules. Each is cut, and has bytes flipped, in 40 ways: no crash, no hang, and a message that names the
# file.
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
cd "$TMPDIR"
hprofgen service -o s.hprof --objects 2K
heapdb import s.hprof -o s.heapdb --quiet > /dev/null
PYTHONPATH="$HDB_ROOT/tests/e2e:$HDB_ROOT/tests/support" PYTHONDONTWRITEBYTECODE=1 \
	python3 "$HDB_ROOT/tests/e2e/hostile_doors.py"
