#!/bin/sh
# watch_leaks_test.sh - five leaks, each with a memory limit, watched on each JDK: a capture is complete before the
# program ends, and report.md names the owner. The limit is -Xmx, or once a cgroup if root can create one on this
# machine. Then JVMs of another user and in their own PID namespace. Prints a table. Needs a JDK; $JDK21 may have no
# javac.
# Slow: up to 20 JVMs that leak. One JDK, with HEAPDB_WATCH=full all.
set -eu

# shellcheck source=tests/support/jdk.sh
. "$HDB_ROOT/tests/support/jdk.sh"
first_jdk "${JDK25:-}" "${JDK17:-}" /usr/lib/jvm/*
cd "$TMPDIR"
chmod 755 .
unset HEAPDB
started=
group=
# shellcheck disable=SC2086
stop()
{
	kill -9 $started 2>/dev/null || true
	wait 2>/dev/null || true
	for one in $started; do rm -f "/tmp/.java_pid$one"; done
	started=
}
trap 'stop; [ -z "$group" ] || rmdir "$group" || true' EXIT
fail()
{
	echo "$*" >&2
	exit 1
}
"$home/bin/javac" -J-XX:TieredStopAtLevel=1 --release 17 -d classes "$HDB_ROOT/tests/java/Growing.java"

# until SECONDS COMMAND...: waits until the command succeeds.
until_true()
{
	tries=$(($1 * 5))
	shift
	until "$@"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.2
	done
}

# owner KIND: the owner that the report must name.
owner()
{
	case $1 in
	sessions) echo 'Growing\.SESSIONS' ;;
	listeners) echo 'PriceFeed\.listeners\|Growing\.FEED' ;;
	queue) echo 'Growing\.TASKS' ;;
	threadlocal) echo 'ThreadLocal' ;;
	cache) echo 'Growing\.RESULTS' ;;
	esac
}

leaks()
{
	for kind in sessions listeners queue threadlocal cache; do
		limit="-Xmx48m" when='heap > 60%'
		# The kernel would kill this one: its maximum heap is larger than its cgroup.
		if [ $kind = sessions ] && [ -n "$group" ]; then
			limit="-Xmx400m" when='rss > 60% of limit'
		fi
		(
			[ $kind != sessions ] || [ -z "$group" ] || sh -c "echo \$PPID >$group/cgroup.procs"
			exec "$home/bin/java" $limit -XX:+UseSerialGC -cp classes Growing $kind 40
		) >/dev/null 2>&1 &
		pid=$!
		started="$started $pid"
		until_true 20 heapdb watch "$pid" --once --histograms none --dir ready 2>/dev/null ||
			fail "$kind does not start"
		heapdb watch "$pid" --interval 1s --histograms none --when "$when" --dir "$1$kind" 2>"$1$kind.log" &
		started="$started $!"
		echo "$pid" >"$1$kind.pid"
	done
	for kind in sessions listeners queue threadlocal cache; do
		until_true 90 grep -q 'captured:\|ended:\|failed' "$1$kind.log" || fail "$kind: $(cat "$1$kind.log")"
		grep -q 'captured:' "$1$kind.log" || fail "$kind: no capture: $(cat "$1$kind.log")"
		head -n 5 "$1$kind"/Growing-*/report.md | grep -q "$(owner $kind)" ||
			fail "$kind: another owner: $(head -n 5 "$1$kind"/Growing-*/report.md)"
		sed -n "s/^.*: capture: \(.*\)/$1 $kind: \1/p" "$1$kind.log"
		sed -n 's/^.*: captured: \(.*\): .*/    \1/p' "$1$kind.log"
	done
	stop
}

group=/sys/fs/cgroup/memory/heapdb-test-$$
mkdir "$group" 2>/dev/null && echo 220M >"$group/memory.limit_in_bytes" || group=
# Without JDKs in these variables, only the one found above.
versions=
[ "${HEAPDB_WATCH:-}" != full ] || versions="17 21 25"
has_run=
for version in $versions; do
	eval "jdk=\${JDK$version:-}"
	if [ -n "$jdk" ] && [ -x "$jdk/bin/java" ]; then
		home=$jdk
		leaks "$version"
		has_run=1
	fi
done
[ -n "$has_run" ] || leaks ''

# A JVM of another user, and one with its own PID namespace and /tmp.
other="setpriv --reuid=65534 --regid=65534 --clear-groups"
$other test -r classes/Growing.class -a -x "$home/bin/java" 2>/dev/null || { echo "no other user here"; exit 0; }
forget_dead_vms
mkdir inside
(cd / && exec $other "$home/bin/java" -Xmx40m -cp "$TMPDIR/classes" Growing quiet 10) >/dev/null 2>&1 &
started="$started $!"
others=$!
cat >inside/run <<'END'
mount -t tmpfs none /tmp || exit 9
exec "$1/bin/java" -Xmx41m -cp classes Growing quiet 10
END
unshare -p -m -f --mount-proc sh inside/run "$home" >inside/log 2>&1 &
started="$started $!"
unshared=$!
inner()
{
	inner=$(cat "/proc/$unshared/task/$unshared/children" 2>/dev/null) && [ -n "$inner" ] &&
		heapdb watch "${inner% }" --once --histograms none --dir ready 2>/dev/null
}
until_true 20 heapdb watch "$others" --once --histograms none --dir ready 2>/dev/null ||
	fail "the JVM of another user does not start"
until_true 20 inner || fail "the JVM in a namespace does not start: $(cat inside/log)"
started="$started $inner"
sleep 2
heapdb watch --name Growing --once --dir all 2>all.log
for pid in $others ${inner% }; do
	for kind in sample classes; do
		grep -q "\"kind\":\"$kind\".*\"jvm\":\"$pid-" all/series.jsonl ||
			fail "no $kind of $pid: $(cat all.log)"
	done
done
grep -q "\"jvm\":\"${inner% }-.*\"max\":4[0-9]*," all/series.jsonl || fail "no heap: $(cat all/series.jsonl)"
for pid in $others ${inner% }; do
	heapdb watch "$pid" --once --histograms none --when 'rss > 1M' --dir "of$pid" 2>all.log
	grep -q 'captured:' all.log || fail "no capture: $(cat all.log)"
done
echo "another user, another namespace: sampled and captured"
