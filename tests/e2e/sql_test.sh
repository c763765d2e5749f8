#!/bin/sh
# sql_test.sh - heapdb sql: tables agree with one another and with the queries of the command, look-ups do not scan,
# nothing can be written, endless statements are ended, and the extension returns the same in sqlite3 and Python.
set -eu
# shellcheck source=tests/support/sql_database.sh
. "$HDB_ROOT/tests/support/sql_database.sh"
failed=0

# The rows of a statement as TSV, without heading.
rows()
{
	heapdb sql "$1" --format tsv | sed 1d
}

same()
{
	if [ "$2" != "$3" ]; then
		echo "FAILED: $1"
		echo "  got:      $2"
		echo "  expected: $3"
		failed=1
	fi
}

# A row as CSV, without heading.
csv()
{
	same "$1 --csv" "$(heapdb sql "$1" --csv | sed 1d)" "$2"
}

is()
{
	same "$1" "$(rows "$1")" "$2"
}

# Fails with this exit status and message.
refused()
{
	got=0
	heapdb sql "$1" >out 2>err || got=$?
	if [ "$got" -ne "$2" ] || ! grep -qF "$3" err; then
		echo "FAILED: $1: exit $got, $(cat err)"
		failed=1
	fi
}

# ---- suggestions ----
refused "SELECT clas FROM objects" 2 "no such column: clas; did you mean class?"
refused 'SELECT siz FROM "java.util.HashMap"' 2 "no such column: siz; did you mean size?"
refused "SELECT s.tex FROM roots r, strings s" 2 "no such column: s.tex; did you mean text?"
refused "SELECT shalow FROM histogram" 2 "no such column: shalow; did you mean shallow?"
refused "SELECT * FROM objekts" 2 "no such table: objekts; did you mean objects?"
refused "SELECT * FROM object" 2 "missing argument: OBJECT; the table of all objects is objects"
refused "SELECT * FROM java.util.HashMap" 2 'class names are in double quotes: "java.util.HashMap"'
refused 'SELECT id FROM objects WHERE class = "java.lang.String"' 2 \
	"string literals are in single quotes: 'java.lang.String'"
refused "SHOW TABLES" 2 ".tables lists tables, .schema TABLE lists columns"
refused "DESCRIBE objects" 2 ".tables lists tables, .schema TABLE lists columns"
refused "SELECT id FROM objects WHERE id = '0x12c4'" 0 "IDs are numbers: write id = 0x12c4, without quotes"
refused "SELECT id FROM objects WHERE class = 'String'" 0 "no such class: 'String'; did you mean 'java.lang.String'?"
refused "SELECT id FROM objects WHERE class = 'java.util.HashMapp'" 0 "did you mean 'java.util.HashMap'?"
refused "SELECT id FROM objects WHERE kind = 'array'" 0 "kinds of objects are instance, object array"
refused "SELECT id FROM roots WHERE kind = 'STICKY CLASS'" 0 \
	"unknown kind: 'STICKY CLASS'; did you mean 'sticky class'?"
same "why there are no rows, in JSON" "$(heapdb sql "SELECT id FROM objects WHERE class = 'String'" --json 2>&1 |
	grep -c '"facts":{"note":"no such class: .*did you mean .java.lang.String.?')" 1
is "SELECT count(*) > 40, sum(name = 'refs') FROM sqlite_master" "1	1"
same "schema of refs" "$(heapdb sql '.schema refs' | tr -s ' ' | tr '\n' ',')" \
	"refs: All references: source, target, field name, source ID, target ID, name TEXT, strength TEXT,"
same "schema of all" "$(heapdb sql .schema | grep -c '^[a-z]')" "$(heapdb sql .tables | sed '/^Queries/,$d' |
	grep -c '^  [a-z]')"

# ---- columns with the same name ----
twice="SELECT s.class, 1 AS class_2, t.class, s.class FROM refs r JOIN objects s ON s.id = r.source \
	JOIN objects t ON t.id = r.target WHERE t.class = 'Sample' LIMIT 1"
