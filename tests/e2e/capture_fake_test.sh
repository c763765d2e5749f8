#!/bin/sh
# capture_fake_test.sh - `heapdb capture` of processes that only look like a HotSpot VM (fake_vm.py): both versions of
# the protocol, an old VM that cannot write to a pipe, garbage, silence, foreign sockets, random hsperfdata files; and
# of an Android app, with a fake adb.
set -eu
[ -r /proc/self/stat ] || { echo "no /proc here"; exit 77; }
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
work=$(mktemp -d)
pid=
folder=/tmp/hsperfdata_heapdb-test-$$
stop()
{
	# shellcheck disable=SC2086
	[ -z "$pid" ] || kill -9 $pid $children 2> /dev/null || true
	[ -z "$pid" ] || rm -f "/tmp/.java_pid$pid" "/tmp/.java_pid$pid.tmp"
	pid=
}
children=
trap 'stop; rm -rf "$work" "$folder"' EXIT
cd "$work"
mkdir place vm
head -c 4096 /dev/zero > libjvm.so
failed=0
fail()
{
	echo "FAILED: $*"
	failed=1
}

cat > want.classes << 'EOF'
byte[],9999,159984,java.base@17.0.1
p.Inner$A[][],9998,159968,p@1
p.A,9997,159952,
int[][],9996,159936,
[],9995,159920,
EOF
heapdb import "$DUMP" -o want.heapdb --quiet > /dev/null
heapdb query histogram --csv --limit all --db want.heapdb > want

# fake MODE: starts it. Its PID is in $pid.
fake()
{
	stop
	: > vm.out
	(cd vm && exec python3 "$HDB_ROOT/tests/e2e/fake_vm.py" "$1" "$DUMP" "$work/libjvm.so") > vm.out 2>&1 &
	pid=$!
	for _ in $(seq 300); do
		grep -q ready vm.out && break
		sleep 0.05
	done
	children=$(cat "/proc/$pid/task/$pid/children" 2> /dev/null || true)
}

# capture CODE TEXT OPTION...: checks exit status and output, and that no file is left behind.
capture()
{
	want=$1 text=$2 code=0
	shift 2
	heapdb capture "$@" > printed 2> said || code=$?
	[ "$code" -eq "$want" ] || fail "$what: exit $code, not $want: $(cat said)"
	[ -z "$text" ] || grep -q -e "$text" said || fail "$what: said, where \"$text\" was expected: $(cat said)"
	left=$(find place vm -mindepth 1; find /tmp -maxdepth 1 -name ".attach_pid$pid")
	[ -z "$left" ] || fail "$what: left behind: $left"
	[ "$want" -eq 0 ] || [ ! -e x.heapdb ] || fail "$what: a database all the same"
}

# same: the database equals that of the dump.
same()
{
	heapdb query histogram --csv --limit all --db x.heapdb > have
	cmp want have || fail "$what: another histogram"
	heapdb check --db x.heapdb > out || fail "$what: $(cat out)"
	heapdb export dump --db x.heapdb | cmp - "$DUMP" || fail "$what: other bytes"
	rm -f x.heapdb*
}

try()
{
	what=$1
	fake "$1"
	shift
	capture "$@" "$pid" -o x.heapdb --tmp "$work/place"
}

try v1 0 ''
grep -q '^The JVM was paused for at most 0\.[0-9]* s and wrote ' printed || fail "pause: $(cat printed)"
same
grep -q "request 1 .'jcmd', 'GC.heap_dump -overwrite /" vm.out || fail "v1: $(cat vm.out)"
try v1 0 '--parallel has no effect' --all --gz 3 --parallel 4
same
grep -q "'GC.heap_dump -overwrite -all -gz=3 /" vm.out || fail "options: $(cat vm.out)"
try v2 0 ''
same
grep -q "request 2 .'jcmd', 'GC.heap_dump -overwrite /[^ ]*'.\$" vm.out || fail "v2: $(cat vm.out)"
try old 0 'this VM cannot dump into a pipe'
same
grep -q "request 1 .'dumpheap', '/.*dump.hprof', '-live', ''" vm.out || fail "old: $(cat vm.out)"
try old 0 '' --all
same
grep -q "'-all', ''" vm.out || fail "old --all: $(cat vm.out)"
try fails 4 'could not dump its heap: Unable to create .*: \\x1b\[31mPermission denied'
try space 4 'could not dump its heap: Dump file is incomplete: No space left on device; use --tmp'
try dies 4 'ended while dumping its heap'
try garbage 3 'unexpected answer from process'
try closes 4 'closed the connection'
try exits 4 'ended before answering'
try hangs 4 'did not answer within 1 s' --timeout 1
try endless 4 'did not answer within 1 s' --timeout 1
try deaf 4 'did not answer within 1 s' --timeout 1
try open 4 'cannot be trusted: another user created it, or other users can access it'
try stolen 4 "the socket of process [0-9]* belongs to another process"
try file 4 'is not a socket'
try link 4 'is not a socket'
try nohandler 4 'has no SIGQUIT handler' --timeout 1
kill -0 "$pid" || fail "nohandler: it was ended"
stop

