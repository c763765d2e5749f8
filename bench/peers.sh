#!/bin/sh
# bench/peers.sh - compares heapdb with other HPROF readers on the same files in one run.
#
#   peers.sh [--max N] [--save] [--keep] [DUMP...]
#
# Default for DUMP: a generated dump (random, --max objects) and the heap of bench/java's orders (JDK 17). Each peer is
# a command to which the dump is appended. Missing peers are listed and skipped:
#
#   MAT             opens the dump up to the dominator tree; or MAT_HOME, Eclipse MAT's folder (with
#                   ParseHeapDump.sh), with a heap of MAT_XMX (4g)
#   SHARK           computes the whole dominator tree by Shark
#   NETBEANS        computes retained sizes by the heap library of NetBeans and VisualVM
#   HPROF_ANALYZER  hprof-analyzer, if not set the one on PATH
#   HPROF_SLURP     hprof-slurp, if not set the one on PATH
#
# All peers except hprof-slurp open a dump and compute dominators and retained sizes (heapdb: import and the first
# `query top`). hprof-slurp computes a class histogram of all objects with shallow sizes (heapdb: import and `query
# histogram --shallow`). heapdb runs BENCH_RUNS (3) times, and the median counts; a peer runs once, for at most
# PEER_SECONDS (600).
set -eu

# shellcheck source=bench/common.sh
. "$(dirname "$0")/common.sh"

MAT_XMX=${MAT_XMX:-4g}
BENCH_RUNS=${BENCH_RUNS:-3}
PEER_SECONDS=${PEER_SECONDS:-600}
while [ $# -gt 0 ]; do
	case $1 in
	--max)
		BENCH_MAX=${2:?}
		shift
		;;
	--save) save=yes ;;
	--keep) keep=yes ;;
	-*) die "usage: peers.sh [--max N] [--save] [--keep] [DUMP...]" ;;
	*) break ;;
	esac
	shift
done
prepare
# The load of the machine, if /proc is available.
load_now() {
	cut -d ' ' -f 1-3 /proc/loadavg 2>/dev/null || echo unknown
}
load=$(load_now)

mat=${MAT:-}
mat_end=
if [ -z "$mat" ] && [ -n "${MAT_HOME:-}" ]; then
	[ -f "$MAT_HOME/ParseHeapDump.sh" ] ||
		die "MAT_HOME is $MAT_HOME, but there is no ParseHeapDump.sh in it"
	mat="sh $MAT_HOME/ParseHeapDump.sh"
	mat_end="-vmargs -Xmx$MAT_XMX"
fi
slurp=${HPROF_SLURP:-$(command -v hprof-slurp || true)}
analyzer=${HPROF_ANALYZER:-$(command -v hprof-analyzer || true)}
# Before version 0.10 of hprof-slurp the file was an option.
# shellcheck disable=SC2086
if [ -n "$slurp" ] && $slurp --help 2>/dev/null | grep -q -- '^ *-i, '; then
	slurp="$slurp -i"
fi

printf '%s\t' dump MB what 'wall s' 'CPU s' 'peak RSS MB' 'peak anon MB' 'files MB' 'wall x' 'CPU x' \
	'RSS x' >"$tmp/rows"
echo 'anon x' >>"$tmp/rows"

# ratio MEASURE REFERENCE COLUMN
ratio()
{
	calc "$(figure "$2" "$3") > 0 ? $(figure "$1" "$3") / $(figure "$2" "$3") : 0" %.1f
}

# cpu MEASURE: user and system seconds
cpu()
{
	calc "$(figure "$1" 2) + $(figure "$1" 3)"
}

# row WHAT MEASURE REFERENCE FILES: one line of the table.
row()
{
	{
		printf '%s\t' "$name" "$(calc "$bytes / 1e6" %.0f)" "$1" \
			"$(calc "$(figure "$2" 1)")" "$(cpu "$2")" \
			"$(calc "$(figure "$2" 4) / 1024" %.0f)" \
			"$(calc "$(figure "$2" 5) / 1024" %.0f)" "$(calc "$4 / 1e6" %.0f)" \
			"$(ratio "$2" "$3" 1)" "$(calc "$(cpu "$2") / ($(cpu "$3") + 1e-9)" %.1f)" \
			"$(ratio "$2" "$3" 4)"
		ratio "$2" "$3" 5
		echo
	} >>"$tmp/rows"
}

