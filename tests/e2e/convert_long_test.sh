#!/bin/sh
# convert_long_test.sh - convert --segments of heap records with a wrong length: 4.8 GB, which does not fit in four
# bytes (the dump is sparse and needs no space), and 0, which VMs and KOOM leave when they are stopped. It writes
# segments with correct lengths, which end where the next record begins and contain the same objects.
# Slow: large dumps are made and read.
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
fail() { echo "FAILED: $*"; failed=1; }

cat > make.py << 'END'
import struct, sys
def ids(v): return struct.pack(">Q", v)
def record(tag, body): return struct.pack(">BII", tag, 0, len(body)) + body
def class_dump(i, up): return b"\x20" + ids(i) + bytes(4) + ids(up) + ids(0) * 5 + bytes(10)
def array(i, n): return b"\x23" + ids(i) + struct.pack(">IIB", 0, n, 11)
# The tag, the number of longs in each of the large arrays, and whether the length is 0.
path, tag, longs, is_zero = sys.argv[1], int(sys.argv[2], 16), int(sys.argv[3]), sys.argv[4] == "zero"
f = open(path, "wb")
f.write(b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, 1))
for i, name in (1, b"java/lang/Object"), (2, b"java/lang/Class"), (3, b"[J"):
    f.write(record(1, ids(i) + name) + record(2, struct.pack(">IQIQ", i, 0x1000 * i, 0, i)))
size_at = f.tell() + 5
f.write(struct.pack(">BII", tag, 0, 0))
start = f.tell()
f.write(class_dump(0x1000, 0) + class_dump(0x2000, 0x1000) + class_dump(0x3000, 0x1000))
for i in range(4):
    at = 0x10000 + i * 0x100000000
    f.write(b"\xff" + ids(at) + b"\xff" + ids(at + 64) + array(at, longs))
    f.seek(8 * longs, 1)
    f.write(array(at + 64 if longs < 4 else at + 16 * longs, 3) + bytes(range(24)))
end = f.tell()
if not is_zero:
    f.seek(size_at)
    f.write(struct.pack(">I", (end - start) % 2**32))
    f.seek(end)
if tag == 0x1c:
    f.write(record(0x2c, b""))
f.close()
END

# Reads a dump sequentially: the sizes of its segments and the arrays in them. No bytes may be left over.
cat > read.py << 'END'
import struct, sys
f = sys.stdin.buffer
def take(n):
    left = n
    while left:
        got = f.read(min(left, 1 << 20))
        if not got:
            sys.exit("the dump ends too early")
        left -= len(got)
    return got if n else b""
take(19 + 12)
arrays = segments = 0
while True:
    head = f.read(9)
    if not head:
        break
    tag, _, size = struct.unpack(">BII", head)
    if tag == 0x0c:
        sys.exit("a HEAP DUMP record")
    if tag != 0x1c:
        take(size)
        continue
    segments += 1
    while size > 0:
        kind = take(1)[0]
        if kind == 0x20:
            take(70)
            size -= 71
        elif kind == 0xff:
            take(8)
            size -= 9
        elif kind == 0x23:
            n = struct.unpack(">QIIB", take(17))[2]
            take(8 * n)
            size -= 18 + 8 * n
            arrays += 1
        else:
            sys.exit("sub-record %#x" % kind)
    if size:
        sys.exit("a segment is shorter than what it holds")
print("arrays %d, more than one segment: %s" % (arrays, segments > 1))
END

# try NAME TAG LONGS ZERO: converts the dump and reads the result.
try() {
	python3 make.py long.hprof "$2" "$3" "$4"
	heapdb convert --segments long.hprof - 2> err | python3 read.py > out 2>&1 || fail "$1: $(cat out)"
	[ ! -s err ] || fail "$1: $(cat err)"
	grep -q "arrays 8, more than one segment: $5" out || fail "$1: $(cat out)"
}
try "wrapped" 0c 150000000 no True
try "of 4.8 GB and length 0" 1c 150000000 zero True
for tag in 0c 1c; do
	try "of length 0, tag $tag" $tag 2 zero False
	heapdb convert --segments long.hprof made.hprof --force > out 2>&1 || fail "length 0: $(cat out)"
	heapdb import made.hprof --force > out 2>&1 || fail "length 0, converted: $(cat out)"
	grep -q ', no problems$' out || fail "length 0, converted: $(cat out)"
done
exit $failed