# A column named in the statement is always shown; columns of * with equal values are folded.
same "named column" "$(heapdb sql "SELECT name, 5 AS depth FROM classes WHERE name GLOB 'java.*' LIMIT 4" |
	sed -n '1p;$p' | tr -s ' ' | cut -d ' ' -f 2 | tr '\n' ' ')" 'depth 5 '
same "column of *" "$(heapdb sql "SELECT * FROM (SELECT name, 5 AS depth FROM classes LIMIT 4)" | tail -n 1)" \
	'in all rows: depth 5'
same "columns of one name, jsonl" "$(heapdb sql "$twice" --format jsonl | sed 's/:"[^"]*"//g')" \
	'{"class","class_2":1,"class_3","class_4"}'
same "columns of one name, csv" "$(heapdb sql "$twice" --csv | sed 1q)" class,class_2,class_3,class_4
heapdb export "$twice" --format arrow -o twice.arrow 2>/dev/null
same "columns of one name, arrow" "$(grep -a -o 'class_[2-4]' twice.arrow | sort -u | tr -d '\n')" class_2class_3class_4

# ---- tables ----
# They show reachable objects, with --all unreachable ones, too.
all()
{
	heapdb sql --all "$1" --format tsv | sed 1d
}
for table in objects strings arrays refs '"java.util.HashMap"' "instances('java.util.*')" \
	"entries('java.util.HashMap')"; do
	case $table in
	refs) of=source ;;
	entries*) of=owner ;;
	*) of=id ;;
	esac
	where="(SELECT reachable FROM objects o WHERE o.id = t.$of)"
	is "SELECT count(*) FROM $table" "$(all "SELECT count(*) FROM $table t WHERE $where")"
done
same "all" "$(all "SELECT count(*), sum(reachable) FROM objects")" "31512	30954"
same "classes" "$(all "SELECT name, reachable_objects FROM classes")" "$(rows "SELECT name, objects FROM classes")"
same "all, from totals" "$(all "SELECT count(*) FROM objects; SELECT count(*) FROM objects WHERE reachable = 0")" "31512
count(*)
558"
is "SELECT count(*) FROM objects WHERE NOT reachable" 0
heapdb sql "SELECT reachable FROM objects LIMIT 0" 2>&1 | grep -qF "heapdb: sql: tables show reachable objects" ||
	{ echo "FAILED: a statement with \"reachable\" is not told what tables show"; failed=1; }
same "what an unreachable object has, by its ID" "$(all "SELECT id FROM objects WHERE NOT reachable AND id IN \
	(SELECT target FROM refs) LIMIT 1" >lost; rows "SELECT count(*) FROM objects WHERE id = $(cat lost)"; \
	rows "SELECT count(*) > 0 FROM referrers($(cat lost))"; rows "SELECT count(*) FROM refs WHERE target = \
	$(cat lost)")" "0
1
0"
heapdb export refs --all --format csv | wc -l >exported
same "export --all" "$(cat exported)" "$(($(all "SELECT count(*) FROM refs") + 1))"
is "SELECT count(*) FROM objects" 30954
is "SELECT count(*) FROM objects WHERE id > 0" 30954
# Bounds that do not occur in the table's order: the largest integer, fractions, strings.
is "SELECT count(*) FROM objects WHERE id <= 9223372036854775807" 30954
is "SELECT count(*) FROM objects WHERE id < 9e18 AND id > 0.5" 30954
is "SELECT count(*) FROM objects WHERE id <= 1e18 AND id >= 1" 30954
is "SELECT count(*) FROM objects WHERE id < 'x'" 30954
is "SELECT count(*) FROM objects WHERE id <= 1" 0
same "kinds" "$(all "SELECT kind, count(*) FROM objects GROUP BY kind ORDER BY kind")" "class	1034
instance	21365
object array	2271
primitive array	6842"
# Every column of every row equals that in the table of all objects.
heapdb export objects --columns id,class,kind,shallow,retained --format tsv | sed 1d | sort >want
heapdb sql "SELECT id, class, kind, shallow, retained FROM objects WHERE reachable" --format tsv | sed 1d | sort >got
cmp want got || { echo "FAILED: objects differ from export objects"; failed=1; }
# Sums from totals and sums over rows.
for where in "" "WHERE reachable" "WHERE reachable = 0" "WHERE class GLOB 'java.util.*'" "WHERE reachable \
		AND class LIKE '%Map'"; do
	for by in class kind; do
		same "totals by $by $where" \
			"$(rows "SELECT $by, count(*), sum(shallow), sum(retained) FROM objects $where \
			GROUP BY $by ORDER BY $by")" \
			"$(rows "SELECT $by, count(*), sum(shallow + 0), sum(retained + 0) FROM objects $where \
			GROUP BY $by ORDER BY $by")"
	done
