#!/bin/sh
# bench/peers.sh - heapdb beside other readers of HPROF, on the same files in one run.
#
#   peers.sh [--max N] [--save] [--keep] [DUMP...]
#
# Without a DUMP: generated ones, service of 1M and random and service of --max objects.
# Eclipse MAT: set MAT_HOME to its folder (with ParseHeapDump.sh); MAT_XMX is its heap, 4g if not
# set. hprof-slurp is taken from PATH. What is missing is named and left out.
# Compared are: with MAT, opening a dump up to the dominator tree (heapdb: import and the first
# `query top`); with hprof-slurp, a class histogram of all objects, shallow
# sizes (heapdb: import and `query histogram --shallow`).
set -eu

# shellcheck source=bench/common.sh
. "$(dirname "$0")/common.sh"

MAT_XMX=${MAT_XMX:-4g}
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

mat=
if [ -n "${MAT_HOME:-}" ]; then
	mat=$MAT_HOME/ParseHeapDump.sh
	[ -f "$mat" ] || die "MAT_HOME is $MAT_HOME, but there is no ParseHeapDump.sh in it"
fi
slurp=$(command -v hprof-slurp || true)

printf '%s\t' dump MB heapdb 'wall s' 'peak RSS MB' 'peak anon MB' 'files MB' >"$tmp/rows"
echo 'against heapdb' >>"$tmp/rows"

# row TOOL TIME REFERENCE FILES MEASURE...: one line, memory as the most of the measures.
row()
{
	tool=$1
	time=$2
	reference=$3
	files=$4
	shift 4
	resident=0
	anonymous=0
	for part; do
		resident=$(calc "$resident > $(figure "$part" 4) ? $resident : $(figure "$part" 4)" %.0f)
		anonymous=$(calc "$anonymous > $(figure "$part" 5) ? $anonymous : $(figure "$part" 5)" %.0f)
	done
	printf '%s\t' "$name" "$(calc "$bytes / 1e6" %.0f)" "$tool" "$(calc "$time")" \
		"$(calc "$resident / 1024" %.0f)" "$(calc "$anonymous / 1024" %.0f)" \
		"$(calc "$files / 1e6" %.0f)" >>"$tmp/rows"
	calc "$time / $reference" '%.1f\n' >>"$tmp/rows"
}

# MAT writes its index files beside the dump: give it a folder of its own.
run_mat()
{
	folder=$BENCH_DIR/mat.$$
	mkdir -p "$folder"
	ln -s "$dump" "$folder/dump.hprof"
	rc=0
	measure mat sh "$mat" "$folder/dump.hprof" -vmargs "-Xmx$MAT_XMX" || rc=$?
	files=$(find "$folder" -type f -exec stat -c %s {} + | awk '{ n += $1 } END { print n + 0 }')
	rm -rf "$folder"
	if [ $rc -eq 0 ]; then
		row "Eclipse MAT -Xmx$MAT_XMX" "$(figure mat 1)" "$graph" "$files" mat
	else
		say "Eclipse MAT failed on $name (exit $rc)"
	fi
}

compare()
{
	db=$BENCH_DIR/peer.$$.heapdb
	made "$db"
	bytes=$(file_size "$dump")
	say "comparing on $name"
	warm "$dump"
	# shellcheck disable=SC2086
	measure import "$heapdb" import "$dump" -o "$db" --force --quiet $BENCH_OPTIONS || return 0
	# shellcheck disable=SC2086
	measure histogram "$heapdb" query histogram --shallow --quiet --db "$db" $BENCH_OPTIONS || return 0
	histogram=$(calc "$(figure import 1) + $(figure histogram 1)" %.4f)
	# shellcheck disable=SC2086
	measure import "$heapdb" import "$dump" -o "$db" --force --quiet $BENCH_OPTIONS || return 0
	# shellcheck disable=SC2086
	measure top "$heapdb" query top --quiet --db "$db" $BENCH_OPTIONS || return 0
	graph=$(calc "$(figure import 1) + $(figure top 1)" %.4f)
	row "heapdb: import, dominators" "$graph" "$graph" "$(file_size "$db")" import top
	if [ -n "$mat" ]; then
		warm "$dump"
		run_mat
	fi
	row "heapdb: import, histogram" "$histogram" "$histogram" "$(file_size "$db")" import histogram
	if [ -n "$slurp" ]; then
		warm "$dump"
		# Before 0.10 the file was an option.
		old=$("$slurp" --help | grep -c -- '^ *-i, ' || true)
		# shellcheck disable=SC2046
		if measure slurp "$slurp" $([ "$old" -eq 0 ] || echo -i) "$dump"; then
			row hprof-slurp "$(figure slurp 1)" "$histogram" 0 slurp
		fi
	fi
	rm -f "$db" "$db-lock"
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
	for what in "service 1000000" "service $max" "random $max"; do
		[ "$what" != "service 1000000" ] || [ "$max" -gt 1000000 ] || continue
		# shellcheck disable=SC2086
		generate $what
		compare
		forget "$dump"
	done
fi

{
	machine
	echo
	table "$tmp/rows"
	echo "Page cache warm. Ratios are against the line of heapdb above; more than 1: slower."
	[ -n "$mat" ] || echo "Eclipse MAT was not measured: MAT_HOME is not set."
	[ -n "$slurp" ] || echo "hprof-slurp was not measured: it is not on PATH (cargo install hprof-slurp)."
} >"$tmp/report"
cat "$tmp/report"
[ -z "$save" ] || save_section "Peers" "$tmp/report"
