#!/bin/sh
# bench/page.sh - speed of the page's server: first view, 500 random clicks, treemaps of subtrees, 20 clients at once,
# and its memory.
#
#   page.sh [--max N] [--clicks N] [--save] [--keep] [FILE...]
#
# FILE is a dump, or a heap database with its dump. All files are open at once; clicks go to the first. Default: the
# heap of bench/java's orders (needs JDK 17), three times. Derived tables and the answers of leaks and triage are built
# before. Needs Python 3. Exit status: 0 all within the budgets, otherwise 1.
set -eu

# shellcheck source=bench/common.sh
. "$(dirname "$0")/common.sh"

clicks=500
while [ $# -gt 0 ]; do
	case $1 in
	--max)
		BENCH_MAX=${2:?}
		shift
		;;
	--clicks)
		clicks=${2:?}
		shift
		;;
	--save) save=1 ;;
	--keep) keep=1 ;;
	-*) die "usage: page.sh [--max N] [--clicks N] [--save] [--keep] [FILE...]" ;;
	*) break ;;
	esac
	shift
done

prepare
if [ $# -eq 0 ]; then
	orders
	set -- "$dump"
fi
databases=
for file; do
	case $file in
	*.heapdb) db=$file ;;
	*)
		db=$tmp/$(basename "${file%.hprof}").heapdb
		# shellcheck disable=SC2086
		"$heapdb" import "$file" -o "$db" --quiet $BENCH_OPTIONS >&2
		;;
	esac
	# The database stores both answers.
	"$heapdb" query leaks --db "$db" >/dev/null
	"$heapdb" query triage --db "$db" >/dev/null
	"$heapdb" query dominators --tree 10 --db "$db" >/dev/null
	top=$("$heapdb" query top --limit 1 --csv --columns id --db "$db" | tail -n 1)
	"$heapdb" query referrers "$top" --limit 1 --db "$db" >/dev/null
	databases="$databases $db"
done
# shellcheck disable=SC2086
set -- $databases
[ $# -gt 1 ] || set -- "$1" "$1" "$1"
"$heapdb" serve "$@" --quiet >"$tmp/url" 2>"$tmp/err" &
server=$!
trap 'kill $server 2>/dev/null || true; clean_up' EXIT
until [ -s "$tmp/url" ]; do
	kill -0 "$server" 2>/dev/null || die "$(cat "$tmp/err")"
	sleep 0.05
done
code=0
python3 "$root/bench/page_clicks.py" "$(cat "$tmp/url")" "$server" "$clicks" "$BENCH_SEED" >"$tmp/table" || code=$?
cat "$tmp/table"
[ -z "$save" ] || save_section "The page" "$tmp/table"
exit "$code"
