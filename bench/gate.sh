#!/bin/sh
# gate.sh - compares this tree with an earlier commit, building and measuring both in the same run.
#
#   BASE=COMMIT gate.sh          default: HEAD~1, or HEAD if sources are changed
#   gate.sh --compare OLD NEW    only judges two files of measures
#
# Counts instructions of an import, the first `top`, `leaks` and `histogram --by package` on one thread, using
# callgrind. An increase of more than 3 % fails, and the function that grew most is printed. Uses the sample and, if
# they exist, three real dumps in ../shared/dumps. Then measures import and `top` of two million objects on two threads:
# minimum wall time of ROUNDS runs, alternating with BASE, and CPU time. Here an increase of more than 20 % and 20 ms
# fails, because other programs disturb the times. Times of stages are only for information. Only the program of BASE is
# stored: figures from other machines cannot be compared.
# Exit status 77: valgrind or the commit is missing (for example in a clone without history).
# Environment: BUILD, DUMP (the sample), CC, ROUNDS (7).
set -eu
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.."

# Lines "DUMP STEP FUNCTION INSTRUCTIONS", with "total" for all functions; "DUMP STEP wall|cpu MILLISECONDS", of which
# the minimum counts; and "DUMP STEP stage:NAME MILLISECONDS".
compare() {
	awk '
	function ratio(key) { return before[key] > 0 ? now[key] / before[key] : 1 }
	{ key = $1 " " $2 " " $3; value = $4 }
	NR == FNR && (!(key in before) || value < before[key]) { before[key] = value }
	NR == FNR { next }
	!(key in now) || value < now[key] { now[key] = value }
	END {
		for (key in now) {
			split(key, part, " ")
			is_time = part[3] ~ /^(wall|cpu|stage:)/
			if (is_time || part[3] == "total")
				continue
			grown = now[key] - before[key]
			step = part[1] " " part[2]
			if (grown > most[step]) { most[step] = grown; who[step] = part[3] }
		}
		for (key in now) {
			split(key, part, " ")
			step = part[1] " " part[2]
			what = part[3] == "total" ? "instructions" : part[3] ~ /^wall|^cpu/ ? "ms of " part[3] : ""
			if (!what && part[3] ~ /^stage:/ && now[key] >= 20)
				what = "ms in stage " substr(part[3], 7)
			if (!what)
				continue
			is_stage = part[3] ~ /^stage:/
			if (!(key in before) && is_stage)
				continue
			if (!(key in before)) { print "gate: " key ": not measured before"; bad = 1; continue }
			printf "gate: %s: %d %s, %+.1f %%\n", step, now[key], what, 100 * (ratio(key) - 1)
			seen++
			if (is_stage || ratio(key) <= (part[3] == "total" ? 1.03 : 1.2) ||
			    (part[3] != "total" && now[key] - before[key] < 20))
				continue
			bad = 1
			printf "gate: FAILED: %s: %s", step, what
			if (part[3] == "total") printf ": %s grew most, by %d", who[step], most[step]
			print ""
		}
		exit bad || !seen
	}' "$1" "$2" >"$1.said" && rc=0 || rc=$?
	sort "$1.said"
	rm -f "$1.said"
	return "$rc"
}
if [ "${1:-}" = --compare ]; then
	compare "$2" "$3"
	exit
fi

command -v valgrind >/dev/null || { echo "gate: no valgrind here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "${BASE:-}" ]; then
	BASE=HEAD~1
	git diff --quiet HEAD -- src tools include Makefile 2>/dev/null || BASE=HEAD
fi
commit=$(git rev-parse -q --verify "$BASE^{commit}" 2>/dev/null) ||
	{ echo "gate: no commit $BASE here to compare with"; exit 77; }
if git diff --quiet "$commit" -- src tools include Makefile; then
	echo "gate: the sources are those of $BASE: nothing to compare"
	exit 0
fi
old=$BUILD/gate/$commit
if [ ! -x "$old" ]; then
	mkdir -p "$work/base" "$BUILD/gate"
	git archive "$commit" | tar -x -C "$work/base"
	make -s -j "$(nproc)" -C "$work/base" BUILD=build CC="${CC:-cc}" build/heapdb >"$work/log" 2>&1 ||
		{ tail -n 5 "$work/log"; echo "gate: $BASE does not build"; exit 1; }
	rm -f "$BUILD/gate"/*
	cp "$work/base/build/heapdb" "$old"
fi

# count NAME STEP COMMAND...
count() {
	key="$1 $2"
	shift 2
	valgrind -q --tool=callgrind --callgrind-out-file="$work/counts" "$@" --threads 1 >/dev/null || exit 1
	callgrind_annotate --auto=no --threshold=99 "$work/counts" | awk -v key="$key" '
		/^ *[0-9,]+ \(.*PROGRAM TOTALS/ { n = $1; gsub(",", "", n); print key, "total", n; next }
		/^ *[0-9,]+ \(.*:/ { n = $1; gsub(",", "", n); f = $0; sub(/ \[[^]]*\]$/, "", f); sub(/^.*:/, "", f)
			gsub(" ", "_", f); sum[f] += n }
		END { for (f in sum) if (sum[f] > 200000) print key, f, sum[f] }'
}

# count_all PROGRAM: counts instructions for all dumps.
count_all() {
	for dump in "${DUMP:?}" "$work"/*.hprof; do
		[ -f "$dump" ] || continue
		name=$(basename "$dump" .hprof)
		db=$work/counted.heapdb
		rm -f "$db"
		count "$name" import "$1" import "$dump" -o "$db"
		count "$name" top "$1" query top --db "$db"
		count "$name" leaks "$1" query leaks --db "$db"
		count "$name" packages "$1" query histogram --by package --db "$db"
	done
}

# clock NAME STEP COMMAND...
clock() {
	key="$1 $2"
	shift 2
	"$work/peak" -o "$work/took" "$@" --threads 2 --timings >/dev/null 2>"$work/stages" || exit 1
	awk -v key="$key" '{ printf "%s wall %d\n%s cpu %d\n", key, $1 * 1000, key, ($2 + $3) * 1000 }' "$work/took"
	awk -F '\t' -v key="$key" 'NF >= 2 { gsub(" ", "_", $1)
		printf "%s stage:%s %d\n", key, $1, $2 * 1000
		if (NF > 2) printf "%s stage:%s:cpu %d\n", key, $1, $3 * 1000 }' "$work/stages"
}

# clock_all PROGRAM
clock_all() {
	db=$work/clocked.heapdb
	rm -f "$db"
	clock random-2M import "$1" import "$work/random.dump" -o "$db"
	clock random-2M top "$1" query top --db "$db"
}

for name in basics_j17 basics_j25 refs_j17_all; do
	[ ! -f ../shared/dumps/$name.hprof.zst ] || zstd -dqf -o "$work/$name.hprof" ../shared/dumps/$name.hprof.zst
done
count_all "$old" >"$work/old"
count_all "$BUILD/heapdb" >"$work/new"
${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -o "$work/peak" bench/peak.c
"$BUILD/hprofgen" random --objects 2M -o "$work/random.dump" >/dev/null
for _ in $(seq "${ROUNDS:-7}"); do
	clock_all "$old" >>"$work/old"
	clock_all "$BUILD/heapdb" >>"$work/new"
done
compare "$work/old" "$work/new"