# A peer that was stopped: CPU time and resident memory are unknown, and the wall time is a lower bound.
cut_row()
{
	{
		printf '%s\t' "$name" "$(calc "$bytes / 1e6" %.0f)" "$1" \
			"$(calc "$(figure "$2" 1)")" - - "$(calc "$(figure "$2" 5) / 1024" %.0f)" \
			"$(calc "$4 / 1e6" %.0f)" "> $(ratio "$2" "$3" 1)" - -
		echo -
	} >>"$tmp/rows"
}

# peer NAME REFERENCE COMMAND [END]: each peer gets its own directory, because many write files next to the dump.
peer()
{
	[ -n "$3" ] || return 0
	folder=$BENCH_DIR/peer.$$
	mkdir -p "$folder"
	ln -s "$dump" "$folder/dump.hprof"
	warm "$dump"
	rc=0
	# shellcheck disable=SC2086
	(cd "$folder" && measure peer timeout "$PEER_SECONDS" $3 "$folder/dump.hprof" ${4:-}) || rc=$?
	files=$(find "$folder" -type f -exec stat -c %s {} + | awk '{ n += $1 } END { print n + 0 }')
	rm -rf "$folder"
	case $rc in
	0) row "$1" peer "$2" "$files" ;;
	124) cut_row "$1: not done in $PEER_SECONDS s" peer "$2" "$files" ;;
	*) row "$1: failed (exit $rc)" peer "$2" "$files" ;;
	esac
}

# ours NAME QUERY...: import and a first query, as one measurement.
ours()
{
	what=$1
	shift
	# shellcheck disable=SC2086,SC2016
	measure "$what" -n "$BENCH_RUNS" sh -c '
		heapdb=$1 dump=$2 db=$3 options=$4
		shift 4
		"$heapdb" import "$dump" -o "$db" --force --quiet $options &&
			"$heapdb" query "$@" --quiet --db "$db" $options
		' sh "$heapdb" "$dump" "$db" "$BENCH_OPTIONS" "$@"
}

compare()
{
	db=$BENCH_DIR/peer.$$.heapdb
	made "$db"
	bytes=$(file_size "$dump")
	say "comparing on $name"
	warm "$dump"
	ours histogram histogram --shallow || return 0
	small=$(file_size "$db")
	ours graph top || return 0
	row "heapdb: import, dominators" graph graph "$(file_size "$db")"
	peer "Eclipse MAT" graph "$mat" "$mat_end"
	peer "Shark" graph "${SHARK:-}"
	peer "NetBeans" graph "${NETBEANS:-}"
	peer "hprof-analyzer" graph "$analyzer"
	row "heapdb: import, histogram" histogram histogram "$small"
	peer "hprof-slurp" histogram "$slurp"
	rm -f "$db" "$db-lock"
}

missing()
{
	[ -n "$2" ] || echo "$1 was not measured: $3."
}

if [ $# -gt 0 ]; then
	for dump; do
		[ -r "$dump" ] || die "$dump cannot be read"
		dump=$(realpath "$dump")
		name=$(basename "$dump" .hprof)
		compare
	done
else
	max=$(plain "$BENCH_MAX")
	generate random "$max"
	compare
	forget "$dump"
	orders
	compare
	forget "$dump"
fi

{
	machine
	echo
	table "$tmp/rows"
	echo "Page cache warm. x: times heapdb's figure in the line above that begins with it; more than 1:" \
		"slower, more. RSS is resident memory with mapped files, anon anonymous memory, of each the peak."
	echo "Load when the run began: $load; at its end: $(load_now)."
	missing "Eclipse MAT" "$mat" "neither MAT nor MAT_HOME is set"
	missing Shark "${SHARK:-}" "SHARK is not set"
	missing NetBeans "${NETBEANS:-}" "NETBEANS is not set"
	missing hprof-analyzer "$analyzer" "it is not on PATH (cargo install hprof-analyzer)"
	missing hprof-slurp "$slurp" "it is not on PATH (cargo install hprof-slurp)"
} >"$tmp/report"
cat "$tmp/report"
[ -z "$save" ] || save_section "Peers" "$tmp/report"
