#!/bin/sh
# bench/billion.sh - time and memory of import and first answers for a million to a billion objects.
#
#   billion.sh [--min N] [--max N] [--memory SIZE] [--save]
#
# For 1M, 10M, ... objects of `hprofgen service`, from --min (default 1M) to --max (default 1G): generates the dump,
# imports it with --memory SIZE (default 4G), runs the first `top`, then leaks, histogram, retained and path of one
# user, compares 100 retained sizes and that of the table with those known by construction, and removes everything. A
# billion objects need 44 GB for the dump and about 9 GB for the database. Prints seconds, peak anonymous memory, and
# nanoseconds per object.
# Exit status: 0 all correct; 1 a command failed or a size is wrong.
set -eu

# shellcheck source=bench/common.sh
. "$(dirname "$0")/common.sh"

BENCH_MAX=1G
count=1000000
memory=4G
while [ $# -gt 0 ]; do
	case $1 in
	--min) count=$(plain "$2") && shift ;;
	--max) BENCH_MAX=$2 && shift ;;
	--memory) memory=$2 && shift ;;
	--save) save=yes ;;
	*) die "usage: billion.sh [--min N] [--max N] [--memory SIZE] [--save]" ;;
	esac
	shift
done
prepare
most=$(plain "$BENCH_MAX")

# check ID BYTES: compares a retained size.
check()
{
	"$heapdb" retained "$1" "$db" --json --quiet >"$tmp/retained.json"
	grep -q "\"retained\":$2,.*\"exact\":true" "$tmp/retained.json" ||
		die "$name: $1 does not retain $2 bytes: $(sed -n 2p "$tmp/retained.json")"
}

row()
{
	count=$1
	name=$(short "$count")
	dump=$BENCH_DIR/service.$$.hprof
	db=$BENCH_DIR/service.$$.heapdb
	made "$dump"
	made "$db"
	say "generating $name"
	"$BUILD/hprofgen" service --objects "$count" --seed "$BENCH_SEED" --answers "$tmp/answers" -o "$dump" ||
		die "hprofgen failed"
	user=$(awk -F '\t' 'END { print $1 }' "$tmp/answers")
	say "$name: import and first answers"
	measure import "$heapdb" import "$dump" -o "$db" --force --quiet --memory "$memory"
	measure top "$heapdb" top "$db" --quiet --memory "$memory"
	measure leaks "$heapdb" leaks "$db" --quiet --memory "$memory"
	measure histogram "$heapdb" histogram "$db" --quiet
	measure retained "$heapdb" retained "$user" "$db" --quiet
	measure path "$heapdb" path "$user" "$db" --quiet
	say "$name: checking"
	awk -F '\t' 'NR == 1 || NR % 100 == 0 { print $1, $2 }' "$tmp/answers" >"$tmp/checks"
	while read -r id bytes; do
		check "$id" "$bytes"
	done <"$tmp/checks"

	anonymous=$(for step in import top leaks; do figure $step 5; done | sort -n | tail -n 1)
	{
		printf '%s\t%.1f' "$name" "$(calc "$(file_size "$dump") / 1e9" %.3f)"
		for step in import top leaks histogram retained path; do
			printf '\t%.2f' "$(figure $step 1)"
		done
		printf '\t%.0f\t%.1f\t%.0f\n' "$(calc "$anonymous / 1024" %.0f)" \
			"$(calc "$(file_size "$db") / 1e9" %.3f)" \
			"$(calc "($(figure import 1) + $(figure top 1)) * 1e9 / $count" %.0f)"
	} >>"$tmp/rows"
	rm -f "$dump" "$db" "$db-lock"
}

{
	printf 'objects\tdump GB\timport s\tfirst top s\tleaks s\thistogram s\tretained s\tpath s\t'
	printf 'anonymous MB\tdatabase GB\tns per object, import and top\n'
} >"$tmp/rows"
while [ "$count" -le "$most" ]; do
	row "$count"
	tail -n 1 "$tmp/rows" >&2
	count=$((count * 10))
done
{
	machine
	echo "with --memory $memory; the page cache holds what fits"
	echo
	table "$tmp/rows"
} >"$tmp/report"
cat "$tmp/report"
if [ -n "$save" ]; then
	save_section "To a billion objects" "$tmp/report"
fi
