"""koom_strip.py IN OUT: strips an Android dump as KOOM's hprof_strip.cpp does while ART writes it.

Objects of the zygote and image heaps and the records that announce these heaps go, and the record's
length with them; elements of all other primitive arrays go, and the length stays.
"""

import struct
import sys

WIDTH = {2: 4, 4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}
ROOT_TAIL = {0xFF: 0, 1: 4, 2: 8, 3: 8, 4: 4, 5: 0, 6: 4, 7: 0, 8: 8, 0x89: 0, 0x8A: 0, 0x8B: 0,
             0x8C: 0, 0x8D: 0, 0x8E: 8, 0x90: 0}


def u4(data, at):
    return struct.unpack_from(">I", data, at)[0]


def class_end(data, at):
    at += 1 + 4 + 4 + 6 * 4 + 4
    for before, has_value in ((2, True), (4, True), (4, False)):
        count = struct.unpack_from(">H", data, at)[0]
        at += 2
        for _ in range(count):
            kind = data[at + before]
            at += before + 1 + (WIDTH[kind] if has_value else 0)
    return at


def strip(body, state):
    """What stays of a heap record's body, and the bytes that its length loses."""
    out, at, gone = bytearray(), 0, 0
    while at < len(body):
        tag, start = body[at], at
        is_counted, keep = True, None
        if tag in ROOT_TAIL:
            at += 5 + ROOT_TAIL[tag]
            keep = at
        elif tag == 0x20:
            at = keep = class_end(body, at)
        elif tag == 0xFE:
            state["system"] = body[at + 4] in b"ZI"
            at += 9
        elif tag == 0x21:
            at += 17 + u4(body, at + 13)
        elif tag == 0x22:
            at += 17 + 4 * u4(body, at + 9)
        elif tag == 0x23:
            head = at + 14
            at = head + u4(body, start + 9) * WIDTH[body[head - 1]]
            if not state["system"]:
                keep, is_counted = head, False
        else:
            raise ValueError("sub-record %#x" % tag)
        if keep is None and not state["system"]:
            keep = at
        out += body[start:keep] if keep is not None else b""
        gone += at - (keep if keep is not None else start) if is_counted else 0
    return out, gone


def main():
    data = open(sys.argv[1], "rb").read()
    at = data.index(b"\0") + 13
    out, state = bytearray(data[:at]), {"system": False}
    while at < len(data):
        size = u4(data, at + 5)
        head, body = bytearray(data[at:at + 9]), data[at + 9:at + 9 + size]
        at += 9 + size
        if head[0] in (0x0C, 0x1C):
            body, gone = strip(body, state)
            struct.pack_into(">I", head, 5, size - gone)
        out += head + body
    open(sys.argv[2], "wb").write(out)


main()
