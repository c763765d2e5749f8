# shellcheck shell=sh
# bench/common.sh - shared by all benchmarks: paths, generated dumps, measuring a command, tables, RESULTS.md.
#
# shellcheck disable=SC2034 # variables for those who source this
# Environment: BUILD (default build), BENCH_DIR ($BUILD/bench), BENCH_MAX (10M), BENCH_SEED (1), BENCH_OPTIONS (options
# for heapdb, "--threads 2 --memory 1G").

root=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$root/$BUILD ;; esac
BENCH_DIR=${BENCH_DIR:-$BUILD/bench}
BENCH_MAX=${BENCH_MAX:-10M}
BENCH_SEED=${BENCH_SEED:-1}
BENCH_OPTIONS=${BENCH_OPTIONS:-}
results=$root/bench/RESULTS.md
heapdb=$BUILD/heapdb
save=
keep=
LC_ALL=C
export LC_ALL
unset HEAPDB || true

say()
{
	echo "$*" >&2
}

die()
{
	say "$(basename "$0"): $*"
	exit 1
}

# The list of files that the run creates in BENCH_DIR and removes at its end.
made()
{
	printf '%s\n' "$1" >>"$tmp/made"
}

# Removes files created by the run. Dumps that existed before stay; with --keep, all dumps stay.
clean_up()
{
	while read -r file; do
		rm -f "$file" "$file.part" "$file-lock"
	done <"$tmp/made"
	rm -rf "$tmp"
	rmdir "$BENCH_DIR" 2>/dev/null || true
}

prepare()
{
	for program in "$heapdb" "$BUILD/hprofgen"; do
		[ -x "$program" ] || die "$program is not there: run make first"
	done
	mkdir -p "$BENCH_DIR"
	BENCH_DIR=$(cd "$BENCH_DIR" && pwd)
	tmp=$(mktemp -d)
	: >"$tmp/made"
	trap clean_up EXIT
	trap 'exit 1' HUP INT TERM
	peak=$tmp/peak
	${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -o "$peak" "$root/bench/peak.c"
}

# 10M -> 10000000
plain()
{
	echo "$1" | sed -e 's/K$/000/' -e 's/M$/000000/' -e 's/G$/000000000/'
}

# 10000000 -> 10M
short()
{
	echo "$1" | sed -e 's/000000$/M/' -e 's/000$/K/'
}

# generate SHAPE OBJECTS: generates the dump unless it exists. Sets $dump and $name.
generate()
{
	name=$1-$(short "$2")
	dump=$BENCH_DIR/$name-s$BENCH_SEED.hprof
	if [ ! -f "$dump" ]; then
		say "generating $name"
		[ -n "$keep" ] || made "$dump"
		"$BUILD/hprofgen" "$1" --objects "$2" --seed "$BENCH_SEED" -o "$dump.part" ||
			die "hprofgen failed"
		mv "$dump.part" "$dump"
	fi
}

# orders: creates the dump of bench/java's program of that name unless it exists. Sets $dump and $name.
orders()
{
	name=orders
	dump=$BENCH_DIR/orders.hprof
	if [ ! -f "$dump" ]; then
		[ -n "$keep" ] || made "$dump"
		sh "$root/bench/java/make.sh" orders "$dump" >&2 || die "no heap of orders"
	fi
}

# Removes a dump that this run created, to make room for the next one.
forget()
{
	if grep -qxF "$1" "$tmp/made"; then
		rm -f "$1"
	fi
}

warm()
{
	cat "$@" >/dev/null
}

file_size()
{
	stat -c %s "$1"
}

# measure NAME [-n RUNS] [-e FILE]... COMMAND: writes the figures to $tmp/NAME (see peak.c) and standard output to
# $tmp/NAME.out. Returns the command's exit status.
measure()
{
	what=$1
	shift
	rc=0
	"$peak" -o "$tmp/$what" "$@" >"$tmp/$what.out" 2>"$tmp/$what.err" || rc=$?
	if [ $rc -ne 0 ]; then
		say "exit $rc: $*"
		tail -n 3 "$tmp/$what.err" >&2
	fi
	return $rc
}

# figure NAME COLUMN: wall user sys resident anonymous mapped (1 to 6).
figure()
{
	cut -f "$2" "$tmp/$1"
}

# calc EXPRESSION [FORMAT]
calc()
{
	awk "BEGIN { printf \"${2:-%.2f}\", ($1) }"
}

# fact FILE KEY: the number of a fact in a JSON answer.
fact()
{
	sed -n "s/.*\"$2\":\([0-9.]*\).*/\1/p" "$1" | head -n 1
}

# table FILE: prints tab-separated rows as an aligned table. The first row has the headings.
table()
{
	awk -F '\t' '
		{
			for (i = 1; i <= NF; i++) {
				cell[NR, i] = $i
				if (length($i) > width[i])
					width[i] = length($i)
			}
			if (NF > columns)
				columns = NF
		}
		END {
			for (r = 1; r <= NR; r++) {
				line = "|"
				rule = "|"
				for (i = 1; i <= columns; i++) {
					line = line sprintf(i == 1 ? " %-*s |" : " %*s |", width[i], cell[r, i])
					dashes = sprintf("%*s", width[i] + 1, "")
					gsub(/ /, "-", dashes)
					rule = rule (i == 1 ? dashes "-|" : dashes ":|")
				}
				print line
				if (r == 1)
					print rule
			}
		}' "$1"
	echo
}

machine()
{
	cpu=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
	ram=$(awk '/^MemTotal/ { printf "%.0f", $2 / 1048576 }' /proc/meminfo)
	echo "${cpu:-$(uname -m)}, $(nproc) cores, $ram GB, Linux $(uname -r | sed 's/-.*//')," \
		"$(${CC:-cc} --version | head -n 1), heapdb $("$heapdb" version | awk '{ print $NF }')," \
		"$(date -u +%Y-%m-%d)${BENCH_OPTIONS:+, options $BENCH_OPTIONS}"
}

# save_section TITLE FILE: replaces or adds a section of RESULTS.md.
save_section()
{
	[ -f "$results" ] || echo "# Benchmark results" >"$results"
	awk -v title="## $1" '
		/^## / { skip = $0 == title }
		!skip { line[++n] = $0 }
		END {
			while (n && line[n] == "")
				n--
			for (i = 1; i <= n; i++)
				print line[i]
		}' "$results" >"$tmp/results"
	{
		cat "$tmp/results"
		printf '\n## %s\n\n' "$1"
		sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' "$2"
	} >"$results.part"
	mv "$results.part" "$results"
	say "saved to $results"
}
