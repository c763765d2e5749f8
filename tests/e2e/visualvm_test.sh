#!/bin/sh
# visualvm_test.sh - scripts in VisualVM's OQL, as in its manual and in blogs, compared with answers obtained in another
# way: plain SQL, or a statement in MAT's language. A line of tests/data/visualvm_scripts.txt is a script, "~", sql or
# oql, "~" and a statement; rows are compared as sets, without column names. Scripts that cannot be translated get an
# error with the SQL to write.
set -eu
# shellcheck source=tests/support/sql_database.sh
. "$HDB_ROOT/tests/support/sql_database.sh"
failed=0
count=0

# rows COMMAND STATEMENT: its rows without a header, sorted.
rows()
{
	heapdb "$1" "$2" --csv --limit all --quiet 2>"$work/err" </dev/null | sed 1d | sort
	[ ! -s "$work/err" ] || cat "$work/err"
}

while IFS='~' read -r script door statement; do
	[ -n "$script" ] || continue
	count=$((count + 1))
	rows oql "$script" >got
	rows "$door" "$statement" >want
	[ -s want ] || { echo "no rows: $statement"; failed=1; }
	if ! cmp -s got want; then
		echo "$script"
		diff got want | head -n 6
		failed=1
	fi
done <"$HDB_ROOT/tests/data/visualvm_scripts.txt"
[ "$count" -ge 25 ] || { echo "only $count scripts"; failed=1; }

# refused SCRIPT WORD: the error names the unsupported part and the SQL to write.
refused()
{
	if heapdb oql "$1" >/dev/null 2>said || ! grep -q "VisualVM's OQL: .*$2" said; then
		echo "$1"
		cat said
		failed=1
	fi
}
refused 'heap.forEachClass(function(c) { print(c.name); })' 'FROM classes'
refused 'select heap.finalizables()' 'FROM finalizers'
refused 'var n = 0; select n' 'WITH name'
refused 'select reachables(u, "java.net.URL.handler") from java.net.URL u' 'WITH RECURSIVE'
refused 'select top(referrers(t), "rhs.id - lhs.id") from java.lang.Thread t' 'a join'
refused 'select sort(heap.classes(), "compare(lhs, rhs)")' 'compare'
refused 'select map(heap.objects("a"), "index")' 'row_number'
refused 'map(heap.roots(), "it.type")' 'FROM roots'
refused 'select heap.livepaths(t) from java.lang.Thread t' 'path(id)'
refused 'select root(c) == null from java.lang.Class c' 'FROM roots WHERE id'
refused 'select m from java.util.HashMap m where contains(referees(m), "true")' 'EXISTS'
refused 'select unique(heap.objects("a"), "it.name")' 'GROUP BY'
refused 'select max(heap.objects("a"), "lhs.n > rhs.n")' 'LIMIT 1'
refused 'select heap.findClass("java.lang.Thread").loader' 'SELECT loader'
refused 'select t.name.toString().toUpperCase() from java.lang.Thread t where t.daemon && true' 'upper('
refused 'select filter(heap.objects("a"), function (s) { return s.n; })' 'CASE WHEN'
refused 'select filter(heap.objects("a"), (s, n) => s.n)' 'CASE WHEN'
refused 'select t.name || "none" from java.lang.Thread t' 'coalesce'
refused 'map(unique(referrers(t)), "sizeof(it)") from java.lang.Thread t' 'FROM ( SELECT'
refused 'select filter(top(heap.objects("a")), "it.n")' 'FROM ( SELECT'
refused 'select heap.objects(' 'expected'
# The printed SQL can be pasted into a shell and gives the same answer.
heapdb oql 'select sizeof(m) from java.util.HashMap m' --limit 5 2>said >got
sed -n "s/.*translated to: \(heapdb sql 'SELECT m.shallow .*\)/\1 --limit 5/p" said >pasted
sh ./pasted 2>/dev/null | cmp -s got - || { echo "the SQL that is shown: $(cat pasted)"; failed=1; }
exit $failed
