#!/bin/sh
# bench/run.sh - imports generated dumps, builds their dominator trees, runs queries, and prints time and memory. `make
# bench` runs it.
#
#   run.sh [--max N] [--shapes "A B"] [--save] [--keep]
#
# --max (or BENCH_MAX) is the number of objects of the largest dump (default 10M; 100M needs about 15 GB of disk).
# --save writes the tables to bench/RESULTS.md; --keep keeps the dumps in BENCH_DIR.
set -eu

# shellcheck source=bench/common.sh
. "$(dirname "$0")/common.sh"

shapes="random tree list ladder ring star tail"
runs=5
while [ $# -gt 0 ]; do
	case $1 in
	--max)
		BENCH_MAX=${2:?}
		shift
		;;
	--shapes)
		shapes=${2:?}
		shift
		;;
	--save) save=yes ;;
	--keep) keep=yes ;;
	*) die "usage: run.sh [--max N] [--shapes \"A B\"] [--save] [--keep]" ;;
	esac
	shift
done
prepare
max=$(plain "$BENCH_MAX")

printf '%s\t' dump objects references MB 'import s' MB/s 'dominators s' 'ns/object' 'peak RSS MB' \
	'peak anon MB' 'database B/object' >"$tmp/imports"
echo '% of dump' >>"$tmp/imports"
printf '%s\t' 'query, ms' retained object path dominators >"$tmp/queries"
echo histogram >>"$tmp/queries"
printf '%s\t' dump 'import ns/object' 'dominators ns/object' 'both ns/object' >"$tmp/linear"
echo 'against the smallest' >>"$tmp/linear"
: >"$tmp/notes"
printf '%s\t' dump stage seconds >"$tmp/phases"
echo 'ns/object' >>"$tmp/phases"

# ask LABEL OPTION...: runs the five queries with a warm or cold cache.
ask()
{
	label=$1
	shift
	row=$label
	for query in "retained $id" "object $id" "path $id" "dominators $id" histogram; do
		# shellcheck disable=SC2086
		measure query -n $runs "$@" "$heapdb" query $query --db "$db" --limit 25 --quiet || true
		row="$row	$(calc "1000 * $(figure query 1)" %.1f)"
	done
	echo "$row" >>"$tmp/queries"
}

# Peak memory of both steps in MB; $1 as for figure.
most()
{
	cut -f "$1" "$tmp/import" "$tmp/top" | sort -n | tail -n 1 | awk '{ printf "%.0f", $1 / 1024 }'
}

# One dump: $dump, $name.
bench()
{
	db=$BENCH_DIR/$name.heapdb
	made "$db"
	rm -f "$db" "$db-lock"
	warm "$dump"
	# shellcheck disable=SC2086
	measure import "$heapdb" import "$dump" -o "$db" --force --json --quiet --timings \
		$BENCH_OPTIONS || return 0
	# shellcheck disable=SC2086
	measure top "$heapdb" query top --limit 3 --csv --quiet --timings --db "$db" \
		$BENCH_OPTIONS || return 0
	objects=$(fact "$tmp/import.out" objects)
	references=$(fact "$tmp/import.out" references)
	awk -F '\t' -v name="$name" -v objects="$objects" \
		'NF >= 3 { printf "%s\t%s\t%.3f\t%.1f\n", name, $1, $2, $2 * 1e9 / objects }' \
		"$tmp/import.err" "$tmp/top.err" >>"$tmp/phases"
	bytes=$(file_size "$dump")
	db_bytes=$(file_size "$db")
	import=$(figure import 1)
	top=$(figure top 1)
	both=$(calc "($import + $top) * 1e9 / $objects" %.0f)
	resident=$(most 4)
	anonymous=$(most 5)
	printf '%s\t' "$name" "$objects" "$references" "$(calc "$bytes / 1e6" %.0f)" \
		"$(calc "$import")" "$(calc "$bytes / 1e6 / $import" %.0f)" "$(calc "$top")" "$both" \
		"$resident" "$anonymous" "$(calc "$db_bytes / $objects" %.1f)" >>"$tmp/imports"
	calc "100 * $db_bytes / $bytes" '%.1f\n' >>"$tmp/imports"
	case $name in
	random-*)
		smallest=${smallest:-$both}
		printf '%s\t' "$name" "$(calc "$import * 1e9 / $objects" %.0f)" \
			"$(calc "$top * 1e9 / $objects" %.0f)" "$both" >>"$tmp/linear"
		calc "$both / $smallest" '%.2f\n' >>"$tmp/linear"
		;;
	esac
	id=$(tail -n 1 "$tmp/top.out" | cut -d , -f 1)
	ask "$name, warm"
	ask "$name, cold" -e "$db" -e "$dump"
	rm -f "$db" "$db-lock"
}

# Speed of only reading the dump.
compare_xxhsum()
{
	if ! command -v xxhsum >/dev/null; then
		echo "xxhsum is not installed: no reading speed to compare with." >>"$tmp/notes"
		return
	fi
	measure xxhsum -n 3 xxhsum -H3 "$dump" || return 0
	measure import -n 3 "$heapdb" import "$dump" -o "$db" --force --quiet || return 0
	import=$(figure import 1)
	echo "$name: \`xxhsum -H3\` reads it in $(calc "$(figure xxhsum 1)") s;" \
		"import goes at $(calc "100 * $(figure xxhsum 1) / $import" %.0f) % of that speed." \
		>>"$tmp/notes"
}

for shape in $shapes; do
	case $shape in
	random) first=1000000 ;;
	*) first=$((max < 10000000 ? max : 10000000)) ;;
	esac
	[ "$first" -le "$max" ] || first=$max
	step=$first
	smallest=
	while [ "$step" -le "$max" ]; do
		generate "$shape" "$step"
		say "measuring $name"
		bench
		[ "$shape" != star ] || compare_xxhsum
		forget "$dump"
		case $shape in random) ;; *) break ;; esac
		if [ "$step" -lt "$max" ] && [ $((step * 10)) -gt "$max" ]; then
			step=$max
		else
			step=$((step * 10))
		fi
	done
done

{
	machine
	echo
	table "$tmp/imports"
	echo "Import with the dump in the page cache. \"Dominators\" is the first \`query top\`: reachability,"
	echo "dominators and retained sizes. Memory is the most of both; anonymous is what is not of files."
	echo
	echo "Import and the first \`query top\` by stage (\`--timings\`):"
	echo
	table "$tmp/phases"
	echo "Whole process, median of $runs. Cold: the dump and the database dropped from the page cache."
	echo
	table "$tmp/queries"
	echo "Linearity:"
	echo
	table "$tmp/linear"
	cat "$tmp/notes"
} >"$tmp/report"
cat "$tmp/report"
[ -z "$save" ] || save_section "Import, dominators, queries" "$tmp/report"
