#!/bin/sh
# canaries_formats_test.sh - texts that should be secret, planted in a portable heap dump's javacore, in a Perfetto
# trace and in a Flight Recorder recording, are searched for in everything that is made of them. Only names of classes,
# methods, sources and threads are kept, and a report without values has no names of threads either. All new files have
# mode 0600, and nothing else is left. canaries_test has the canaries of HPROF dumps.
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
cd "$TMPDIR"
umask 022
export PYTHONPATH="$HDB_ROOT/tests/oracle:$HDB_ROOT/tests/support:$HDB_ROOT/tests/e2e"
failed=0
fail() { echo "FAILED: $*"; failed=1; }

# search KEPT FILE...: searches for canaries, in bytes and UTF-16, that are not in the list. All files must have mode
# 0600, and each of KEPT must occur, which shows that the search works.
cat > search.py << 'END'
import re, stat, os, sys
kept, found, bad = set(sys.argv[1].split()), set(), 0
for name in sys.argv[2:]:
    data = open(name, 'rb').read()
    if stat.S_IMODE(os.stat(name).st_mode) != 0o600:
        sys.exit(f'mode of {name}')
    for text in (data, data[::2], data[1::2]):
        found |= {m.decode() for m in re.findall(rb'CANARYx((?:(?!CANARYx)[A-Z])+)', text)}
    if found - kept:
        sys.exit(f'{name}: {sorted(found - kept)}')
if kept - found:
    sys.exit(f'lost in {sys.argv[2:]}: {kept - found}')
END
search() { python3 search.py "$@" || fail "$*"; }

# derive IN KEPT MORE...: everything that is made of a file. MORE selects the heap dump of several.
derive() {
	in=$1 kept=$2
	shift 2
	mkdir out
	heapdb import "$in" -o out/x.heapdb --quiet "$@" > /dev/null 2>&1 || fail "import $in"
	heapdb convert "$in" out/c.hprof "$@" > /dev/null || fail "convert $in"
	heapdb redact out/c.hprof out/r.hprof > /dev/null || fail "redact $in"
	heapdb strip out/c.hprof out/s.hprof --zero primitives > /dev/null || fail "strip $in"
	heapdb export dump -o out/e.hprof --db out/x.heapdb --quiet || fail "export $in"
	for file in x.heapdb c.hprof r.hprof s.hprof e.hprof; do search "$kept" out/$file; done
	heapdb secrets --db out/x.heapdb --json > secrets.json 2> /dev/null || fail "secrets $in"
	grep -q CANARYx secrets.json && fail "secrets $in"
	heapdb report --db out/x.heapdb --html out/r.html --no-values --quiet || fail "report $in"
	search "$(echo "$kept" | sed 's/THREAD//')" out/r.html
	ls -A out > left
	printf '%s\n' c.hprof e.hprof r.hprof r.html s.hprof x.heapdb x.heapdb-lock | cmp - left || fail "left of $in"
	rm -r out
	# Neither command reads these formats, and both name the command that does.
	for command in redact strip; do
		heapdb $command "$in" r.hprof 2> err && fail "$command $in"
		grep -q 'heapdb convert writes it' err || grep -q "heapdb convert writes its heap" err ||
			fail "$command $in: $(cat err)"
		[ ! -e r.hprof ] || fail "$command $in left a file"
	done
}

# A javacore lists the environment and the arguments.
phd=heapdump.20240203.040506.77.0001.phd
python3 "$HDB_ROOT/tests/oracle/phd_make.py" 6 64 0 4 $phd > thread
cat > javacore.20240203.040506.77.0002.txt << END
1CIUSERARG              -Dpassword=CANARYxARGUMENT
2CIENVVAR               TOKEN=CANARYxENVIRONMENT
3XMTHREADINFO      "CANARYxTHREAD" J9VMThread:0x2D00500, j9thread_t:0x1, java/lang/Thread:0x$(cat thread), state:R
3XMTHREADINFO3           Java callstack: CANARYxCALLSTACK
4XESTACKTRACE                at app/Node.CANARYxMETHOD(CANARYxSOURCE.java:31(Compiled Code))
5XESTACKTRACE                   (entered lock: CANARYxLOCK@0x00000000E0001234, entry count: 1)
2LKMONINUSE      CANARYxMONITOR
END
derive $phd "METHOD SOURCE THREAD"

# A trace records much more than the heap: here each other field of a packet is a canary.
python3 "$HDB_ROOT/tests/oracle/perfetto_small.py"
python3 "$HDB_ROOT/tests/oracle/perfetto_trace.py" small.hprof small.pftrace
python3 - << 'END'
from proto import number, text
data = open('small.pftrace', 'rb').read()
names = data.replace(b'app.Node', b'CANARYxN')
with open('small.pftrace', 'wb') as out:
    out.write(names)
    for field in range(2, 130):
        if field not in (6, 8, 10, 41, 42, 50, 56, 64):
            inner = b'CANARYxPACKET'
            out.write(text(1, number(8, 5) + number(10, 3) + text(field, text(1, text(2, inner) + text(3, inner)))))
END
derive small.pftrace N --snapshot 2

# A recording describes objects and names threads.
python3 - << 'END'
import jfr_make as m
r = m.Recording()
thread = r.thread('CANARYxTHREAD', 7)
stack = r.stack(('com/acme/CANARYxCLASS', 'CANARYxMETHOD', 31))
root = r.constant('jdk.types.OldObjectGcRoot', m.text('CANARYxROOT'))
for i in range(40):
    o = r.constant('jdk.types.OldObject', 0x80000000 + 16 * i, r.cls('java/util/HashMap$Node'), m.text('CANARYxOBJECT'))
    r.event('jdk.OldObjectSample', 5000 + i, thread, stack, 1000 + i, 4000, 1 << 20, o, 0x80000000, root)
    r.event('jdk.ObjectAllocationSample', 3000 + i, thread, stack, r.cls('[B'), 1000)
r.event('jdk.ThreadCPULoad', 6000, thread, *[__import__('struct').pack('>f', 0.25)] * 2)
open('x.jfr', 'wb').write(r.data())
END
mkdir out
heapdb import "$DUMP" -o out/s.heapdb --quiet > /dev/null
heapdb report --db out/s.heapdb --html out/r.html --with x.jfr --quiet
search "CLASS METHOD THREAD" out/r.html
heapdb report --db out/s.heapdb --html out/r.html --with x.jfr --no-values --force --quiet
search "CLASS METHOD" out/r.html
heapdb leaks --db out/s.heapdb --jfr x.jfr > /dev/null 2>&1
search "" out/s.heapdb
heapdb jfr x.jfr -o out/j.json
search "CLASS METHOD OBJECT ROOT THREAD" out/j.json
ls -A out > left
printf '%s\n' j.json r.html s.heapdb s.heapdb-lock | cmp - left || fail "left of the recording"
exit $failed
