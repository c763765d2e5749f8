#!/bin/sh
# sql_database.sh - sourced by tests of SQL: skips them if the command has no SQL. Otherwise changes to a temporary
# directory, which is removed at the end, and sets $HEAPDB to the database of the sample dump in it.
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
