"""proto.py - messages of Protocol Buffers for tests that write traces: fields by number."""
import subprocess


def varint(n):
    n &= (1 << 64) - 1
    out = b''
    while n > 0x7f:
        out += bytes([n & 0x7f | 0x80])
        n >>= 7
    return out + bytes([n])


def number(no, n):
    return varint(no << 3) + varint(n)


def text(no, data):
    data = data if isinstance(data, bytes) else data.encode()
    return varint(no << 3 | 2) + varint(len(data)) + data


def fields(data):
    """The fields of a message as bytes: only those that have a length."""
    at = 0
    while at < len(data):
        start = at
        while data[at] & 0x80:
            at += 1
        at += 1
        size = shift = 0
        while True:
            size |= (data[at] & 0x7f) << shift
            shift += 7
            at += 1
            if not data[at - 1] & 0x80:
                break
        at += size
        yield data[start:at]


def zstd(data):
    return subprocess.run(['zstd', '-qc'], input=data, capture_output=True, check=True).stdout


def compress(trace, no, pack, every=3):
    """A trace's packets, some of them plain, the others compressed together; no: 50 by zlib, 133 by zstd."""
    packets, out = list(fields(trace)), b''
    for i in range(0, len(packets), every):
        out += packets[i] + text(1, text(no, pack(b''.join(packets[i + 1:i + every]))))
    return out