# ask CODE TEXT OPTION...: the same without a dump.
ask()
{
	code=0 want=$1 text=$2
	shift 2
	heapdb capture "$pid" "$@" > printed 2> said || code=$?
	[ "$code" -eq "$want" ] || fail "$*: exit $code, not $want: $(cat said)"
	[ -z "$text" ] || grep -q -e "$text" said || fail "$*: said, where \"$text\" was expected: $(cat said)"
}
what=questions
fake v1
ask 0 '' --histogram --csv
[ "$(wc -l < printed)" -eq 2006 ] || fail "histogram: $(wc -l < printed) lines"
head -n 6 printed | tail -n 5 | diff -u - want.classes || fail "histogram: other classes"
grep -q "'inspectheap', '-live', ''" vm.out || fail "histogram: $(cat vm.out)"
ask 0 '' --histogram --all --limit 1 --json
grep -q '"row_count":1,"total_rows":2005' printed || fail "histogram: $(cat printed)"
grep -q "'inspectheap', '-all', ''" vm.out || fail "histogram --all: $(cat vm.out)"
ask 0 '' --stacks
grep -q '^"\\x1b\[31mred" #1$' printed || fail "stacks: a control character"
grep -q '^	at a.B.c' printed || fail "stacks: no tab"
[ "$(tail -n 1 printed)" = end ] || fail "stacks are cut"
ask 2 'cannot be combined' --stacks --histogram
ask 2 'unknown option --gz for --stacks' --stacks --gz 1
ask 2 'unknown option --all for --stacks' --stacks --all
ask 2 'for --stacks' --stacks --csv
ask 2 'for --histogram' --histogram --force
fake fails
ask 4 'could not answer: Permission denied' --histogram
fake closes
ask 4 'closed the connection' --stacks
fake hangs
ask 4 'did not answer within 1 s' --stacks --timeout 1
stop

what="no VM"
sleep 1000 &
pid=$!
capture 3 'is not a HotSpot VM: it has not loaded libjvm.so' $pid
kill -0 $pid || fail "$what: it was ended"
stop
capture 2 'is not a PID' 12x
capture 2 'is not a PID' 0
capture 2 'is not a PID' 99999999999999999999
capture 2 'expected one process' 1 2
capture 2 'cannot be combined' --live --all 1
capture 2 'captured dump is not a file' --contents refer 1
capture 2 '--serial requires --adb' --serial x 1
capture 3 'no such process' 2147483647

# Random hsperfdata: output is escaped, and nothing hangs.
what=hsperfdata
fake v1
mkdir "$folder"
listed()
{
	timeout 20 heapdb capture --csv > list 2> said || fail "$what: $1: $(cat said)"
	grep -q "^$pid,.*$2" list || fail "$what: $1: $(cat list)"
}
cat > perfdata.py << 'PYTHON'
"""Writes a file of counters: name=text or name=number each."""
import struct, sys
entries = b''
for word in sys.argv[2:]:
    name, value = word.split('=', 1)
    name = name.encode() + b'\0'
    data = struct.pack('<q', int(value)) if value.lstrip('-').isdigit() else value.encode() + b'\0'
    at = (20 + len(name) + 7) & ~7
    size = (at + len(data) + 7) & ~7
    head = struct.pack('<iiiBBBBi', size, 20, 0 if len(data) == 8 and value.lstrip('-').isdigit() else len(data),
                       ord('J') if value.lstrip('-').isdigit() else ord('B'), 0, 1, 1, at)
    entries += (head + name).ljust(at, b'\0') + data.ljust(size - at, b'\0')
head = struct.pack('>I', 0xcafec0c0) + struct.pack('<BBBBiiqii', 1, 2, 0, 1, 32 + len(entries), 0, 0, 32,
                                                   len(sys.argv) - 2)
open(sys.argv[1], 'wb').write(head + entries)
PYTHON
python3 perfdata.py "$folder/$pid" 'sun.rt.javaCommand=a.B c d' java.property.java.version=21.0.1 \
	sun.gc.generation.0.space.0.used=12 sun.gc.generation.0.space.0.capacity=34
