#!/bin/sh
# bench/limit.sh - the same work without and with a hard memory limit that includes the page cache.
#
#   limit.sh SIZE DUMP [--save]
#
# SIZE is in bytes or has a suffix K, M or G (powers of 1024). Imports DUMP, builds dominators, and exports ID, retained
# size and dominator of every object, first without a limit, then inside a memory cgroup of SIZE without swap. Before
# each step, dump and database are dropped from the page cache. Prints both results and whether the exports are equal.
# The cgroup is created by systemd-run if systemd is running, otherwise below this process's own cgroup (version 1) or
# next to it (version 2), which needs root.
# Exit status: 0 equal; 1 different, or killed; 77 no memory cgroup can be created.
set -eu

# shellcheck source=bench/common.sh
. "$(dirname "$0")/common.sh"

[ $# -ge 2 ] || die "usage: limit.sh SIZE DUMP [--save]"
size=$1
given=$2
if [ "${3:-}" = --save ]; then
	save=yes
fi
[ -r "$given" ] || die "$given cannot be read"
dump=$(realpath "$given")
name=$(basename "$dump" .hprof)
limit=$(echo "$size" | awk '
	/^[0-9]+[KMG]?$/ { n = $0 + 0; u = substr($0, length($0))
		printf "%.0f", n * (u == "K" ? 1024 : u == "M" ? 1048576 : u == "G" ? 1073741824 : 1) }')
[ -n "$limit" ] || die "$size is not a size: 512M, 2G, or bytes"
prepare
db=$BENCH_DIR/limit.$$.heapdb
made "$db"

# ---- the cgroup ----

group=
kind=
own=

v1_group()
{
	mount=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { print $2; exit }' /proc/mounts)
	own=$(sed -n 's/^[0-9]*:\([^:]*,\)*memory\(,[^:]*\)*:\(.*\)$/\3/p' /proc/self/cgroup)
	[ -n "$mount" ] || return 1
	[ -d "$mount$own" ] || own=
	group=$mount$own/heapdb-bench.$$
	mkdir "$group" 2>/dev/null || return 1
	echo "$limit" >"$group/memory.limit_in_bytes" || return 1
	if [ -f "$group/memory.memsw.limit_in_bytes" ]; then
		echo "$limit" >"$group/memory.memsw.limit_in_bytes" || return 1
	elif [ "$(awk 'NR > 1' /proc/swaps | wc -l)" -gt 0 ]; then
		echo 0 >"$group/memory.swappiness" || return 1
	fi
	kind=v1
}

v2_group()
{
	mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	own=$(sed -n 's/^0:://p' /proc/self/cgroup)
	[ -n "$mount" ] || return 1
	[ "$own" = / ] || own=$(dirname "$own")
	[ -d "$mount$own" ] || own=
	grep -qw memory "$mount$own/cgroup.subtree_control" 2>/dev/null || return 1
	group=$mount$own/heapdb-bench.$$
	mkdir "$group" 2>/dev/null || return 1
	[ -f "$group/memory.max" ] && echo "$limit" >"$group/memory.max" || return 1
	[ ! -f "$group/memory.swap.max" ] || echo 0 >"$group/memory.swap.max" || return 1
	kind=v2
}

drop_group()
{
	if [ -n "$group" ] && [ -d "$group" ]; then
		rmdir "$group" 2>/dev/null || say "left behind: $group"
	fi
	group=
}

make_group()
{
	if [ -d /run/systemd/system ] && command -v systemd-run >/dev/null; then
		for user in "" --user; do
			# shellcheck disable=SC2086
			if systemd-run $user --scope --quiet -p "MemoryMax=$limit" true 2>/dev/null; then
				kind="systemd $user"
				return 0
			fi
		done
	fi
	v1_group && return 0
	drop_group
	v2_group && return 0
	drop_group
	return 1
}

# Runs a command in the cgroup. "inside" is also the name of the step for measure.
cat >"$tmp/inside" <<'END'
#!/bin/sh
# Moves itself into the cgroup, then executes the command.
echo $$ >"$HDB_GROUP/cgroup.procs" || exit 125
exec "$@"
END
chmod +x "$tmp/inside"

# wrap COMMAND...: prints the command, to be run directly or inside.
limited()
{
	case $kind in
	systemd*)
		# shellcheck disable=SC2086
		set -- systemd-run ${kind#systemd} --scope --quiet -p "MemoryMax=$limit" \
			-p MemorySwapMax=0 "$@"
		;;
	*)
		HDB_GROUP=$group
		export HDB_GROUP
		set -- "$tmp/inside" "$@"
		;;
	esac
	"$@"
}

counter()
{
	case $kind in
	v1) file=$group/memory.oom_control ;;
	v2) file=$group/memory.events ;;
	*) return 0 ;;
	esac
	sed -n 's/^oom_kill //p' "$file" 2>/dev/null || true
}

