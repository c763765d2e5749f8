#!/bin/sh
# bench/sql_peers.sh - runs the same SQL in heapdb, in SQLite on plain tables with the same rows, and in DuckDB on
# Parquet files of them, and the same questions in Eclipse MAT's OQL. Prints the median CPU seconds (user + sys) of
# --runs.
#
#   sql_peers.sh [--runs N] [--save] [DUMP]
#
# DUMP is the dump of bench/java's `orders` (java/make.sh orders). By default it is created, which needs JAVA_HOME. The
# tables of all databases are built before. sqlite3 is Debian's; its tables are filled from heapdb's rows and have the
# indexes that the statements need. DUCKDB is a Python with the module duckdb (default: python3); without the module
# that column is empty. MAT_OQL is a command that runs a statement with existing index files (arguments: dump and
# statement); MAT_QUERY runs a registered query such as "histogram". Without them MAT's columns are empty. Both print
# rows to standard output.
set -eu

# shellcheck source=bench/common.sh
. "$(dirname "$0")/common.sh"

runs=3
while [ $# -gt 0 ]; do
	case $1 in
	--runs)
		runs=${2:?}
		shift
		;;
	--save) save=yes ;;
	-*) die "usage: sql_peers.sh [--runs N] [--save] [DUMP]" ;;
	*) break ;;
	esac
	shift
done
prepare
dump=${1:-}
if [ -z "$dump" ]; then
	dump=$BENCH_DIR/orders.hprof
	made "$dump"
	sh "$root/bench/java/make.sh" orders "$dump" >&2
fi
dump=$(cd "$(dirname "$dump")" && pwd)/$(basename "$dump")
db=$tmp/orders.heapdb
plain=$tmp/plain.db
"$heapdb" import "$dump" -o "$db" --quiet >/dev/null
"$heapdb" query histogram --db "$db" --quiet >/dev/null
# shellcheck disable=SC2016
object=$("$heapdb" sql "$db" 'SELECT hex(min(id)) FROM "Orders$Order"' --csv | tail -n 1)
"$heapdb" sql "$db" "SELECT count(*) FROM path_to_root($object), referrers($object)" --quiet >/dev/null
number=$((object))

# ---- plain tables ----

# plain_table NAME COLUMNS STATEMENT
plain_table()
{
	say "table $1"
	"$heapdb" sql "$db" "$3" --format tsv --limit all --quiet | sed 1d >"$tmp/rows.tsv"
	! command -v sqlite3 >/dev/null ||
		sqlite3 "$plain" "CREATE TABLE \"$1\"($2)" ".mode tabs" ".import '$tmp/rows.tsv' \"$1\""
	[ -z "$duck" ] || "$heapdb" export --db "$db" "$3" --format parquet -o "$tmp/$1.parquet" --quiet >/dev/null
	rm -f "$tmp/rows.tsv"
}
duck=${DUCKDB:-python3}
"$duck" -c "import duckdb" 2>/dev/null || duck=
plain_table objects "id INTEGER, class TEXT, kind TEXT, shallow INTEGER, retained INTEGER, dominator INTEGER" \
	"SELECT id + 0 AS id, class, kind, shallow, retained, nullif(dominator + 0, 0) AS dominator FROM objects"
# shellcheck disable=SC2016
plain_table 'Orders$Order' "id INTEGER, placed INTEGER, total INTEGER, tax REAL, retained INTEGER" \
	'SELECT id + 0 AS id, placed, total + 0 AS total, tax, retained FROM "Orders$Order"'
plain_table refs "source INTEGER, target INTEGER" "SELECT source + 0 AS source, target + 0 AS target FROM refs"
plain_table strings "id INTEGER, text TEXT" "SELECT id + 0 AS id, text FROM strings"
[ ! -f "$plain" ] ||
	sqlite3 "$plain" "UPDATE objects SET dominator = NULL WHERE dominator = ''" \
		"CREATE INDEX o ON objects(id)" "CREATE INDEX t ON refs(target)"
cat >"$tmp/duck.py" <<'END'
import glob, os, sys, duckdb
con = duckdb.connect()
for path in glob.glob(sys.argv[1] + "/*.parquet"):
    con.execute(f"""CREATE VIEW "{os.path.basename(path)[:-8]}" AS SELECT * FROM '{path}'""")
print(con.execute(sys.argv[2]).fetchall())
END

# ---- questions ----

# seconds NAME COMMAND...: the median of user + sys; "-" if it fails.
seconds()
{
	name=$1
	shift
	: >"$tmp/$name.all"
	for _ in $(seq "$runs"); do
		measure "$name" "$@" || {
			echo -
			return
		}
		echo "$(figure "$name" 2) $(figure "$name" 3)" | awk '{ printf "%.3f\n", $1 + $2 }' >>"$tmp/$name.all"
	done
	sort -n "$tmp/$name.all" | sed -n "$(((runs + 1) / 2))p"
}

