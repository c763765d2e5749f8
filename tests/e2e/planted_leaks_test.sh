#!/bin/sh
# planted_leaks_test.sh - programs with a leak of a known kind (tests/java/Planted*.java): the first
# lines of the report name the culprit, its path and its share, and the rules of triage that should
# fire do. Programs without one: nothing critical; the JDK alone: no rule at all. Needs a JDK.
# Names of classes in single quotes are not for the shell to expand:
# Slow: starts many JVMs.
# shellcheck disable=SC2016
set -eu
for tool in java javac; do
	command -v $tool > /dev/null || { echo "no $tool here"; exit 77; }
done
cd "$TMPDIR"
mkdir classes
javac -J-XX:TieredStopAtLevel=1 -d classes "$HDB_ROOT"/tests/java/Planted*.java "$HDB_ROOT"/tests/java/Healthy.java
failed=0 heap=128m options=

complain() {
	echo "FAILED: $*"
	failed=1
}

# make PROGRAM [ARGUMENT...]: makes PROGRAM.heapdb, PROGRAM.md and PROGRAM.rules.
make_report() {
	program=$1
	shift
	rm -f dump.hprof
	# The options are several words:
	# shellcheck disable=SC2086
	java -XX:+UseSerialGC "-Xmx$heap" $options -XX:-UsePerfData -cp classes "$program" dump.hprof "$@" \
		> java.log 2>&1 ||
		{ complain "$program does not run"; cat java.log; return 1; }
	heapdb import dump.hprof -o "$program.heapdb" --force --quiet > import.log
	heapdb report "$program.heapdb" > "$program.md"
	heapdb query triage --db "$program.heapdb" --csv --columns severity,rule,count,bytes > "$program.rules"
}

# planted PROGRAM LEAST CULPRIT PATH RULE...: checks the first lines, the minimum percentage, and the rules that fire.
planted() {
	program=$1 least=$2 culprit=$3 path=$4
	shift 4
	head -n 6 "$program.md" > head.md
	grep -qF -- "$culprit" head.md || complain "$program: the culprit is not $culprit"
	grep '^Path: ' head.md | grep -qF -- "$path" || complain "$program: the path has no $path"
	share=$(sed -n 's/^\*\*\(Culprit\|Holds most\|Largest suspect\): .* \([0-9]*\)\.[0-9] % of the heap.*/\2/p' \
		head.md)
	[ "${share:-0}" -ge "$least" ] || complain "$program: its share is ${share:-not told}, not $least or more"
	for rule; do
		grep -q ",$rule," "$program.rules" || complain "$program: the rule $rule does not fire"
	done
	[ $failed -eq 0 ] || cat head.md "$program.rules"
	echo "$program: $(sed -n 's/^\*\*\(.*\)\*\*$/\1/p' head.md)"
}

make_report PlantedMap
planted PlantedMap 85 'PlantedMap.RESULTS (static)' \
	'class PlantedMap . static RESULTS` -> `java.util.HashMap size=40000 . table` -> `java.util.HashMap$Node[' \
	leak-suspect
make_report PlantedThreadLocal
planted PlantedThreadLocal 80 'Thread-local PlantedThreadLocal.BUFFERS (static) of thread "pool-1-thread-1"' \
	'java.lang.ThreadLocal$ThreadLocalMap$Entry . value`' thread-local thread-local-stale
make_report PlantedLoader "$TMPDIR/classes"
planted PlantedLoader 80 'DriverManager.registeredDrivers (static) holds ' \
	'class java.sql.DriverManager . static registeredDrivers`' loader-closed
heapdb query triage --db PlantedLoader.heapdb --csv --columns rule,count,detail > details
grep -q '^loader-closed,4,.*held by a JDBC driver' details || complain "PlantedLoader: no hint at the drivers"
heapdb query leaks --db PlantedLoader.heapdb --csv --columns kind,text > details
grep -q '^explanation,.* Kept by .*, a JDBC driver that was not deregistered\.' details ||
	complain "PlantedLoader: leaks has no hint at the drivers"
make_report PlantedListeners
planted PlantedListeners 80 'PlantedListeners$Bus.listeners' 'PlantedListeners$Bus . listeners`' listeners
make_report PlantedLocal
planted PlantedLocal 80 'A local variable of thread "server-thread"' \
	'java.lang.Thread "server-thread" . <local variable>` -> `java.util.HashMap size=30000 . table`'
grep -q 'at PlantedLocal.serve(PlantedLocal.java:' PlantedLocal.md || complain "PlantedLocal: no frame of serve()"
grep -A1 'at PlantedLocal.serve(' PlantedLocal.md | grep -q 'local: j.*HashMap size=30000 ' ||
	complain "PlantedLocal: the local of serve() is not told"
