#!/bin/sh
# memory_netty_test.sh - `heapdb memory` of a program with Netty 4.1 or 4.2 and a dump of it: the chunks of the pooled
# and the adaptive allocator, and how much of them unreleased buffers use, compared with Netty's own count.
# Slow: Maven downloads Netty on first use. Runs on each installed JDK ($JDK17, $JDK25, or javac's).
set -eu
[ -r /proc/self/smaps_rollup ] || { echo "no /proc/PID/smaps_rollup here"; exit 77; }
for tool in javac mvn python3; do
	command -v "$tool" >/dev/null || { echo "no $tool here"; exit 77; }
done
home=$(readlink -f "$(command -v javac)")
[ -n "${JDK17:-}${JDK25:-}" ] || JDK17=${home%/bin/javac}
cd "$TMPDIR"
pid=
trap '[ -z "$pid" ] || kill "$pid"' EXIT
for version in 4.1.137.Final 4.2.18.Final; do
	jars=$HDB_ROOT/build/netty/$version
	for name in buffer common; do
		[ -f "$jars/netty-$name-$version.jar" ] ||
			timeout 200 mvn -q -B dependency:copy -Dartifact="io.netty:netty-$name:$version" \
				-DoutputDirectory="$jars" >/dev/null 2>&1 ||
			{ echo "Maven cannot bring netty-$name $version"; exit 77; }
	done
	javac -J-XX:TieredStopAtLevel=1 --release 11 -nowarn -cp "$jars/*" -d "$version" \
		"$HDB_ROOT/tests/java/NettyPool.java" 2>err ||
		{ cat err; exit 1; }
	for java in ${JDK17:+"$JDK17"} ${JDK25:+"$JDK25"}; do
		for kind in pooled adaptive; do
			[ $kind$version != adaptive4.1.137.Final ] || continue
			rm -f pinned
			"$java/bin/java" -Xmx64m -XX:MaxDirectMemorySize=200m -cp "$jars/*:$version" NettyPool $kind \
				>pinned 2>err &
			pid=$!
			for _ in $(seq 3000); do
				[ ! -s pinned ] || break
				kill -0 $pid 2>/dev/null || { cat err; exit 1; }
				sleep 0.1
			done
			heapdb capture $pid -o vm.heapdb --force --quiet 2>/dev/null
			heapdb memory $pid vm.heapdb --json >account
			kill $pid
			wait $pid 2>/dev/null || true
			pid=
			python3 - "$kind $version $java" <<'END'
import json, sys

pinned, answer = int(open('pinned').read()), json.load(open('account'))
rows = {row['detail']: row for row in answer['rows'] if row['part'] == 'direct memory'}
netty, share = rows['Netty'], answer['facts']['netty_pinned']
print(sys.argv[1], pinned, netty['used'], netty['resident'], share)
assert abs(netty['used'] - pinned) <= pinned * 0.01, 'in use'
assert abs(share - 100 * netty['used'] / netty['committed']) < 1, 'share of the chunks'
assert netty['committed'] >= 17_000_000 and netty['count'] >= 18, 'chunks'
if sys.argv[1].startswith('pooled'):
    assert 'fewer arenas' in str(answer['facts']), answer['facts']
END
		done
	done
done