done
same "all, by kind" "$(all "SELECT * FROM kind_totals(0)")" "$(all "SELECT kind, count(*), sum(shallow + 0), \
	sum(retained + 0) FROM objects WHERE NOT reachable GROUP BY kind ORDER BY kind = 'class', kind")"
# Number of referring objects (not references): of all objects, of one, the maximum.
for all in "" --all; do
	mine="SELECT count(*), sum(referrers), \
		sum(referrers <> (SELECT count(DISTINCT source) FROM refs WHERE target = o.id)) \
		FROM objects o; SELECT max(referrers) FROM objects; \
		SELECT sum(n) FROM (SELECT referrers n FROM objects ORDER BY referrers DESC LIMIT 40000)"
	found="SELECT count(*) FROM (SELECT DISTINCT source, target FROM refs)"
	plain="SELECT count(*), ($found), 0 FROM objects; SELECT count(DISTINCT source) FROM refs \
		GROUP BY target ORDER BY 1 DESC LIMIT 1; $found"
	same "referrers $all" "$(heapdb sql $all --format tsv "$mine" | grep '^[0-9]')" \
		"$(heapdb sql $all --format tsv "$plain" | grep '^[0-9]')"
	heapdb sql $all --format tsv "SELECT id, referrers FROM objects ORDER BY referrers DESC LIMIT 300" >most
	same "most referrers $all" "$(cat most)" "$(heapdb sql $all --format tsv "SELECT id, referrers FROM objects \
		ORDER BY referrers DESC, id LIMIT 300")"
done
# References of a long array that contains two objects many times: a row for each element.
heapdb sql --format tsv --quiet "SELECT id, length, file_offset FROM objects WHERE class = 'java.lang.Object[]' AND \
	(SELECT count(*) FROM refs WHERE source = objects.id) > 100 LIMIT 1" | sed 1d >array
python3 - "$DUMP" twice.hprof <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
array, length, offset = (int(word, 0) for word in open("array").read().split())
at = data.index(struct.pack(">Q", array), offset) + 24  # identifier, stack trace, length, class
elements = [bytes(data[at + 8 * i:at + 8 * i + 8]) for i in range(length)]
two = [element for element in elements if any(element)][:2]
data[at:at + 8 * length] = b"".join(two[i % 2] for i in range(length))
open(sys.argv[2], "wb").write(data)
END
heapdb import twice.hprof -o twice.heapdb --quiet >/dev/null
two()
{
	heapdb sql twice.heapdb --format tsv --quiet --limit all "$1" | sed 1d
}
id=$(cut -f1 array)
same "references of a long array" "$(two "SELECT count(*), count(DISTINCT name), count(DISTINCT target) FROM refs \
	WHERE source = $id") $(two "SELECT count(*) FROM \"references\"($id)")" \
	"$(cut -f2 array | tr -d ,)	$(cut -f2 array | tr -d ,)	2 2"
same "references of a long array to one" "$(two "SELECT name, target FROM refs WHERE source = $id AND target = \
	(SELECT target FROM refs WHERE source = $id LIMIT 1)")" \
	"$(two "SELECT name, target FROM refs WHERE source = $id" | sed -n 'p;n')"
same "references by name, by position" "$(two "SELECT source, target FROM refs WHERE name = '[7]'" | sort)" \
	"$(two "SELECT source, target FROM refs WHERE name || '' = '[7]'" | sort)"
