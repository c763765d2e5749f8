"""many_classes.py N OUT - writes a dump of N classes with one object each, all held by one array."""
import struct
import sys

COUNT, OBJECT, ARRAY, CLASSES, OBJECTS, HOLDER = int(sys.argv[1]), 0x1000, 0x1010, 0x100000, 0x10000000, 0x20000000


def class_dump(ident, parent):
    """A class without fields."""
    return struct.pack(">BQIQQQQQQIHHH", 0x20, ident, 0, parent, 0, 0, 0, 0, 0, 0, 0, 0, 0)


with open(sys.argv[2], "wb") as out:
    def record(tag, body):
        out.write(struct.pack(">BII", tag, 0, len(body)) + body)

    out.write(b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, 1700000000000))
    record(1, struct.pack(">Q", 1) + b"java/lang/Object")
    record(1, struct.pack(">Q", 2) + b"[Ljava/lang/Object;")
    record(2, struct.pack(">IQIQ", 1, OBJECT, 0, 1))
    record(2, struct.pack(">IQIQ", 2, ARRAY, 0, 2))
    heap = bytearray(class_dump(OBJECT, 0) + class_dump(ARRAY, OBJECT))
    for i in range(COUNT):
        name = f"com/example/app{i % 97}/module{i % 1009}/SomeRatherLongGeneratedName$$Proxy{i}"
        record(1, struct.pack(">Q", 10 + i) + name.encode())
        record(2, struct.pack(">IQIQ", 3 + i, CLASSES + i * 16, 0, 10 + i))
        heap += class_dump(CLASSES + i * 16, OBJECT)
        heap += struct.pack(">BQIQI", 0x21, OBJECTS + i * 16, 0, CLASSES + i * 16, 0)
    heap += struct.pack(">BQIIQ", 0x22, HOLDER, 0, COUNT, ARRAY)
    heap += b"".join(struct.pack(">Q", OBJECTS + i * 16) for i in range(COUNT))
    heap += struct.pack(">BQQ", 1, HOLDER, 1)
    record(0x1C, bytes(heap))
    record(0x2C, b"")
