#!/bin/sh
# bench/compressed.sh - compressed dumps: time of an import compared with zcat, size of a database that contains its
# dump, and speed of convert, strip and redact.
#
#   compressed.sh [DUMP...] [--save]
#
# DUMP is uncompressed, or compressed by the JDK (`jcmd PID GC.heap_dump -gz=1 FILE`), which gives more realistic
# figures; `heapdb convert` compresses an uncompressed dump with members of the same size and level. Default: orders
# (bench/java/make.sh) with the program's SIZE; 3600000 makes a dump of 4 GB (JAVA_OPTIONS=-Xmx12g). Each dump is
# measured as the JDK's gzip, as gzip with one member, and as zstd. RUNS (default 3) runs of import and zcat alternate,
# and the fastest counts. CPU seconds are user and system.
set -eu

# shellcheck source=bench/common.sh
. "$(dirname "$0")/common.sh"

RUNS=${RUNS:-3}
dumps=
for word in "$@"; do
	case $word in
	--save) save=yes ;;
	*) dumps="$dumps $(realpath "$word")" ;;
	esac
done
prepare
if [ -z "$dumps" ]; then
	dumps=$BENCH_DIR/orders.hprof
	made "$dumps"
	[ -f "$dumps" ] || sh "$root/bench/java/make.sh" orders "$dumps" ${SIZE:+"$SIZE"} >&2
fi
out=$tmp/section
rows=$tmp/rows
rates=$tmp/rates
{
	printf 'dump\tform\tMB\tcat wall s\tCPU s\timport wall s\tCPU s\tanonymous MB\twall/cat\t'
	printf 'database MB\tof the -gz=1 file\n'
} >"$rows"
printf 'dump\twhat\twall s\tCPU s\tMB/s of user CPU\tMB/s of CPU\tanonymous MB\n' >"$rates"

# cpu NAME: sum of user and system seconds.
cpu()
{
	calc "$(figure "$1" 2) + $(figure "$1" 3)"
}

# fastest NAME COMMAND: keeps the figures of the run with the smallest wall time.
fastest()
{
	kept_as=$1
	shift
	measure run "$@" || exit 1
	if [ ! -f "$tmp/$kept_as" ] || [ "$(calc "$(figure run 1) < $(figure "$kept_as" 1)" %d)" = 1 ]; then
		cp "$tmp/run" "$tmp/$kept_as"
	fi
}

# form NAME FORM FILE CAT: compares an import with the command that only decompresses the file.
form()
{
	db=$BENCH_DIR/compressed.$$.heapdb
	made "$db"
	rm -f "$tmp/cat" "$tmp/import"
	warm "$3"
	i=0
	while [ $i -lt "$RUNS" ]; do
		fastest cat sh -c "exec $4 '$3' >/dev/null"
		# shellcheck disable=SC2086
		fastest import "$heapdb" import "$3" -o "$db" --force --quiet $BENCH_OPTIONS
		i=$((i + 1))
	done
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s %%\n' "$1" "$2" \
		"$(calc "$(file_size "$3") / 1000000" %.0f)" \
		"$(calc "$(figure cat 1)")" "$(cpu cat)" "$(calc "$(figure import 1)")" "$(cpu import)" \
		"$(calc "$(figure import 5) / 1024" %.0f)" "$(calc "$(figure import 1) / $(figure cat 1)")" \
		"$(calc "$(file_size "$db") / 1000000" %.0f)" \
		"$(calc "100 * $(file_size "$db") / $jdk_bytes" %.0f)" >>"$rows"
	rm -f "$db" "$db-lock"
}

# rate NAME FILE WORD...: speed of writing an uncompressed dump to /dev/null.
rate()
{
	dump_name=$1
	dump=$2
	shift 2
	rm -f "$tmp/rate"
	i=0
	while [ $i -lt "$RUNS" ]; do
		# shellcheck disable=SC2016
		fastest rate sh -c 'heapdb=$1; shift; exec "$heapdb" "$@" >/dev/null' sh "$heapdb" "$@" "$dump" -
		i=$((i + 1))
	done
	mb=$(calc "$(file_size "$dump") / 1000000")
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$dump_name" "$*" "$(calc "$(figure rate 1)")" "$(cpu rate)" \
		"$(calc "$mb / ($(figure rate 2) + 0.001)" %.0f)" "$(calc "$mb / ($(cpu rate) + 0.001)" %.0f)" \
		"$(calc "$(figure rate 5) / 1024" %.0f)" >>"$rates"
}

for given in $dumps; do
	name=$(basename "$given" .gz)
	name=$(basename "$name" .hprof)
	plain=$BENCH_DIR/compressed.$$.hprof
	jdk=$BENCH_DIR/compressed.$$.jdk.hprof.gz
	made "$plain"
	made "$jdk"
	made "$plain.gz"
	made "$plain.zst"
	case $given in
	*.gz)
		zcat "$given" >"$plain"
		ln -sf "$given" "$jdk"
		;;
	*)
		ln -sf "$given" "$plain"
		"$heapdb" convert "$given" "$jdk" --force >/dev/null
		;;
	esac
	jdk_bytes=$(stat -L -c %s "$jdk")
	form "$name" "JDK -gz=1" "$(realpath "$jdk")" zcat
	gzip -1 <"$plain" >"$plain.gz"
	form "$name" "gzip -1" "$plain.gz" zcat
	rm -f "$plain.gz"
	if command -v zstd >/dev/null; then
		zstd -q -3 -f <"$plain" >"$plain.zst"
		form "$name" "zstd -3" "$plain.zst" zstdcat
		rm -f "$plain.zst"
	fi
	file=$(realpath "$plain")
	rate "$name" "$file" convert
	rate "$name" "$file" strip
	rate "$name" "$file" redact
	rate "$name" "$file" redact --hash
	rate "$name" "$file" redact --arrays text
	rate "$name" "$file" redact --secrets "$tmp/secrets" --force
	rm -f "$plain" "$jdk"
done
{
	machine
	echo
	table "$rows"
	table "$rates"
	echo "Load $(cut -d ' ' -f 1 /proc/loadavg); the fastest of $RUNS runs each."
} >"$out"
cat "$out"
if [ -n "$save" ]; then
	save_section "Compressed dumps" "$out"
fi