# Each field has one name and is found by it, and no row refers to null.
is "SELECT count(*) FROM refs WHERE name LIKE '%, %' OR target IS NULL OR target NOT IN (SELECT id FROM objects)" 0
is "SELECT count(*) FROM refs r JOIN \"java.util.HashMap\$Node+\" n ON n.id = r.source WHERE r.name = 'key'" \
	"$(rows "SELECT count(key) FROM \"java.util.HashMap\$Node+\"")"
is "SELECT referrers FROM objects WHERE id = $(sed -n 2p most | cut -f1)" "$(rows "SELECT max(referrers) FROM objects")"
is "SELECT sum(objects) FROM classes" 30954
is "SELECT count(*) FROM \"java.util.HashMap\"" "$(rows "SELECT count(*) FROM objects \
		WHERE class = 'java.util.HashMap'")"
is "SELECT count(*) FROM \"java.util.HashMap+\"" "$(rows "SELECT count(*) FROM objects \
		WHERE is_instance(id, 'java.util.HashMap')")"
is "SELECT count(*) FROM instances('java.util.HashMap', 0)" "$(rows "SELECT count(*) FROM \"java.util.HashMap\"")"
is "SELECT count(*) FROM \"java.util.HashMap+\" WHERE size <> field(id, 'size')" 0
is "SELECT count(*) FROM \"java.util.HashMap\" m WHERE size <> (SELECT count(*) FROM entries(m.id))" 0
is "SELECT count(*) FROM objects WHERE class IN ('java.lang.String', 'byte[]')" \
	"$(rows "SELECT (SELECT count(*) FROM \"java.lang.String\") + (SELECT count(*) FROM \"byte[]\")")"
is "SELECT count(*) FROM arrays a WHERE a.length <> (SELECT count(*) FROM elements(a.id)) AND a.length < 20" 0
is "SELECT count(*) FROM strings s WHERE s.text <> text(s.id)" 0
# constraints that narrow a scan find the same rows as the scan
for name in next value table key '<super>' '<class loader>' '<local variable>' '<class>' '[3]' '[03]' 'static kept' \
	nosuch; do
	is "SELECT count(*), sum(target % 1000) FROM refs WHERE name = '$name'" \
		"$(rows "SELECT count(*), sum(target % 1000) FROM refs WHERE name || '' = '$name'")"
done
is "SELECT count(*) FROM refs WHERE name = 'NEXT' COLLATE NOCASE" \
	"$(rows "SELECT count(*) FROM refs WHERE lower(name) = 'next'")"
for table in objects '"java.util.HashMap"'; do
	is "SELECT count(*), sum(id % 1000) FROM $table WHERE dominator IS NULL" \
		"$(rows "SELECT count(*), sum(id % 1000) FROM $table WHERE ifnull(dominator, 0) = 0")"
	# With --all, unreachable objects have none, either.
	same "no dominator, all, $table" \
		"$(all "SELECT count(*), sum(id % 1000) FROM $table WHERE dominator IS NULL")" \
		"$(all "SELECT count(*), sum(id % 1000) FROM $table WHERE ifnull(dominator, 0) = 0")"
done
is "SELECT count(*) FROM refs" "$(rows "SELECT count(*) FROM objects o, refs r WHERE r.source = o.id")"
is "SELECT count(*) FROM objects o, refs r WHERE r.target = o.id AND o.class = 'java.lang.String'" \
	"$(rows "SELECT count(*) FROM refs WHERE class_of(target) = 'java.lang.String'")"
is "SELECT count(*) FROM objects o WHERE o.reachable AND o.class = 'Sample\$Node' AND o.dominator IS NOT NULL \
		AND o.id NOT IN (SELECT id FROM dominated(o.dominator))" 0
is "SELECT count(*) FROM objects WHERE dominator = 0xfeb10758" "$(rows "SELECT count(*) FROM dominated(0xfeb10758)")"
heapdb query retained java.util.HashMap --json >retained.json
same "retained_set" "$(rows 'SELECT retained_set(id) FROM "java.util.HashMap"')" \
	"$(python3 -c 'import json; print(json.load(open("retained.json"))["rows"][0]["retained"])')"
