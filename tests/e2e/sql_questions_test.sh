#!/bin/sh
# sql_questions_test.sh - the questions of tests/data/sql_questions.txt have their answers: lines with
# "> " after a statement are its rows.
set -eu
if heapdb sql --db "$DUMP" "SELECT 1" 2>&1 | grep -q "built without SQLite"; then
	echo "this heapdb was built without SQLite"
	exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
heapdb import "$DUMP" -o s.heapdb --quiet >/dev/null
HEAPDB=$work/s.heapdb
export HEAPDB
failed=0
count=0
: >got
while IFS= read -r line; do
	printf '%s\n' "$line" >>got
	case $line in
	SELECT*)
		count=$((count + 1))
		heapdb sql --quiet "$line" --format tsv 2>&1 </dev/null | sed '1d; s/^/> /' >>got
		;;
	esac
done <<END
$(grep -v '^> ' "$HDB_ROOT/tests/data/sql_questions.txt")
END
diff -u "$HDB_ROOT/tests/data/sql_questions.txt" got || failed=1
[ "$count" -ge 60 ] || { echo "only $count questions"; failed=1; }
exit $failed
