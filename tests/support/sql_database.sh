#!/bin/sh
# sql_database.sh - read by tests of SQL at their beginning: skips them where the command has no SQL; else the current
# folder is one of its own, which is removed at the end, and $HEAPDB in it the database of the sample dump.
# shellcheck shell=sh
if heapdb sql --db "$DUMP" "SELECT 1" 2>&1 | grep -q "built without SQLite"; then
	echo "this heapdb was built without SQLite"
	exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
heapdb import "$DUMP" -o s.heapdb --quiet >/dev/null
HEAPDB=$work/s.heapdb
export HEAPDB
