#!/bin/sh
# refs_test.sh - the SQL table refs equals the references found by a plain reader of the dump, row by row, for the
# sample and eight real dumps of ../shared/dumps.
#
# Slow: the plain reader is Python, and the dumps have millions of references
set -eu
# shellcheck source=tests/support/sql_database.sh
. "$HDB_ROOT/tests/support/sql_database.sh"
command -v python3 >/dev/null || { echo "no python3 here"; exit 77; }
failed=0
check()
{
	python3 "$HDB_ROOT/tests/oracle/refs_check.py" heapdb "$1" "$2" || failed=1
}
check s.heapdb "$DUMP"
dumps=$HDB_ROOT/../shared/dumps
if [ -d "$dumps" ] && command -v zstd >/dev/null; then
	for name in basics_j17 basics_j17_i386 threads_j17 vthreads_j25_live javac_j25 android_service_leak \
		oracle_jdk8_05_x64 sun_jdk5_13_x32; do
		zstd -dqf "$dumps/$name.hprof.zst" -o dump.hprof
		heapdb import dump.hprof -o dump.heapdb --force --quiet >/dev/null
		check dump.heapdb dump.hprof
	done
fi
exit $failed
