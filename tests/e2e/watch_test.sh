#!/bin/sh
# tests/e2e/watch_test.sh - `heapdb watch` with JVMs: a leak is captured before the program ends, and report.md names
# the owner; events, series, signals, limits of captures, commands afterwards, kept files, and usage errors. Needs a
# JDK.
# Slow: JVMs that leak, and ten processes for each capture.
set -eu

# shellcheck source=tests/support/jdk.sh
. "$HDB_ROOT/tests/support/jdk.sh"
first_jdk "${JDK17:-}" "${JDK25:-}" /usr/lib/jvm/*
cd "$TMPDIR"
unset HEAPDB
jvms=
# shellcheck disable=SC2086
trap 'kill $jvms 2>/dev/null || true' EXIT
fail()
{
	echo "$*" >&2
	exit 1
}
has()
{
	grep -q -e "$2" "$1" || { cat "$1"; fail "$1 lacks: $2"; }
}
start()
{
	"$home/bin/java" "$@" >java.log 2>&1 &
	pid=$!
	jvms="$jvms $pid"
}
ready()
{
	tries=0
	until heapdb watch "$1" --once --histograms none --dir ready >ready.log 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || { cat ready.log; fail "the JVM does not start"; }
		sleep 0.1
	done
}
# Its own program name, because other tests run Growing at the same time.
echo 'public class Watched extends Growing {}' >Watched.java
"$home/bin/javac" -J-XX:TieredStopAtLevel=1 -d . "$HDB_ROOT/tests/java/Growing.java" Watched.java

# A leak: the capture is complete before the end, the report names the owner, and the command gets its directory.
start -Xmx40m -XX:+UseSerialGC -cp . Watched sessions 40
leaking=$pid
start -Xmx40m -XX:+UseSerialGC -cp . Watched quiet 10
quiet=$pid
ready "$leaking"
heapdb watch --name Watched --interval 1s --histograms 1s --when 'heap > 55% for 1s' --dir 'a b' \
	--then 'cp {}/report.md then.md; echo to a log' 2>events &
watch=$!
jvms="$jvms $watch"
tries=0
until grep -q 'captured: .*Growing' events; do
	tries=$((tries + 1))
	[ $tries -lt 300 ] || { cat events; fail "no capture"; }
	sleep 0.1
done
has events "JVM $leaking: watching: Watched\$"
has events "JVM $quiet: watching: Watched\$"
has events "JVM $leaking: capture: heap > 55% for 1s (now [5-9][0-9]%)\$"
has events "captured: .*: Growing.SESSIONS (static) holds [0-9,]* Growing\$Session"
has events "captured: .* The JVM was paused for [0-9.]* s "
has then.md 'Growing.SESSIONS'
set -- 'a b'/Watched-"$leaking"-*
for file in heap.heapdb report.md report.json report.html; do
	[ -s "$1/$file" ] || fail "no $1/$file"
done
heapdb leaks --db "$1/heap.heapdb" --limit 1 | grep -q 'Growing.SESSIONS' || fail "the database"
# A second writer is refused. SIGTERM ends it with that signal, and the series is complete.
heapdb watch --all --dir 'a b' 2>err && fail "two writers"
has err "another .heapdb watch. is writing to it"
kill "$watch"
code=0
wait "$watch" || code=$?
[ $code = 143 ] || fail "SIGTERM: exit code $code"
heapdb growth 'a b' >told 2>&1
has told "heap after GC"
if grep -q damaged told; then fail "damaged lines"; fi
kill "$leaking" 2>/dev/null || true

# SIGUSR1, JSON, and kept files; a graph contains no strings of the heap. It resumes the series.
heapdb watch "$quiet" --interval 1s --histograms none --when signal --keep graph --dir graph --json >json 2>err &
watch=$!
jvms="$jvms $watch"
sleep 0.5
kill -USR1 "$watch"
tries=0
until grep -q '"event":"captured"' json; do
	tries=$((tries + 1))
	[ $tries -lt 300 ] || { cat json err; fail "no capture by a signal"; }
	sleep 0.1
done
has json '"event":"capture",.*"program":"Watched","text":"signal"'
# The JVM ends, and so does watch.
kill "$quiet"
code=0
wait "$watch" || code=$?
[ $code = 0 ] || { cat json err; fail "the end of the JVM: exit code $code"; }
has json '"event":"ended"'
[ ! -s err ] || { cat err; fail "messages besides JSON"; }
set -- graph/Watched-*
[ "$(ls "$1")" = "$(printf 'heap.heapdb\nheap.heapdb-lock\nreport.html\nreport.json\nreport.md')" ] || {
	ls "$1"
	fail "files of a graph"
}
heapdb info --db "$1/heap.heapdb" 2>&1 | grep -qi 'redacted' || fail "the graph is not redacted"

# Attaching is disabled: reported once, and sampling continues.
start -Xmx40m -XX:-UsePerfData -cp . Watched quiet 10
silent=$pid
start -Xmx40m -XX:+DisableAttachMechanism -cp . Watched quiet 10
ready "$pid"
sleep 2
heapdb watch "$pid" --once --dir c 2>err
has err "attach: cannot take histograms: the JVM was started with -XX:+DisableAttachMechanism"
has c/series.jsonl '"kind":"sample"'
# Without hsperfdata: memory and histograms.
pid=$silent
heapdb watch "$pid" --once --dir d 2>err
has d/series.jsonl '"kind":"sample".*"heap":[0-9]*,"committed":[0-9]*,"max":41943040,.*"rss":[0-9]'
has d/series.jsonl '"kind":"classes"'

# A hanging command is killed: time passes 600 times as fast.
HEAPDB_WATCH_LAPSE=600 heapdb watch "$pid" --once --histograms none --when 'rss > 1M' --keep dump --dir e \
	--then 'sleep 100 & sleep 100' 2>err
has err "captured: .*(--then failed: .*no answer within 1 s"
# The dump is kept, compressed.
[ "$(od -An -tx1 -N4 e/*/heap.hprof.zst | tr -d ' ')" = 28b52ffd ] || fail "heap.hprof.zst is not zstd"

# Mistakes.
mistake()
{
	code=0
	heapdb watch "$@" >out 2>err || code=$?
	[ $code = "$expected" ] || { cat err; fail "watch $*: exit code $code, expected $expected"; }
}
expected=3
mistake 999999999 --once
has err "no such process: 999999999"
mistake $$ --once --dir mistaken
has err "is not a HotSpot VM"
[ ! -e mistaken ] || fail "a wrong PID leaves $(ls mistaken)"
