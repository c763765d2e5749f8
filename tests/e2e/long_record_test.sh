#!/bin/sh
# long_record_test.sh - a HEAP_DUMP record of 4.8 GB, whose length does not fit in its four bytes, with an array of 4.8
# GB and an object after it: import and strip find both, and the output of strip is complete, too. The dump is
# compressed and small.
# Slow: 4.8 GB are read.
set -eu
for tool in zstd python3; do
	command -v $tool > /dev/null || { echo "no $tool here"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
fail() { echo "FAILED: $*"; failed=1; }

python3 - << 'END'
import struct
def ids(v): return struct.pack(">Q", v)
def record(tag, body): return struct.pack(">BII", tag, 0, len(body)) + body
def class_dump(i, up): return b"\x20" + ids(i) + bytes(4) + ids(up) + ids(0) * 5 + bytes(10)
def array(i, n): return b"\x23" + ids(i) + struct.pack(">IIB", 0, n, 11)
head = b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, 1)
for i, name in (1, b"java/lang/Object"), (2, b"java/lang/Class"), (3, b"[J"):
    head += record(1, ids(i) + name)
    head += record(2, struct.pack(">IQIQ", i, 0x1000 * i, 0, i))
before = class_dump(0x1000, 0) + class_dump(0x2000, 0x1000) + class_dump(0x3000, 0x1000)
before += b"\xff" + ids(0x10000) + b"\xff" + ids(0x200000000) + array(0x10000, 600_000_000)
behind = array(0x200000000, 3) + bytes(range(24))
size = len(before) + 4_800_000_000 + len(behind)
open("head", "wb").write(head + struct.pack(">BII", 0x0C, 0, size % 2**32) + before)
open("behind", "wb").write(behind)
END
{ cat head; head -c 4800000000 /dev/zero; cat behind; } | zstd -q -1 > long.hprof.zst

# has FILE: both arrays are complete.
has() {
	heapdb import "$1" -o "$1.heapdb" --memory 64M > import.out 2>&1 || fail "$1: $(cat import.out)"
	heapdb query histogram 'long[]' --db "$1.heapdb" --csv > histogram.csv ||
		fail "$1: no histogram"
	grep -q '^long\[\],<boot>,2,4800000512,' histogram.csv || fail "$1: $(cat histogram.csv)"
}
has long.hprof.zst
heapdb strip long.hprof.zst stripped.hprof.zst > strip.out || fail "strip: $(cat strip.out)"
grep -q 'instances and arrays: 2$' strip.out || fail "strip: $(cat strip.out)"
has stripped.hprof.zst
exit $failed
