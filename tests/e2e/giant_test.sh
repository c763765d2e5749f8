#!/bin/sh
# giant_test.sh - a string, a class name, a field name and an array of one gigabyte (of zeros, which need no space on
# disk): import and answers take seconds and little memory, no answer is long, and truncation is reported.
# HEAPDB_HOSTILE=long runs every query on all of them; otherwise a class and an array are tested.
set -eu
command -v python3 > /dev/null || {
	echo "python3 is not installed"
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
fail() {
	echo "FAILED: $*"
	failed=1
}
GIANT=1073741824
# Anonymous memory in KiB. With sanitizers, which reserve memory, the figure is meaningless.
MEMORY_MAX=200000
# CPU seconds per command.
SECONDS_MAX=20
# Maximum size of an answer in bytes: a string shows its first thousands of bytes, and there are few rows.
ANSWER_MAX=1500000

cat > giant.py << 'END'
import struct, sys
path, kind, giant = sys.argv[1], sys.argv[2], int(sys.argv[3])
OBJECT, CLASS, STRING, BYTES, NODE = 0x1000, 0x1100, 0x1200, 0x1300, 0x1400
f = open(path, 'wb')
f.write(b'JAVA PROFILE 1.0.2\0' + struct.pack('>IQ', 8, 0))
def record(tag, body):
    f.write(struct.pack('>BII', tag, 0, len(body)) + body)
names = [b'java/lang/Object', b'java/lang/Class', b'java/lang/String', b'[B', b'p/Node', b'value', b'coder']
for i, name in enumerate(names):
    record(1, struct.pack('>Q', i + 1) + name)
if kind != 'array':
    f.write(struct.pack('>BIIQ', 1, 0, 8 + giant, 99) + b'giant/Name')
    f.seek(giant - 10, 1)
for i, c in enumerate((OBJECT, CLASS, STRING, BYTES, NODE)):
    record(2, struct.pack('>IQIQ', i + 1, c, 0, 99 if c == NODE and kind == 'class' else i + 1))
def a_class(c, above, fields, size):
    return struct.pack('>BQIQQQQQQIHHH', 0x20, c, 0, above, 0, 0, 0, 0, 0, size, 0, 0, len(fields)) + \
        b''.join(struct.pack('>QB', name, kind) for name, kind in fields)
def instance(o, c, body):
    return struct.pack('>BQIQI', 0x21, o, 0, c, len(body)) + body
heap = a_class(OBJECT, 0, [], 0) + a_class(CLASS, OBJECT, [], 0) + a_class(BYTES, OBJECT, [], 0)
heap += a_class(STRING, OBJECT, [(6, 2), (7, 8)], 9)
heap += a_class(NODE, OBJECT, [(99 if kind == 'field' else 6, 2)], 8)
heap += instance(0x20000, STRING, struct.pack('>QB', 0x40000, 0))
heap += instance(0x20020, NODE, struct.pack('>Q', 0x20000))
heap += struct.pack('>BQ', 5, 0x20020)
size = giant if kind == 'array' else 16
heap += struct.pack('>BQIIB', 0x23, 0x40000, 0, size, 8)
f.write(struct.pack('>BII', 0x1c, 0, len(heap) + size) + heap)
f.seek(size - 1, 1)
f.write(b'\0' + struct.pack('>BII', 0x2c, 0, 0))
END

sanitized=no
# Sanitizers and coverage counters are slow.
case $BUILD in *san* | *cov*) sanitized=yes SECONDS_MAX=200 ;; esac

# ask EXIT COMMAND...: writes the answer to out.
ask() {
	want=$1 got=0
	shift
	(
		# shellcheck disable=SC3045 # sh has them
		[ $sanitized = yes ] || ulimit -d $MEMORY_MAX
		# shellcheck disable=SC3045
		ulimit -t $SECONDS_MAX
		exec "$@" > out 2> err
	) || got=$?
	if [ $got -ne "$want" ]; then
		fail "exit $got, $want expected: $*"
		head -c 500 err
	fi
	[ "$(stat -c %s out)" -le $ANSWER_MAX ] || fail "an answer of $(stat -c %s out) bytes: $*"
}

kinds="class array"
[ "${HEAPDB_HOSTILE:-}" != long ] || kinds="class array field text"
for kind in $kinds; do
	python3 giant.py giant.hprof "$kind" $GIANT
	ask 0 heapdb import giant.hprof -o giant.heapdb --force
	[ "$(stat -c %s giant.heapdb)" -lt 4000000 ] || fail "a database of $(stat -c %s giant.heapdb) bytes"
	HEAPDB=giant.heapdb
	export HEAPDB
	if [ "$kind" != array ]; then
		ask 0 heapdb info --problems --json
		grep -q long-text out || fail "what was cut is not said"
	fi
	ask 0 heapdb query class '*'
	[ "$kind" != class ] || grep -q "giant.Name" out || fail "no class giant.Name"
	ask 0 heapdb query class '*' --json
	ask 0 heapdb query histogram
	ask 0 heapdb query histogram --json
	ask 0 heapdb query object 0x20020 --json
	ask 0 heapdb query object 0x20000
	ask 0 heapdb query strings --json
	ask 0 heapdb query strings
	[ "${HEAPDB_HOSTILE:-}" = long ] || [ "$kind" = array ] || continue
	ask 0 heapdb query strings --match giant
	ask 0 heapdb query duplicates --json
	ask 0 heapdb query arrays
	ask 0 heapdb query object 0x40000
	ask 0 heapdb query object 0x40000 --json --limit 100
	ask 0 heapdb query group-by-value java.lang.String
	[ "${HEAPDB_HOSTILE:-}" = long ] || continue
	ask 0 heapdb query layout 0x1400
	ask 0 heapdb query substrings
	ask 0 heapdb query properties
	ask 0 heapdb report
	ask 0 heapdb report --json
	ask 0 heapdb check
	ask 0 heapdb export objects --json
	ask 0 heapdb diff giant.heapdb giant.heapdb
	ask 0 heapdb diff giant.heapdb giant.heapdb --by object --json
done
exit $failed
