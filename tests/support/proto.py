"""proto.py - messages of Protocol Buffers for tests that write traces: fields by number."""


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
