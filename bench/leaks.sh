#!/bin/sh
# bench/leaks.sh - leak traces from a cold start: import and `query leak-traces`, compared with Shark's analysis of the
# same dump in the same run.
#
#   leaks.sh [DUMP] [--save]
#
# Default for DUMP: the heap of screens (bench/java/make.sh screens): 8 M objects, 0.5 GB, 20 leaks. SHARK is a command
# that analyses the dump appended to it with Android's rules. If it is not set, only heapdb is measured. CPU seconds are
# user and system.
set -eu

# shellcheck source=bench/common.sh
. "$(dirname "$0")/common.sh"

given=
for word in "$@"; do
	case $word in
	--save) save=yes ;;
	*) given=$word ;;
	esac
done
prepare
if [ -n "$given" ]; then
	[ -r "$given" ] || die "$given cannot be read"
	dump=$(realpath "$given")
else
	dump=$BENCH_DIR/screens.hprof
	made "$dump"
	[ -f "$dump" ] || sh "$root/bench/java/make.sh" screens "$dump" >&2
fi
db=$BENCH_DIR/leaks.$$.heapdb
made "$db"
out=$tmp/section
rows=$tmp/rows
warm "$dump"

# row NAME FIGURES: wall and CPU seconds, MB of anonymous memory.
row()
{
	cpu=$(calc "$(figure "$2" 2) + $(figure "$2" 3)")
	printf '%s\t%s\t%s\t%s\n' "$1" "$(calc "$(figure "$2" 1)")" "$cpu" \
		"$(calc "$(figure "$2" 5) / 1024" %.0f)" >>"$rows"
}

printf 'what\twall s\tCPU s\tanonymous MB\n' >"$rows"
# shellcheck disable=SC2086
measure import "$heapdb" import "$dump" -o "$db" --force --quiet $BENCH_OPTIONS || exit 1
measure traces "$heapdb" query leak-traces --db "$db" --csv || exit 1
row "import" import
row "leak traces" traces
leaks=$(awk -F , 'NR > 1 && $1 > n { n = $1 } END { print n + 0 }' "$tmp/traces.out")
if [ -n "${SHARK:-}" ]; then
	# shellcheck disable=SC2086
	measure shark $SHARK "$dump" || exit 1
	row "Shark" shark
fi
{
	machine
	echo
	table "$rows"
	echo "$(basename "$dump" .hprof): $(calc "$(file_size "$dump") / 1000000" %.0f) MB, $leaks leaks;" \
		"load $(cut -d ' ' -f 1 /proc/loadavg)."
	if [ -n "${SHARK:-}" ]; then
		ours=$(calc "$(figure import 2) + $(figure import 3) + $(figure traces 2) + $(figure traces 3)")
		theirs=$(calc "$(figure shark 2) + $(figure shark 3)")
		wall=$(calc "$(figure shark 1) / ($(figure import 1) + $(figure traces 1))" %.0f)
		echo "heapdb takes $(calc "$theirs / $ours" %.0f) times less CPU time than Shark," \
			"$wall times less wall time."
	fi
} >"$out"
cat "$out"
if [ -n "$save" ]; then
	save_section "Leak traces" "$out"
fi
