#!/bin/sh
# sql_questions_test.sh - runs the statements of tests/data/sql_questions.txt. Lines with "> " after a statement are its
# expected rows.
set -eu
# shellcheck source=tests/support/sql_database.sh
. "$HDB_ROOT/tests/support/sql_database.sh"
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