printf 'question\theapdb sql\tSQLite, plain table\tDuckDB, Parquet\tMAT\n' >"$tmp/table"
# ask NAME SQL PLAIN_SQL MAT_STATEMENT: "" if it cannot be expressed.
ask()
{
	say "$1"
	ours=$(seconds ours "$heapdb" sql "$db" "$2" --quiet --format tsv)
	theirs=
	parquet=
	mat=
	if [ -n "$3" ] && [ -n "$duck" ]; then
		parquet=$(seconds duck "$duck" "$tmp/duck.py" "$tmp" "$3")
	fi
	if [ -n "$3" ] && [ -f "$plain" ]; then
		theirs=$(seconds theirs sqlite3 "$plain" "$3")
	fi
	# A command with its arguments.
	# shellcheck disable=SC2086
	case $4 in
	'') ;;
	histogram) [ -z "${MAT_QUERY:-}" ] || mat=$(runs=1 && seconds mat $MAT_QUERY "$dump" "$4") ;;
	*) [ -z "${MAT_OQL:-}" ] || mat=$(runs=1 && seconds mat $MAT_OQL "$dump" "$4") ;;
	esac
	printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$ours" "$theirs" "$parquet" "$mat" >>"$tmp/table"
}

sums='SELECT class, count(*), sum(shallow), sum(retained) FROM objects GROUP BY class'
# MAT builds its index first, so that no query includes that time.
[ -z "${MAT_OQL:-}" ] || $MAT_OQL "$dump" "SELECT * FROM OBJECTS $object" >/dev/null 2>&1 || true
ask "sums by class" "$sums" "$sums" histogram
# shellcheck disable=SC2016
filter='SELECT count(*), sum(total), avg(tax) FROM "Orders$Order" WHERE placed > 1700000200000'
# shellcheck disable=SC2016
ask "a class: 3 fields, a filter" "$filter" "$filter" \
	'SELECT o.total.value, o.tax FROM Orders$Order o WHERE o.placed > 1700809000000L'
# shellcheck disable=SC2016
ask "retained_set in 20 groups" 'SELECT id / 8 % 20, retained_set(id) FROM "Orders$Order" GROUP BY 1' "" ""
# shellcheck disable=SC2016
ask "retained set of a class" 'SELECT retained_set(id) FROM "Orders$Order"' "" \
	'SELECT AS RETAINED SET * FROM Orders$Order'
ask "an object by its id" "SELECT * FROM objects WHERE id = $object" \
	"SELECT * FROM objects WHERE id = $number" "SELECT * FROM OBJECTS $object"
ask "referrers" "SELECT * FROM referrers($object)" "SELECT source FROM refs WHERE target = $number" \
	"SELECT * FROM OBJECTS ( SELECT OBJECTS inbounds(o) FROM OBJECTS $object o )"
ask "path to a root" "SELECT * FROM path_to_root($object)" "" ""

# the same words for all: "" for MAT
both()
{
	ask "$1" "$2" "$2" ""
}
both "kinds of objects" "SELECT kind, count(*) FROM objects GROUP BY kind"
# shellcheck disable=SC2016
both "how many of a class" 'SELECT count(*) FROM "Orders$Order"'
both "the top level of the dominator tree by class" \
	"SELECT class, count(*) FROM objects WHERE dominator IS NULL GROUP BY class"
both "the ten largest objects" "SELECT id, class, retained FROM objects ORDER BY retained DESC LIMIT 10"
# shellcheck disable=SC2016
both "the ten largest of a class" 'SELECT id, retained FROM "Orders$Order" ORDER BY retained DESC LIMIT 10'
both "texts by how often they occur" "SELECT text, count(*) FROM strings GROUP BY text ORDER BY 2 DESC LIMIT 10"
targets="SELECT target, count(*) FROM refs GROUP BY target ORDER BY 2 DESC LIMIT 10"
both "targets of references, grouped" "$targets"
ask "objects with most referrers: the column" \
	"SELECT id, referrers FROM objects ORDER BY referrers DESC LIMIT 10" "$targets" ""
# shellcheck disable=SC2016
both "a class joined with what a field refers to" \
	'SELECT count(*), sum(t.shallow) FROM "Orders$Order" o JOIN objects t ON t.id = o.total'
both "strings with a text in them" "SELECT count(*) FROM strings WHERE text LIKE '%order 1%'"
both "classes of objects that hold much" "SELECT class, count(*) FROM objects WHERE retained > 1000 GROUP BY class"

{
	machine
	echo
	objects=$("$heapdb" sql "$db" "SELECT count(*) FROM objects" --csv | tail -n 1)
	echo "$(basename "$dump"), $objects reachable objects;" \
		"seconds of user + sys. The plain tables were written before:" \
		"$([ ! -f "$plain" ] || echo $(($(file_size "$plain") / 1048576)) MB), the heap database" \
		"$(($(file_size "$db") / 1048576)) MB. MAT's times are those of a process that reads its index files."
	echo
	table "$tmp/table"
} >"$tmp/section"
cat "$tmp/section"
[ -z "$save" ] || save_section "SQL" "$tmp/section"
