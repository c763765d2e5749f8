#!/bin/sh
# gate.sh [--write] - instructions of an import, the first `top`, `leaks` and `histogram --by package`,
# counted by callgrind on one thread, against bench/gate.baseline. More than 3 % up fails, and the
# function that grew most is named. --write makes the baseline anew. On the sample, and on three real
# dumps of ../shared/dumps where they are. The baseline's first line names compiler, machine and kernel:
# the instructions of others are no measure. Exit code 77: valgrind is not here, or the baseline is of
# another machine.
# From the caller: BUILD, DUMP (the sample), CC.
set -eu
cd "$(dirname "$0")/.."
command -v valgrind > /dev/null || { echo "gate: no valgrind here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
baseline=bench/gate.baseline
machine="# $(${CC:-cc} --version | head -n 1), $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1),\
 $(nproc) cores, $(awk '/^MemTotal/ { print int($2 / 1048576 + 0.5) }' /proc/meminfo) GiB, $(uname -r)"
if [ "${1:-}" != --write ] && [ "$(head -n 1 $baseline)" != "$machine" ]; then
	echo "gate: the baseline is of another machine ($(head -n 1 $baseline)), here is $machine: make bench-baseline"
	exit 77
fi

# measure NAME STEP COMMAND...: lines "NAME STEP FUNCTION INSTRUCTIONS", of all together as "total".
measure() {
	key="$1 $2"
	shift 2
	valgrind -q --tool=callgrind --callgrind-out-file="$work/counts" "$@" --threads 1 > /dev/null || exit 1
	callgrind_annotate --auto=no --threshold=99 "$work/counts" | awk -v key="$key" '
		/^ *[0-9,]+ \(.*PROGRAM TOTALS/ { n = $1; gsub(",", "", n); print key, "total", n; next }
		/^ *[0-9,]+ \(.*:/ { n = $1; gsub(",", "", n); f = $0; sub(/ \[[^]]*\]$/, "", f); sub(/^.*:/, "", f)
			gsub(" ", "_", f); sum[f] += n }
		END { for (f in sum) if (sum[f] > 200000) print key, f, sum[f] }'
}
for name in basics_j17 basics_j25 refs_j17_all; do
	[ ! -f ../shared/dumps/$name.hprof.zst ] || zstd -dqf -o "$work/$name.hprof" ../shared/dumps/$name.hprof.zst
done
for dump in "${DUMP:?}" "$work"/*.hprof; do
	[ -f "$dump" ] || continue
	name=$(basename "$dump")
	db=$work/$name.heapdb
	measure "$name" import "$BUILD/heapdb" import "$dump" -o "$db"
	measure "$name" top "$BUILD/heapdb" query top --db "$db"
	measure "$name" leaks "$BUILD/heapdb" query leaks --db "$db"
	measure "$name" packages "$BUILD/heapdb" query histogram --by package --db "$db"
done > "$work/all" || exit 1
LC_ALL=C sort "$work/all" > "$work/now"
if [ "${1:-}" = --write ]; then
	{ echo "$machine" && cat "$work/now"; } > $baseline
	echo "gate: $(grep -c ' total ' $baseline) measures written"
	exit 0
fi
awk '
	{ key = $1 " " $2 }
	/^#/ { next }
	NR == FNR { before[key, $3] = $4; next }
	$3 == "total" { now[key] = $4; next }
	{ grown = $4 - before[key, $3]; if (grown > most[key]) { most[key] = grown; who[key] = $3 } }
	END { for (key in now) {
		if (!before[key, "total"]) { print "gate: " key ": not in the baseline"; continue }
		ratio = now[key] / before[key, "total"]
		printf "gate: %s: %d instructions, %+.1f %%\n", key, now[key], 100 * (ratio - 1)
		seen++
		if (ratio <= 1.03) continue
		bad = 1
		printf "gate: FAILED: %s: %s grew most, by %d\n", key, who[key], most[key]
	} exit bad || !seen }' $baseline "$work/now"
