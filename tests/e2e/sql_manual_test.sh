#!/bin/sh
# sql_manual_test.sh - the examples of heapdb-sql(1) run on the sample dump, and return rows unless the dump has no such
# data; mandoc reports no errors.
set -eu
page=$HDB_ROOT/tools/heapdb/heapdb-sql.1
if command -v mandoc >/dev/null; then
	mandoc -Tlint -W warning "$page"
fi
if heapdb sql --db "$DUMP" "SELECT 1" 2>&1 | grep -q "built without SQLite"; then
	echo "this heapdb was built without SQLite"
	exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
heapdb import "$DUMP" -o before.heapdb --quiet >/dev/null
cp before.heapdb after.heapdb
failed=0
count=0
grep '^SELECT' "$page" | sed 's/\\e/\\/g' >examples
while read -r statement; do
	count=$((count + 1))
	set -- before.heapdb
	case $statement in *before.*) set -- before=before.heapdb after=after.heapdb ;; esac
	got=0
	heapdb sql "$@" "$statement" --csv >out 2>err || got=$?
	if [ "$got" -ne 0 ] || [ "$(wc -l <out)" -lt 2 ]; then
		echo "FAILED (exit $got, $(wc -l <out) lines): $statement"
		cat err
		failed=1
	fi
done <examples
[ "$count" -ge 30 ] || { echo "only $count examples"; failed=1; }
exit $failed