make_report PlantedStrings
planted PlantedStrings 80 'PlantedStrings.COUNTRIES (static)' 'class PlantedStrings . static COUNTRIES`' \
	duplicate-strings
make_report PlantedPool
planted_head='^\*\*Holds most: 8 threads "pool-\\\*-thread-\\\*" (.*, waiting in PlantedPool.lambda$main$0(.*'
planted_head="$planted_head, by the thread-local PlantedPool.SCRATCH (static) of 8 threads.\*\*"
grep -q "$planted_head" PlantedPool.md || { complain "PlantedPool: not $planted_head"; head -n 6 PlantedPool.md; }
heapdb query triage --db PlantedPool.heapdb --csv --columns rule,count,detail > details
for line in '^thread-local,8,"PlantedPool.SCRATCH (static), in 8 threads"' '^task-queue,15000,' \
	'^listeners-field,1800,in PlantedPool$Registry.eventHandlers'; do
	grep -q "$line" details || { complain "PlantedPool: no $line"; cat details; }
done
make_report PlantedThreads
planted_head='^\*\*Holds most: 40 threads "transfer-\\\*" (39[0-9.]* KiB each), waiting in '
planted_head=$planted_head'PlantedThreads.transfer(PlantedThreads.java:[0-9]*) for the ReentrantLock that thread "main'
grep -q "$planted_head" PlantedThreads.md ||
	{ complain "PlantedThreads: not $planted_head"; head -n 6 PlantedThreads.md; }
heapdb query triage --db PlantedThreads.heapdb --csv --columns rule,count,detail > details
for line in '^deadlock,4,.*left"" waits for a java.util.concurrent.locks.ReentrantLock held by ""right""' \
	'^deadlock,4,.*""up"" waits for the monitor of PlantedThreads$Account 0x[0-9a-f]* held by ""down""' \
	'^threads-not-started,1200,'; do
	grep -q "$line" details || { complain "PlantedThreads: no $line"; cat details; }
done
COLUMNS=220 heapdb query threads --db PlantedThreads.heapdb > listed
for line in 'transfer-\* (40)  *WAITING on ReentrantLock of main ' \
	'up  *BLOCKED on PlantedThreads$Account of down ' \
	'parked  *WAITING on int\[] ' \
	'deadlock: .*"right" waits for a java.util.concurrent.locks.ReentrantLock held by'; do
	grep -q "$line" listed || { complain "PlantedThreads: threads without $line"; cat listed; }
done
grep -q '^threads,' details && complain "PlantedThreads: threads that were not started count"
make_report PlantedThreads control
grep -q '\(deadlock\|threads-not-started\),' PlantedThreads.rules && complain "PlantedThreads: an alarm"
# Several holders, and culprits that are hard to name: the culprit, and a word of what it holds (- for none).
holders() {
	make_report PlantedHolders "$1"
	planted PlantedHolders "$2" "$3" "$4"
	[ "$5" = - ] || head -n 8 PlantedHolders.md | grep -q "^It holds: .*$5" ||
		{ complain "PlantedHolders $1: it does not hold $5"; cat head.md; }
}
local='a local variable of thread "main"'
holders local 80 "PlantedHolders.ORDERS (static) and $local hold 60,000 PlantedHolders\$Order (" \
	'class PlantedHolders . static ORDERS`' \
	'60,000 `PlantedHolders$Order`'
holders singleton 80 "PlantedHolders\$Registry.orders and $local hold 60,000 PlantedHolders\$Order (" \
	'class PlantedHolders$Registry . static INSTANCE`' '60,000 `PlantedHolders$Order`'
holders statics 40 ' (static) holds 30,000 PlantedHolders$Order (' 'class PlantedHolders$Statics . static ' \
	'30,000 `PlantedHolders$Order`'
holders graph 80 'PlantedHolders$Graph.' 'class PlantedHolders$Graph . static' '`PlantedHolders$Order`'
holders strings 70 'PlantedHolders.NAMES (static) holds 60,000 String (' \
	'class PlantedHolders . static NAMES`' '60,000 `java.lang.String`'
holders queue 80 'ThreadPoolExecutor.workQueue, in Thread.target' \
	'java.util.concurrent.ThreadPoolExecutor . workQueue`' '[0-9,]*,[0-9]* `PlantedHolders$Task`'
holders worker 80 'PlantedHolders$Worker.mine holds 60,000 PlantedHolders$Order (' \
	'PlantedHolders$Worker "Thread-0" . mine`' \
	'60,000 `PlantedHolders$Order`'