most_charged()
{
	for file in "$group/memory.peak" "$group/memory.max_usage_in_bytes"; do
		if [ -n "$group" ] && [ -f "$file" ]; then
			calc "$(cat "$file") / 1048576" %.0f
			return
		fi
	done
	echo -
}

# ---- the work ----

# step MODE NAME OPTION... -- COMMAND...: measures a step; in mode "limited" inside the cgroup. The measuring program
# also runs inside; it is small.
step()
{
	mode=$1
	what=$2
	shift 2
	rc=0
	if [ "$mode" = limited ]; then
		limited "$peak" -o "$tmp/$mode.$what" "$@" >"$tmp/$mode.$what.out" \
			2>"$tmp/$mode.$what.err" || rc=$?
	else
		"$peak" -o "$tmp/$mode.$what" "$@" >"$tmp/$mode.$what.out" \
			2>"$tmp/$mode.$what.err" || rc=$?
	fi
	if [ $rc -ne 0 ]; then
		failed="$what: exit $rc$(tail -n 1 "$tmp/$mode.$what.err" | sed 's/^/, /')"
		say "$mode: $failed"
		return 1
	fi
}

work()
{
	mode=$1
	say "$mode: import, dominators, export"
	rm -f "$db" "$db-lock"
	# shellcheck disable=SC2086
	step "$mode" import -e "$dump" "$heapdb" import "$dump" -o "$db" --force --quiet $BENCH_OPTIONS &&
		step "$mode" top -e "$dump" -e "$db" "$heapdb" query top --quiet --db "$db" $BENCH_OPTIONS &&
		step "$mode" export -e "$dump" -e "$db" sh -c "\"\$0\" export objects \
			--columns id,retained,dominator --format tsv --quiet --db \"\$1\" $BENCH_OPTIONS |
			cksum" "$heapdb" "$db"
}

# line MODE: one row of the table.
line()
{
	import=$(figure "$1.import" 1)
	top=$(figure "$1.top" 1)
	export=$(figure "$1.export" 1)
	all=$(calc "$import + $top + $export" %.4f)
	anonymous=$(cut -f 5 "$tmp/$1.import" "$tmp/$1.top" "$tmp/$1.export" | sort -n | tail -n 1)
	resident=$(cut -f 4 "$tmp/$1.import" "$tmp/$1.top" "$tmp/$1.export" | sort -n | tail -n 1)
	printf '%s\t' "$2" "$(calc "$import")" "$(calc "$top")" "$(calc "$export")" "$(calc "$all")" \
		"$(calc "$resident / 1024" %.0f)" "$(calc "$anonymous / 1024" %.0f)" "$3" \
		>>"$tmp/rows"
	calc "$all / ${unlimited:-$all}" '%.2f\n' >>"$tmp/rows"
	unlimited=${unlimited:-$all}
}

if ! make_group; then
	say "no memory cgroup can be made here: it takes systemd, or root and a writable memory cgroup"
	exit 77
fi
trap 'drop_group; clean_up' EXIT

printf '%s\t' "$name" 'import s' 'dominators s' 'export s' 'all s' 'peak RSS MB' 'peak anon MB' \
	'charged MB' >"$tmp/rows"
echo 'against no limit' >>"$tmp/rows"
bad=0
work free || die "it does not work without a limit"
line free "no limit" -
if work limited; then
	line limited "limit $size" "$(most_charged)"
else
	bad=1
fi
kills=$(counter)

{
	machine
	echo
	table "$tmp/rows"
	echo "Dump: $(calc "$(file_size "$dump") / 1e6" %.0f) MB. Page cache cold before each step and" \
		"counted by the limit ($kind cgroup); no swap."
	if [ $bad -ne 0 ]; then
		echo "Under the limit it failed (${failed:-}; out-of-memory kills: ${kills:-unknown})."
	elif cmp -s "$tmp/free.export.out" "$tmp/limited.export.out"; then
		echo "The exports of all objects are the same${kills:+; out-of-memory kills: $kills}."
	else
		echo "The exports DIFFER."
		bad=1
	fi
} >"$tmp/report"
cat "$tmp/report"
[ -z "$save" ] || save_section "Under a memory limit" "$tmp/report"
exit $bad
