#!/bin/sh
# capture_test.sh - `heapdb capture` of running JVMs of each installed JDK: counts equal those of `jcmd
# GC.class_histogram`; as root and as another user, across PID and mount namespaces, from outside and inside; VMs that
# are stopped, die during the capture, or forbid attaching; interrupted, killed, disk full: messages, no files left
# behind, and the VM keeps running.
# Slow: starts many JVMs.
# shellcheck disable=SC2317
set -eu
[ -r /proc/self/stat ] || { echo "no /proc here"; exit 77; }
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
# shellcheck source=tests/support/jdk.sh
. "$HDB_ROOT/tests/support/jdk.sh"
work=$(mktemp -d)
vms=
stop_vms()
{
	for one in $vms; do
		kill -9 "$one" 2> /dev/null || true
		# files that a VM removes when it exits
		rm -f "/tmp/.java_pid$one" /tmp/hsperfdata_*/"$one"
	done
	vms=
}
trap 'stop_vms; rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"
heapdb=$BUILD/heapdb
failed=0
fail()
{
	echo "FAILED: $jdk: $*"
	failed=1
}

cat > Quiet.java << 'JAVA'
import java.util.*;

/** Fills a map, then does nothing, so that two full collections find the same heap. */
public class Quiet {
    static final Map<String, Object> map = new HashMap<>();

    public static void main(String[] args) throws Exception {
        final int n = Integer.parseInt(args[0]);

        for (int i = 0; i < n; i++) map.put("key" + i, new ArrayList<>(List.of(i, i + 1)));
        System.out.println("ready");
        Thread.sleep(600_000);
    }
}
JAVA

cat > same.py << 'PYTHON'
"""Counts of jcmd's histogram, and of heapdb's with what is unreachable, class by class."""
import csv, re, sys

KINDS = dict(zip('BCDFIJSZ', 'byte char double float int long short boolean'.split()))


def plain(name):
    depth = len(name) - len(name.lstrip('['))
    name = name[depth:]
    if depth:
        name = KINDS[name] if len(name) == 1 else name[1:-1]
    return name + '[]' * depth


vm, ours = {}, {}
for line in open(sys.argv[1]):
    m = re.match(r'\s*\d+:\s+(\d+)\s+\d+\s+(\S+)', line)
    if m:
        vm[plain(m[2])] = vm.get(plain(m[2]), 0) + int(m[1])
for row in csv.DictReader(open(sys.argv[2])):
    ours[row['name']] = ours.get(row['name'], 0) + int(row['objects']) + int(row['unreachable_objects'])
# The VM also counts mirrors of its own arrays. It fills gaps with int[] or a class of its own, and with different ones
# after each collection.
for counts in (vm, ours):
    for name in 'java.lang.Class', 'int[]', 'jdk.internal.vm.FillerElement[]':
        counts.pop(name, None)
bad = {name for name in vm.keys() | ours.keys() if vm.get(name) != ours.get(name)}
for name in sorted(bad):
    print('%s: jcmd %s, heapdb %s' % (name, vm.get(name), ours.get(name)))
sys.exit(bool(bad) or sum(ours.values()) < 100000)
PYTHON

# vm FOLDER N [OPTION...]: starts Quiet in its own directory. Its PID is in $pid.
vm()
{
	mkdir -p "$1"
	where=$1 n=$2
	shift 2
	: > "$where/out"
	(cd "$where" && exec $as "$java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx400m "$@" -cp "$classes" \
		Quiet "$n") > "$where/out" 2>&1 &
	pid=$!
	vms="$vms $pid"
	for _ in $(seq 300); do
		grep -q ready "$where/out" && return
		sleep 0.1
	done
	fail "the VM does not start: $(cat "$where/out")"
}

# capture CODE OPTION...: checks the exit status. The output is in the file said.
capture()
{
	want=$1 code=0
	shift
	$run "$heapdb" capture "$@" --tmp "$place" > printed 2> said || code=$?
	[ "$code" -eq "$want" ] || fail "capture $*: exit $code, not $want: $(cat said)"
}

# clean FOLDER: no file of a capture is left in the VM's directory or the directory of the pipe.
clean()
{
	for _ in $(seq 50); do
		left=$(find "$1" "$place" "/tmp/.attach_pid$pid" \
			-name '.attach_pid*' -o -name '.heapdb-*' 2> /dev/null) ||
			true
		[ -n "$left" ] || return 0
		sleep 0.1
	done
	fail "left behind: $left"
}

# lives DB: the VM can be captured again, and the database is correct.
lives()
{
	rm -f "$1" "$1-lock"
	capture 0 "$pid" -o "$1" --quiet
	"$heapdb" check --db "$1" > out || fail "check: $(cat out)"
}

# at_work: waits until the VM has opened the pipe of a capture.
at_work()
{
	for _ in $(seq 2000); do
		for fd in /proc/"$pid"/fd/*; do
			case $(readlink "$fd") in *.heapdb-*/dump) return ;; esac
		done
		sleep 0.005
	done
	fail "the VM writes no dump"
}