make_report PlantedWaste
# between RULE COLUMN LEAST MOST: a figure of a rule that fires; column 3 is the count, 4 the bytes.
between() {
	figure=$(awk -F, -v rule="$1" -v column="$2" '$2 == rule { print $column }' PlantedWaste.rules)
	if [ "${figure:-0}" -lt "$3" ] || [ "${figure:-0}" -gt "$4" ]; then
		complain "PlantedWaste: $1 tells ${figure:-nothing}, not $3 to $4"
	fi
}
# The suspect that holds the sessions explains them.
grep -q 'PlantedWaste.SESSIONS (static) holds 6,000 PlantedWaste$ShopSession (1.6 KiB each)' PlantedWaste.md ||
	complain "PlantedWaste: no sessions"
between boxed-values 3 200000 202000
between sparse-collections 3 2000 2700
between sparse-collections 4 8000000 8300000
between empty-collections 3 120000 120600
between finalizer-backlog 3 25000 25100
between direct-buffers 4 83886080 84200000
# The owner of most of the heap is critical only if little space is left.
for program in PlantedMap PlantedThreadLocal PlantedLoader PlantedListeners PlantedLocal PlantedStrings PlantedWaste; do
	grep -q '^critical' $program.rules && complain "$program: critical, with most of 128 MiB free"
	grep -q '^\*\*Culprit' $program.md && complain "$program: a culprit, with most of 128 MiB free"
done
heap=40m
make_report PlantedFull
planted PlantedFull 80 'PlantedFull$Journal.orders, in PlantedFull.JOURNAL (static)' \
	'PlantedFull$Journal . orders` -> `java.util.HashMap size=' leak-suspect heap-full
grep -q '^critical,leak-suspect,' PlantedFull.rules || complain "PlantedFull: not critical"
grep -q '^\*\*Culprit: ' PlantedFull.md || complain "PlantedFull: no culprit"
grep -q '^It holds: [0-9,]* `PlantedFull$Order` ([78]' PlantedFull.md || complain "PlantedFull: no word of its orders"
grep -q '^Reachable: .* of at most 38\.7 MiB (8[0-9]\.[0-9]* %)\.$' PlantedFull.md ||
	complain "PlantedFull: not told how full the heap is"
heapdb info --db PlantedFull.heapdb --csv > info.csv
grep -q '^vm,max heap,"40,566,784",40566784,' info.csv || { complain "PlantedFull: max heap"; grep '^vm' info.csv; }
# The limit of direct buffers, if set, says nothing about the heap.
options=-XX:MaxDirectMemorySize=41m
make_report PlantedFull
grep -q '^critical' PlantedFull.rules && complain "PlantedFull: full by the limit of direct buffers"
grep -q '^Reachable: [0-9.]* MiB\.$' PlantedFull.md || complain "PlantedFull: full by the limit of direct buffers"
# The VM's own dump on an OutOfMemoryError; the program ends with the error.
rm -f dump.hprof
java -XX:+UseSerialGC -Xmx40m -XX:MaxDirectMemorySize=41m -XX:+HeapDumpOnOutOfMemoryError -XX:HeapDumpPath=dump.hprof \
	-cp classes PlantedFull unused error > java.log 2>&1 && complain "PlantedFull: no error"
heapdb import dump.hprof -o PlantedFull.heapdb --force --quiet > import.log
heapdb report PlantedFull.heapdb > PlantedFull.md
heapdb query triage --db PlantedFull.heapdb --csv --columns severity,rule > PlantedFull.rules
grep -q '^critical,out-of-memory' PlantedFull.rules || complain "PlantedFull: the error is not seen"
grep -q '^critical,leak-suspect' PlantedFull.rules || complain "PlantedFull: out of memory, but not critical"
grep -q '; a thread ran out of memory\.$' PlantedFull.md || complain "PlantedFull: the error is not told"
heapdb overview --csv --columns text PlantedFull.heapdb > said
grep -q 'OutOfMemoryError: java.lang.Thread ""main"" at PlantedFull' said ||
	complain "PlantedFull: no thread in $(cat said)"
heap=128m options=
make_report Healthy
grep -q critical Healthy.rules && { complain "Healthy: critical"; cat Healthy.rules; }
grep -q '^\*\*\(Culprit\|Holds most\)' Healthy.md && complain "Healthy: a culprit"
make_report Healthy alone
grep -q '^\*\*\(Culprit\|Holds most\)' Healthy.md && complain "the JDK alone: a culprit"
[ "$(wc -l < Healthy.rules)" -le 1 ] || { complain "the JDK alone: rules fire"; cat Healthy.rules; }
exit $failed