same "groups at once" "$(rows "SELECT class, retained_set(id) FROM instances('java.util.*') GROUP BY class \
		ORDER BY class")" \
	"$(rows "SELECT DISTINCT class FROM instances('java.util.*') \
		ORDER BY class" | while read -r c; do printf '%s\t%s\n' "$c" "$(rows "SELECT retained_set(id) \
		FROM objects WHERE class = '$c'")"; done)"
is "SELECT retained_set(id) = retained(id) FROM objects WHERE id = 0xfeb10758" 1
is "SELECT hex(common_dominator(id)) FROM objects WHERE dominator = 0xfeb10758" 0xfeb10758
is "SELECT count(*) FROM roots WHERE is_local" "$(rows "SELECT count(*) FROM locals")"
is "SELECT count(*) FROM frames" "$(rows "SELECT sum(frames) FROM threads")"
same "threads" "$(heapdb sql --csv "SELECT name, id, state, daemon, priority, frames, locals, tid, virtual, \
	carrier, shallow, \"group\", parent_group FROM threads" 2>&1 | sed 1d)" \
	"$(heapdb query threads --no-stack --csv --quiet --columns \
	thread,id,state,daemon,priority,depth,locals,tid,virtual,carrier,shallow,group,parent_group | sed 1d)"
# Of all objects of a class, and their owners.
same "entries of a class" \
	"$(rows "SELECT hex(owner), no, hex(key_id), hex(value_id) FROM entries('java.util.HashMap')")" \
	"$(rows 'SELECT hex(m.id), e.no, hex(e.key_id), hex(e.value_id) FROM "java.util.HashMap" m, entries(m.id) e')"
is "SELECT count(*) FROM entries('java.util.HashMap+')" "$(rows 'SELECT sum(size) FROM "java.util.HashMap+"')"
is "SELECT count(*) FROM entries('java.util.Hash*') WHERE class_of(owner) = 'java.util.HashMap'" \
	"$(rows "SELECT count(*) FROM entries('java.util.HashMap')")"
is "SELECT count(*) FROM entries('java.lang.String')" 0
# Missing names.
is "SELECT text(1) IS NULL, shallow(NULL) IS NULL, field(0xfeb10758, 'none') IS NULL, \
	element(0xfeb10758, 3) IS NULL" "1	1	1	1"
is "SELECT count(*) FROM entries(1)" 0
is "SELECT count(*) FROM entries(NULL)" 0
is "SELECT count(*) FROM query_object(1)" 0
# Paths of 2,000 steps are cut.
is "SELECT count(*) FROM \"Sample\$Node\" WHERE path(id) LIKE '% more)'" \
	"$(rows "SELECT count(*) FROM \"Sample\$Node\" n WHERE (SELECT count(*) FROM path_to_root(n.id)) > 40")"
# The largest objects, from the dominator tree and by sorting.
same "largest" "$(rows "SELECT retained FROM objects ORDER BY retained DESC LIMIT 500")" \
	"$(rows "SELECT retained FROM objects ORDER BY retained + 0 DESC LIMIT 500")"
same "all, largest first" "$(rows "SELECT count(*), sum(retained), min(retained) FROM (SELECT retained \
		FROM objects ORDER BY retained DESC LIMIT 40000)")" \
	"$(rows "SELECT count(*), sum(retained + 0), min(retained) FROM objects")"
# Objects that retain much, from the dominator tree and by a scan.
for table in objects arrays strings "instances('java.util.*')" '"java.util.HashMap+"'; do
	for bound in 0 1 100 1000 20000.5 NULL 1000000000000; do
		same "$table that retain $bound" \
			"$(rows "SELECT id, retained FROM $table WHERE retained > $bound")" \
			"$(rows "SELECT id, retained FROM $table WHERE +retained > $bound")"
	done