counts()
{
	vm counts 40000 -Xlog:safepoint:file=safepoints
	"$heapdb" capture --csv --columns pid,main_class,version > list
	grep -q "^$pid,Quiet,$version" list || fail "not in the list: $(cat list)"
	capture 0 "$pid" -o first.heapdb
	grep -q ', no problems' printed || fail "problems: $(cat printed)"
	# The pause equals that in the VM's log.
	paused=$(sed -n 's/^The JVM was paused for \([0-9.]*\) s (1 pause) and wrote [0-9.]* MiB\.$/\1/p' printed)
	python3 - "$paused" counts/safepoints << 'PYTHON' || fail "pause: $(cat printed counts/safepoints)"
import re, sys
logged = [int(ns) / 1e9 for ns in re.findall(r'"HeapDumper".* Total: +(\d+) ns', open(sys.argv[2]).read())]
sys.exit(len(logged) != 1 or not sys.argv[1] or abs(float(sys.argv[1]) - logged[0]) > 0.02 * logged[0] + 0.002)
PYTHON
	# The first commands load additional classes; after them nothing changes.
	"$home/bin/jcmd" "$pid" GC.class_histogram > histogram
	for options in "" "--live --gz 1" "--parallel 2" "--all"; do
		# shellcheck disable=SC2086
		capture 0 "$pid" -o counts.heapdb --force --quiet $options
		"$home/bin/jcmd" "$pid" GC.class_histogram > histogram
		"$heapdb" query histogram --csv --limit all --db counts.heapdb > ours
		# All objects equal the live ones here, except those that jcmd left.
		[ "$options" = --all ] || python3 "$work/same.py" histogram ours || fail "counts of capture $options"
		clean counts
	done
	# Answers of the VM without a dump: jcmd and jstack get the same.
	"$heapdb" capture "$pid" --histogram --csv --columns class,objects,shallow > ours
	"$home/bin/jcmd" "$pid" GC.class_histogram > histogram
	counts=$(awk '$4 == "java.util.HashMap$Node" { print $2 "," $3 }' histogram)
	grep -q "^java.util.HashMap\\\$Node,$counts\$" ours ||
		fail "capture --histogram: $(head -n 3 ours)"
	"$heapdb" capture "$pid" --stacks > stacks
	{ grep -q '^"main" #' stacks && grep -q 'at java.lang.Thread.sleep' stacks; } ||
		fail "capture --stacks: $(head -n 9 stacks)"
	"$heapdb" info --csv --db counts.heapdb | grep -q "JVM $pid (Quiet)" || fail "info does not name the VM"
	"$heapdb" export dump --db counts.heapdb > counts.hprof
	"$heapdb" import counts.hprof -o again.heapdb --quiet > /dev/null || fail "import of export dump"
	grep -q 'Full thread dump' counts/out && fail "the VM printed its threads"
	# Each capture without -o has a name of its own.
	for name in "java_pid$pid" "java_pid$pid-2"; do
		capture 0 "$pid" --quiet
		[ -e "$name.heapdb" ] || fail "no $name.heapdb: $(ls)"
	done
	rm -f "java_pid$pid".heapdb* "java_pid$pid-2".heapdb*
	# Existing files stay, and no request is sent to the VM.
	capture 2 "$pid" -o counts.heapdb
	grep -q 'already exists; --force replaces it' said || fail "exists: $(cat said)"
	capture 4 "$pid" -o nowhere/x.heapdb
	rm -f counts.hprof
	stop_vms
}