listed whole ',a.B,.*,21.0.1,12,34'
python3 perfdata.py "$folder/$pid" "$(printf 'sun.rt.javaCommand=\033[2Ja,\"b\n')" 'java.property.java.version=x'
listed 'escape sequences' ',x,'
heapdb capture | grep -q "$(printf '\033')" && fail "escape sequences reach a terminal"
heapdb capture --json | python3 -c 'import json, sys; json.load(sys.stdin)' || fail "JSON of escape sequences"
python3 perfdata.py "$folder/$pid" sun.rt.jvmCapabilities=0-
capture 4 DisableAttachMechanism "$pid"
head -c 100000 /dev/urandom > "$folder/$pid"
listed 'random bytes' ''
rm "$folder/$pid"
mkfifo "$folder/$pid"
listed 'a pipe' ''
rm "$folder/$pid"
ln -s /dev/zero "$folder/$pid"
listed 'a link' ''
rm -rf "$folder"
stop

# An Android device: adb executes commands here, and the device's files are in a directory.
mkdir bin device
cat > bin/adb << 'SHELL'
#!/bin/sh
echo "$@" >> "$ADB_LOG"
if [ "$1" = -s ]; then
	[ "$2" = emulator-5554 ] || { echo "error: device '$2' not found" >&2; exit 1; }
	shift 2
fi
case $ADB_MODE in none) echo "error: no devices/emulators found" >&2; exit 1 ;; esac
for last; do :; done
file=$ADB_DEVICE/$(basename "$last")
case "$1 $2 $3" in
"get-state "*) echo device ;;
"shell am dumpheap")
	case $* in
	*com.example.none*) echo "java.lang.IllegalArgumentException: Unknown process: x"; exit 1 ;;
	*com.example.release*) echo "java.lang.SecurityException: Process not debuggable: x"; exit 255 ;;
	esac
	case $ADB_MODE in
	old) case $* in *' -g '*) echo "Error: Unknown option: -g"; exit 1 ;; esac
		(sleep 1; cp "$DUMP" "$file") > /dev/null 2>&1 & ;;
	empty) ;;
	*) cp "$DUMP" "$file" ;;
	esac
	echo "File: $last" ;;
"shell wc -c") [ -e "$file" ] || { echo "wc: $last: No such file or directory"; exit 1; }
	echo "$(wc -c < "$file") $last" ;;
"exec-out cat "*)
	case $ADB_MODE in
	cut) head -c 100000 "$file"; exit 1 ;;
	*) cat "$file" ;;
	esac ;;
"shell rm -f") rm -f "$file" ;;
*) echo "adb: unknown $*"; exit 1 ;;
esac
SHELL
chmod 755 bin/adb
PATH=$work/bin:$PATH
ADB_LOG=$work/adb.log ADB_DEVICE=$work/device ADB_MODE=
export PATH ADB_LOG ADB_DEVICE ADB_MODE

# app MODE CODE TEXT OPTION...
app()
{
	ADB_MODE=$1 what="adb $1"
	shift
	: > adb.log
	capture "$@"
	[ -z "$(ls device)" ] || fail "$what: left on the device: $(ls device)"
}
app '' 0 '' --adb com.example.app:remote -o x.heapdb
grep -q 'shell am dumpheap -g com.example.app:remote /data/local/tmp/heapdb-.*\.hprof' adb.log || fail "$(cat adb.log)"
heapdb info --csv --db x.heapdb | grep -q 'app com.example.app:remote' || fail "the database does not name the app"
same
app '' 0 '' --adb com.example.app
mv com.example.app.heapdb x.heapdb
same
app '' 0 '' --adb 1234 --serial emulator-5554 --all -o x.heapdb
grep -q '^-s emulator-5554 shell am dumpheap 1234 /data' adb.log || fail "$(cat adb.log)"
same
app old 0 'may contain unreachable objects' --adb com.example.app -o x.heapdb
same
app empty 4 'the device wrote no dump within 1 s' --adb com.example.app -o x.heapdb --timeout 1
app cut 4 'adb returned 100000 of [0-9]* bytes' --adb com.example.app -o x.heapdb
app none 4 'no devices/emulators found' --adb com.example.app -o x.heapdb
app '' 4 "device 'nope' not found" --adb com.example.app --serial nope -o x.heapdb
app '' 3 'no such process on the device: com.example.none' --adb com.example.none -o x.heapdb
app '' 4 'Process not debuggable' --adb com.example.release -o x.heapdb
# Special characters never reach the device's shell.
# shellcheck disable=SC2016
for name in 'a;reboot' 'a b' '$(x)' '-x' '' 'a`x`' 'a/../b'; do
	app '' 2 'is not a process name' --adb="$name" -o x.heapdb
	[ ! -s adb.log ] || fail "adb was called for \"$name\": $(cat adb.log)"
done
PATH=/nowhere:$(dirname "$(command -v heapdb)"):/usr/bin:/bin
rm bin/adb
if ! command -v adb > /dev/null; then
	capture 4 'adb: is not installed, or not on PATH' --adb com.example.app -o x.heapdb
fi
exit $failed