done
same "what retains much, last first" \
	"$(rows "SELECT id FROM objects WHERE retained >= 5000 AND class GLOB 'java.*' ORDER BY id DESC")" \
	"$(rows "SELECT id FROM objects WHERE +retained >= 5000 AND class GLOB 'java.*' ORDER BY +id DESC")"
same "descending" "$(rows "SELECT id FROM \"java.util.HashMap\" ORDER BY id DESC")" \
	"$(rows "SELECT id FROM \"java.util.HashMap\" ORDER BY +id DESC")"
same "range" "$(rows "SELECT count(*) FROM objects WHERE id >= 0xfeb10758 AND id < 0xfeb20000")" \
	"$(rows "SELECT count(*) FROM objects WHERE +id >= 0xfeb10758 AND +id < 0xfeb20000")"

# ---- plans ----
plan()
{
	if ! rows "EXPLAIN QUERY PLAN $1" | grep -qF "$2"; then
		echo "FAILED: plan of $1: $(rows "EXPLAIN QUERY PLAN $1")"
		failed=1
	fi
}
plan "SELECT * FROM objects WHERE id = 5" "id="
plan "SELECT * FROM objects WHERE class = 'x'" "class="
plan "SELECT * FROM objects WHERE class IN ('x', 'y')" "class= (IN)"
plan "SELECT * FROM objects WHERE class GLOB 'x*'" "class GLOB"
plan "SELECT * FROM objects WHERE dominator = 5" "dominator="
plan "SELECT * FROM objects WHERE kind = 'class' AND reachable = 1" "kind=, reachable="
plan "SELECT * FROM objects WHERE retained > 5" "retained>"
plan "SELECT * FROM objects WHERE id > 5 ORDER BY id" "in order of id"
plan "SELECT * FROM objects ORDER BY retained DESC LIMIT 5" "largest first"
plan "SELECT class, count(*) FROM objects GROUP BY class" "class_totals"
plan "SELECT kind, count(*) FROM objects GROUP BY kind" "kind_totals"
plan "SELECT id FROM objects ORDER BY referrers DESC LIMIT 5" "most referrers first"
same "plans without numbers" \
	"$(heapdb sql --format jsonl "EXPLAIN QUERY PLAN SELECT * FROM objects WHERE dominator = 5")" \
	'{"id":2,"parent":0,"notused":0,"detail":"SCAN objects (dominator=)"}'
plan "SELECT * FROM refs WHERE target = 5" "by key"

# ---- read-only ----
for s in "DELETE FROM objects" "INSERT INTO objects VALUES (1)" "CREATE TABLE t(a)" "DROP TABLE objects" \
	"ATTACH 'x.db' AS x" "PRAGMA writable_schema = 1" "VACUUM INTO 'x.db'" "BEGIN;" "CREATE VIEW v AS SELECT 1" \
	"CREATE TEMP TABLE t(a)" "SELECT load_extension('x.so')" "SELECT hex(fts3_tokenizer('simple'))" \
	"SELECT fts5_source_id()" "REINDEX objects" "PRAGMA temp_store = 2" \
	"CREATE VIRTUAL TABLE t USING objects"; do
	refused "$s" 2 "sql:"
done
[ -z "$(find . -name 'x.*')" ] || { echo "FAILED: a file was written"; failed=1; }
refused "SELECT * FROM HashMap" 2 'did you mean the class "java.util.HashMap"'
refused "SELECT * FROM instances('no.such')" 2 "no class matches no.such"
refused "SELECT * FROM entries('no.such.*')" 2 "no class matches no.such.*"
refused "SELECT text('0xzz')" 2 "expected an ID like 0x12c4"
refused "SELECT zeroblob(2000000000)" 3 "too big"
refused "SELECT $(yes '1+' | head -n 10000 | tr -d '\n')1" 2 "maximum depth"
refused "SELECT 1 $(yes 'UNION SELECT 1' | head -n 600 | tr '\n' ' ')" 2 "too many terms"

# ---- endless statements ----
start=$(date +%s%N)
got=0
heapdb sql --timeout 1 "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) \
		FROM c" 2>err || got=$?
