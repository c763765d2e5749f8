#!/bin/sh
# bombs_test.sh - compressed files that are not real dumps, such as a terabyte of zeros after a dump's header as a small
# zstd file, and gzip that never ends: rejected with a clear error, in bounded time, memory and disk. Sizes stored in
# members are not trusted, and available data is read.
# Slow: terabytes are unpacked until a limit is reached.
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
fail() { echo "FAILED: $*"; failed=1; }
# Private memory in KiB. With sanitizers, which reserve memory, the figure is meaningless.
MEMORY_MAX=196608
# CPU seconds; decompressing 8 GiB of zeros takes two to twenty.
SECONDS_MAX=120
sanitized=no
case $BUILD in *san* | *cov*) sanitized=yes SECONDS_MAX=600 ;; esac
# Maximum file size, in units of 512 bytes.
FILE_MAX=65536

cat > make.py << 'END'
import struct, sys, zlib

HEAD = b'JAVA PROFILE 1.0.2\0' + struct.pack('>IQ', 8, 0)
TB = 1 << 40

def block(kind, size, data, last=0):
    return struct.pack('<I', size << 3 | kind << 1 | last)[:3] + data

# A zstd frame that claims a size of `claim` bytes: the header, then blocks of 128 KiB of zeros.
def zstd(claim, blocks):
    zeros = block(1, 1 << 17, b'\0')
    out = b'\x28\xb5\x2f\xfd\xc0\x50' + struct.pack('<Q', claim) + block(0, len(HEAD), HEAD)
    return out + zeros * blocks + block(1, 1, b'\0', 1)

# `size` and `says` are the values stored in the member.
def gzip(data, size=None, says=None, level=9):
    c = zlib.compressobj(level, zlib.DEFLATED, -15)
    body = c.compress(data) + c.flush()
    head = b'\x1f\x8b\x08' + (b'\x10' if says else b'\0') + b'\0\0\0\0\0\xff'
    comment = b'HPROF BLOCKSIZE=%d\0' % says if says else b''
    size = len(data) if size is None else size
    return head + comment + body + struct.pack('<II', zlib.crc32(data), size & 0xffffffff)

def endless(says):
    zeros = gzip(bytes(1 << 20), says=says) * 100
    try:
        sys.stdout.buffer.write(gzip(HEAD, says=says))
        while True:
            sys.stdout.buffer.write(zeros)
    except BrokenPipeError:
        sys.stderr.close()

def members(path, step, says=None, size=None):
    data = open(path, 'rb').read()
    return b''.join(gzip(data[i:i + step], size=size, says=says, level=1)
                    for i in range(0, len(data), step))

if sys.argv[1] == 'endless':
    endless(None)
elif sys.argv[1] == 'endless-jdk':
    endless(1 << 20)
elif sys.argv[1] == 'bombs':
    open('true.zst', 'wb').write(zstd(len(HEAD) + TB - (1 << 17) + 1, TB // (1 << 17) - 1))
    open('small.zst', 'wb').write(zstd(TB, 40))
else:
    for name, step, says, size in (('less', 1 << 20, 1 << 10, None), ('more', 50000, 1 << 20, None),
                                   ('one', 50000, 1, None), ('huge', 1 << 20, TB, None),
                                   ('isize', 1 << 20, None, 7), ('jdk-isize', 1 << 20, 1 << 20, 7)):
        open(name + '.gz', 'wb').write(members(sys.argv[2], step, says, size))
END

# expect CODE PATTERN FILE: the import ends with CODE within the limits and leaves no file.
expect() {
	got=0
	(
		# dash and bash support -d and -t.
		# shellcheck disable=SC3045
		[ $sanitized = yes ] || ulimit -d $MEMORY_MAX
		# shellcheck disable=SC3045
		ulimit -t $SECONDS_MAX
		ulimit -f $FILE_MAX
		exec heapdb import "$3" -o x.heapdb --quiet
	) > out 2>&1 || got=$?
	if [ $got -ne "$1" ] || ! grep -q -- "$2" out; then
		fail "$3: exit $got, expected $1 and \"$2\": $(head -3 out)"
	fi
	left=$(find . -name 'x.heapdb*')
	[ -z "$left" ] || fail "$3: left $left"
}

python3 make.py bombs
expect 3 "more than 500 times the file size" true.zst
expect 3 "damaged" small.zst
for kind in endless endless-jdk; do
	mkfifo pipe
	python3 make.py $kind > pipe &
	expect 3 "more than 500 times the file size" pipe
	wait
	rm pipe
done

# Wrong sizes. The size in the comment is only a hint, so nothing is lost. A wrong size at the end of a member is
# damage: it is reported, and all bytes are read.
cp "$DUMP" plain.hprof
python3 make.py lies plain.hprof
for name in less more one huge; do
	heapdb import $name.gz -o $name.heapdb --quiet > out 2>&1 || fail "$name: $(cat out)"
	grep -q ', no problems$' out || fail "$name: $(cat out)"
	heapdb export dump --db $name.heapdb | cmp - plain.hprof || fail "$name: another dump"
done
for name in isize jdk-isize; do
	heapdb import $name.gz -o $name.heapdb --quiet > out 2>&1 || fail "$name: $(cat out)"
	heapdb info --problems --db $name.heapdb | grep -q compression || fail "$name: not told"
	heapdb export dump --db $name.heapdb | cmp - plain.hprof || fail "$name: bytes are missing"
	got=0
	heapdb import $name.gz -o strict.heapdb --strict --quiet > out 2>&1 || got=$?
	[ $got -eq 3 ] || fail "$name: --strict gives $got"
done
exit $failed