stopped()
{
	vm stopped 1000
	for _ in 1 2; do
		kill -STOP "$pid"
		capture 4 "$pid" -o stopped.heapdb --timeout 1
		grep -q 'did not answer within 1 s; it is stopped' said || fail "stopped: $(cat said)"
		[ ! -e stopped.heapdb ] || fail "a database of a stopped VM"
		clean stopped
		kill -CONT "$pid"
		lives stopped.heapdb
		rm -f stopped.heapdb
		clean stopped
	done
	grep -q 'Full thread dump' stopped/out && fail "a stopped VM printed its threads"
	stop_vms
}

# begin OPTION...: starts a capture that stops when the VM begins to write. Its PID is in $capturing.
begin()
{
	"$heapdb" capture "$pid" -o half.heapdb --tmp "$place" "$@" > printed 2> said &
	capturing=$!
	at_work
	kill -STOP "$capturing"
}

# ended CODE TEXT: checks the end of the capture.
ended()
{
	kill -CONT "$capturing" 2> /dev/null || true
	code=0
	wait "$capturing" || code=$?
	[ "$code" -eq "$1" ] || fail "exit $code, not $1: $(cat said)"
	[ -z "$2" ] || grep -q "$2" said || fail "said, where \"$2\" was expected: $(cat said)"
	[ ! -e half.heapdb ] || fail "half a database"
}

halfway()
{
	vm half 120000
	lives whole.heapdb
	# Interrupted, killed, and the VM stopped in the middle: afterwards it continues. (A shell lets its background
	# jobs ignore SIGINT.)
	begin
	kill -TERM "$capturing"
	ended 143 interrupted
	clean half
	lives whole.heapdb
	begin
	kill -KILL "$capturing"
	ended 137 ''
	clean half
	lives whole.heapdb
	rm -f half.heapdb.importing* half.heapdb-lock
	begin --timeout 1
	kill -STOP "$pid"
	ended 4 'is stopped'
	kill -CONT "$pid"
	clean half
	lives whole.heapdb
	# The VM dies. The file that --force would have replaced stays.
	begin
	kill -KILL "$pid"
	ended 4 'ended while dumping its heap'
	clean half
	capture 3 "$pid" -o whole.heapdb --force
	grep -q "no such process: $pid" said || fail "a dead VM: $(cat said)"
	"$heapdb" check --db whole.heapdb > out || fail "the old database: $(cat out)"
	rm -f whole.heapdb*
}

no_space()
{
	mkdir -p small
	mount -t tmpfs -o size=1m none small 2> /dev/null || return 0
	vm space 60000
	capture 4 "$pid" -o small/x.heapdb
	grep -q 'no space left on the disk' said || fail "no space: $(cat said)"
	[ -z "$(find small -name '*.heapdb')" ] || fail "a database without space"
	clean space
	# The VM writes parts first, and its disk is full.
	if "$home/bin/jcmd" "$pid" help GC.heap_dump | grep -q parallel; then
		mkdir -p small/place
		"$heapdb" capture "$pid" -o x.heapdb --parallel 2 --tmp "$PWD/small/place" > printed 2> said &&
			fail "dumped without space"
		grep -q 'No space left on device; use --tmp DIR' said || fail "VM without space: $(cat said)"
		[ ! -e x.heapdb ] || fail "a database of half a dump"
		[ -z "$(find small/place -name '.heapdb*')" ] || fail "left behind: $(find small/place)"
	fi
	umount small
	lives x.heapdb
	rm -f x.heapdb
	stop_vms
}

refused()
{
	vm refused 1000 -XX:+DisableAttachMechanism
	capture 4 "$pid" -o refused.heapdb
	grep -q 'DisableAttachMechanism' said || fail "it lets nobody attach: $(cat said)"
	kill "$pid"
	vm refused 1000 -XX:-UsePerfData
	"$heapdb" capture --csv --columns pid,main_class | grep -q "^$pid,Quiet" || fail "without counters: not listed"
	lives refused.heapdb
	clean refused
	kill "$pid"
	vm refused 1000 -Xrs
	lives refused.heapdb
	clean refused
	stop_vms
	rm -f refused.heapdb
}