same "exit of --timeout" "$got $(cat err)" "4 heapdb: sql: stopped after 1 seconds (--timeout)"
got=0
heapdb sql --timeout 1 "SELECT count(*) FROM objects a, objects b, objects c" 2>err || got=$?
same "exit of --timeout" "$got" 4
[ $((($(date +%s%N) - start) / 1000000)) -lt 8000 ] || { echo "FAILED: --timeout takes long"; failed=1; }
same "Ctrl-C" "$(python3 - <<'END'
import signal, subprocess, time
# A shell's background jobs ignore SIGINT; this one must not.
p = subprocess.Popen(["heapdb", "sql", "SELECT count(*) FROM objects a, objects b, objects c"],
                     stderr=subprocess.PIPE, text=True,
                     preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
time.sleep(1)
start = time.time()
p.send_signal(signal.SIGINT)
code = p.wait(30)
print(code, p.stderr.read().strip(), "soon" if time.time() - start < 1 else time.time() - start)
END
)" "-2 heapdb: sql: interrupted soon"

# ---- several databases ----
cp s.heapdb t.heapdb
same "join" "$(heapdb sql before=s.heapdb after=t.heapdb "SELECT count(*) FROM before.objects a \
		JOIN after.objects b ON a.id = b.id" --format tsv | sed 1d)" 30954
same "classes" "$(heapdb sql before=s.heapdb after=t.heapdb --format tsv \
	'SELECT count(*) FROM before."java.util.HashMap" a JOIN after."java.util.HashMap" b USING (id)' | sed 1d)" \
	"$(rows 'SELECT count(*) FROM "java.util.HashMap"')"
same "functions" "$(heapdb sql before=s.heapdb after=t.heapdb --format tsv \
	"SELECT class_of(0xfeb10758), class_of(0xfeb10758, 'after')" | sed 1d)" "Sample	Sample"
same "a function with the database of the row" "$(heapdb sql before=s.heapdb after=t.heapdb --format tsv \
	"WITH d(name) AS (VALUES ('before'), ('after'), ('before')) \
	SELECT is_instance(0xfeb10838, 'java.util.AbstractMap', name) FROM d" | sed 1d | tr '\n' ' ')" "1 1 1 "
same "diff" "$(heapdb sql before=s.heapdb after=t.heapdb "SELECT count(*) FROM after.diff \
		WHERE before = 'before'" --format tsv | sed 1d)" \
	"$(heapdb diff s.heapdb t.heapdb --csv | sed 1d | wc -l)"

# ---- forms ----
same "csv" "$(heapdb sql "SELECT id, text FROM strings WHERE text = 'a,b' OR id = 0xfeaa1738" --csv)" 'id,text
0xfeaa1738,Cannot suppress a null exception.'
same "json" "$(heapdb sql 'SELECT id, shallow AS "a ""b" FROM objects WHERE id = 0xfeb10758' --json | tr -d '\n')" \
	'{"schema":2,"query":"sql","facts":{},"columns":["id","a \"b"],"in_bytes":["a \"b"],'\
'"rows":[{"id":"0xfeb10758","a \"b":96}],"row_count":1,"total_rows":1}'
same "standard input" "$(echo "SELECT 1; SELECT 2;" | heapdb sql --format tsv | tr '\n' ' ')" "1 1 2 2 "
same "limit" "$(heapdb sql "SELECT id FROM objects" --limit 3 --format tsv | wc -l)" 4

# ---- the extension ----
so=$BUILD/heapdb.so
if [ ! -f "$so" ]; then
	echo "no $so"
	failed=1
fi
case $(ldd "$BUILD/heapdb" 2>/dev/null) in
*libasan* | *libtsan*) so= ;; # a program without the sanitizer cannot load it
esac
if [ -n "$so" ] && command -v sqlite3 >/dev/null; then
	same "sqlite3" \
		"$(sqlite3 :memory: -cmd ".load ${so%.so}" "SELECT heapdb_open('s.heapdb')" "SELECT count(*) \
		FROM objects" \
		'SELECT count(*) FROM "java.util.HashMap+"' "SELECT count(*) \
		FROM histogram('package')" | tr '\n' ' ')" \
		"s.heapdb 30954 $(rows 'SELECT count(*) FROM "java.util.HashMap+"') $(rows "SELECT count(*) \
		FROM histogram('package')") "
