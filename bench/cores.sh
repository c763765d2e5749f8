#!/bin/sh
# bench/cores.sh - estimates the speedup on more cores than the machine has.
#
#   cores.sh DUMP... [--save]
#
# Imports each DUMP and runs `top` and `overview` with 1 to 64 threads and --timings. A stage takes at least as long as
# its critical path, and at least its CPU time divided by the number of threads. The table shows the sum over all stages
# of the larger of the two, which is the minimum time on that many cores if memory bandwidth grows with them. It also
# shows the sum of the critical paths and the stage with the longest one. Fails if answers differ.
set -eu

# shellcheck source=bench/common.sh
. "$(dirname "$0")/common.sh"

case " $* " in *" --save "*) save=yes ;; esac
prepare
db=$BENCH_DIR/cores.$$.heapdb
made "$db"

# stages DUMP THREADS: runs all three steps and prints the hash of the database and the answers.
stages()
{
	rm -f "$db" "$db-lock"
	"$heapdb" import "$1" -o "$db" --quiet --threads "$2" --timings >/dev/null 2>"$tmp/import"
	"$heapdb" top --db "$db" --json --quiet --threads "$2" --timings >"$tmp/answer" 2>"$tmp/top"
	"$heapdb" overview --db "$db" --json --quiet --threads "$2" --timings >>"$tmp/answer" 2>"$tmp/overview"
	cksum <"$tmp/answer"
}

for dump in "$@"; do
	[ "$dump" != --save ] || continue
	for threads in 1 2 4 8 16 64; do
		now=$(stages "$dump" "$threads")
		[ $threads = 1 ] && first=$now
		[ "$now" = "$first" ] || die "$dump: with $threads threads the answers differ"
		for step in import top overview; do
			printf '%s\t%s\t%s\t' "$(basename "$dump" .hprof)" $step $threads >>"$tmp/rows"
			awk -F '\t' -v t=$threads 'NF == 6 {
				cpu += $3; path += $6; least += $6 > $3 / t ? $6 : $3 / t
				if ($6 > most) { most = $6; stage = $1 " " $6 }
			} END { printf "%.2f\t%.2f\t%.2f\t%s\n", cpu, path, least, stage }' \
				"$tmp/$step" >>"$tmp/rows"
		done
	done
done
{
	machine
	echo
	printf 'dump\tstep\tthreads\tCPU s\tcritical path s\tleast s\tlongest critical path\n' >"$tmp/all"
	cat "$tmp/rows" >>"$tmp/all"
	table "$tmp/all"
	echo "Least: the sum over stages of critical path, or processor time divided by threads if that is longer."
} >"$tmp/report"
cat "$tmp/report"
[ -z "$save" ] || save_section "More cores" "$tmp/report"