# As root: the VM of another user, captured by root, by that user, and by a third one.
users()
{
	other="setpriv --reuid=65534 --regid=65534 --clear-groups"
	if ! $other test -r "$classes/Quiet.class" -a -x "$java" 2> /dev/null; then
		echo "another user cannot read $classes: not tried"
		return 0
	fi
	forget_dead_vms
	mkdir -p other theirs
	chown 65534:65534 other theirs
	: > other/out
	as=$other
	vm other 1000
	as=
	chmod 1777 "$place"
	capture 0 "$pid" -o other.heapdb --quiet
	[ "$(stat -c %u other.heapdb)" = 0 ] || fail "the database is not root's"
	clean other
	run=$other
	capture 0 "$pid" -o theirs/x.heapdb --quiet
	clean other
	vm users 1000
	capture 4 "$pid" -o theirs/y.heapdb
	grep -q 'belongs to user 0' said || fail "of another user: $(cat said)"
	$run "$heapdb" capture > printed 2> said
	grep -q 'cannot inspect' said || fail "list: $(cat said)"
	run=
	clean users
	rm -f other.heapdb theirs/*
	stop_vms
}

# A VM in its own PID namespace and with its own /tmp, captured from outside and from inside.
namespaces()
{
	mkdir -p inside
	cat > inside/run << 'SHELL'
mount -t tmpfs none /tmp || exit 9
"$java" -XX:+UseSerialGC -Xmx100m -cp "$classes" Quiet 1000 > out 2>&1 &
vm=$!
while ! grep -q ready out; do sleep 0.1; done
echo $vm > vm
: > begun
while [ ! -e go ]; do sleep 0.1; done
"$heapdb" capture --csv --columns pid,main_class,container > list 2>&1
"$heapdb" capture $vm -o inside.heapdb --quiet > said 2>&1
echo $? > code
ls -A /tmp > left
kill -9 $vm
SHELL
	(cd inside && export java classes heapdb && exec unshare -p -m -f --mount-proc sh run) > inside/log 2>&1 &
	for _ in $(seq 300); do
		[ -e inside/begun ] && break
		kill -0 $! 2> /dev/null || break
		sleep 0.1
	done
	if [ ! -e inside/begun ]; then
		echo "no namespaces of our own here: not tried"
		return 0
	fi
	pid=$("$heapdb" capture --csv --columns pid,main_class,container |
		sed -n 's/^\([0-9]*\),Quiet,another namespace$/\1/p')
	if [ "$pid" ] && [ "$pid" != "$(cat inside/vm)" ]; then
		"$heapdb" capture "$pid" -o outside.heapdb --quiet > printed 2> said ||
			fail "into a namespace: $(cat said)"
		"$heapdb" check --db outside.heapdb > out || fail "check: $(cat out)"
	else
		fail "the VM in another namespace is not in the list, or under PID \"$pid\""
	fi
	left=$(find "/proc/$pid/root/tmp/" inside -maxdepth 1 -name '.attach_pid*' -o -maxdepth 1 -name '.heapdb-*')
	[ -z "$left" ] || fail "left behind: $left"
	: > inside/go
	wait $! || true
	[ "$(cat inside/code)" = 0 ] || fail "inside a namespace: $(cat inside/said)"
	grep -q "^$(cat inside/vm),Quiet,\$" inside/list || fail "list inside: $(cat inside/list)"
	grep -q '^\.attach\|^\.heapdb' inside/left && fail "left inside: $(cat inside/left)"
	rm -rf inside outside.heapdb
}

tried=0
seen=
for home in /usr/lib/jvm/*; do
	[ -d "$home" ] || continue
	home=$(readlink -f "$home")
	case " $seen " in *" $home "*) continue ;; esac
	seen="$seen $home"
	java=$home/bin/java
	[ -x "$home/bin/jcmd" ] || continue
	[ -x "$home/bin/javac" ] || continue
	version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$home/release")
	jdk="JDK $version"
	classes=$work/classes$version
	place=$work/place$version
	run='' as=''
	mkdir -p "$place" "$classes" "$work/$version"
	cd "$work/$version"
	"$home/bin/javac" -J-XX:TieredStopAtLevel=1 -d "$classes" "$work/Quiet.java"
	for part in counts stopped halfway refused; do
		$part
	done
	if [ "$(id -u)" -eq 0 ]; then
		users
		namespaces
		no_space
	fi
	tried=$((tried + 1))
	echo "$jdk: done"
done
[ $tried -gt 0 ] || { echo "no JDK in /usr/lib/jvm"; exit 77; }
exit $failed