fi
python=
for p in python3 /usr/bin/python3; do
	[ -n "$python" ] || ! "$p" -c 'import sqlite3; sqlite3.connect(":memory:").enable_load_extension' 2>/dev/null ||
		python=$p
done
if [ -n "$so" ] && [ -n "$python" ]; then
	same "Python" "$("$python" - "$so" <<'END'
import sqlite3, sys
c = sqlite3.connect(":memory:")
c.enable_load_extension(True)
c.load_extension(sys.argv[1])
c.execute("SELECT heapdb_open('s.heapdb')")
a = sqlite3.connect(":memory:")
a.enable_load_extension(True)
a.load_extension(sys.argv[1])
a.execute("SELECT heapdb_open('s.heapdb', 'all')")
print(c.execute("SELECT count(*) FROM objects").fetchone()[0],
      a.execute("SELECT count(*) FROM objects").fetchone()[0],
      c.execute("SELECT text(field(id, 'name')) FROM \"java.lang.Thread\" LIMIT 1").fetchone()[0],
      c.execute("SELECT retained_set(id) = ? FROM \"java.lang.String\"", (1,)).fetchone()[0])
# the catalogue: tables without arguments, readable, with a comment; a user's file stays unchanged
listed = dict(c.execute("SELECT name, sql FROM sqlite_master"))
for name in listed:
    c.execute(f"SELECT * FROM \"{name}\" LIMIT 1") if name not in ("query_diff", "query_records") else None
print(len(listed) > 40, "All objects" in listed["objects"], "fields" in listed)
# a second database with a name, a dump instead of its database, and refused arguments
c.execute("SELECT heapdb_open('s.hprof', 'later')")
print(c.execute("SELECT count(*) FROM later.objects").fetchone()[0],
      c.execute("SELECT count(*) FROM diff WHERE before = 'later'").fetchone()[0])
for args in ("'s.heapdb'", "'s.heapdb', 'later'", "'s.heapdb', 'b', 'c'", "'new.hprof', 'n'", "NULL"):
    try:
        c.execute(f"SELECT heapdb_open({args})")
        print("answered", args)
    except sqlite3.OperationalError as error:
        if args.startswith("'new") and "heapdb import 'new.hprof'" not in str(error):
            print(error)
c.close()
own = sqlite3.connect("own.db")
own.execute("CREATE TABLE mine(a)")
own.execute("CREATE TABLE refs(a)")
own.enable_load_extension(True)
own.load_extension(sys.argv[1])
own.execute("SELECT heapdb_open('s.heapdb')")
print([r[0] for r in own.execute("SELECT name FROM main.sqlite_master")],
      own.execute("SELECT count(*) > 40 FROM temp.sqlite_master").fetchone()[0])
own.close()
END
)" "30954 31512 main 0
True True False
30954 0
['mine', 'refs'] 1"
fi
# A statement and its database can be given in either order.
same "the statement before the file" "$(heapdb sql 'select 41 + 1 as n' "$HEAPDB" --csv)" "$(printf 'n\n42')"
same "the statement after the file" "$(heapdb sql "$HEAPDB" 'select 41 + 1 as n' --csv)" "$(printf 'n\n42')"
# Strings that are not UTF-8, and strings that a spreadsheet would calculate; numbers are not changed.
csv "select cast(x'9b31ff' as text)" "$(printf '"\357\277\2751\357\277\275"')"
is "select cast(x'9b31ff' as text)" "$(printf '\357\277\2751\357\277\275')"
csv "select '=1+2', '+4 MiB', '-', '@x', '=\"\"', 'a=b', -5, '-5', '+4.5'" \
	"'=1+2,'+4 MiB,'-,'@x,\"'=\"\"\"\"\",a=b,-5,-5,+4.5"
is "select '=1+2', -5" "'=1+2	-5"
exit $failed
