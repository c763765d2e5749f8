"""Portable heap dumps, written and read from the format's documentation (OpenJ9, "Heap dump"); nothing
of it is heapdb's. Dump() collects classes and objects and writes them as versions 4 to 6; read(data)
gives back the records of any such dump as tuples:

    ("object", id, class, refs) ("array", id, element class, length, bytes or None, refs)
    ("primitive", id, type, length, bytes or None) ("class", id, super, name, instance size, refs)
"""
import struct

TYPES = ["boolean", "char", "float", "double", "byte", "short", "int", "long"]
WIDTH = dict(zip(TYPES, [1, 2, 4, 8, 1, 2, 4, 8]))
SIZES = ((1, "b"), (2, "h"), (4, "i"), (8, "q"))


def width_of(*numbers):
    """Returns the encoding, 0 to 3, in which all these signed numbers fit."""
    for code, (size, _) in enumerate(SIZES):
        if all(-(1 << 8 * size - 1) <= n < 1 << 8 * size - 1 for n in numbers):
            return code
    raise ValueError(numbers)


class Dump:
    """All addresses are multiples of 8. hashed: all records have a hash code of 16 bits, as before Java 7."""

    def __init__(self, version=6, bits=64, hashed=False, reference=4, text="JRE 1.8.0 test"):
        self.version, self.bits, self.hashed, self.text = version, bits, hashed, text
        self.header, self.reference = 8 if reference == 4 else 16, reference
        self.out, self.last, self.cache, self.slot = bytearray(), 0, [None] * 4, 0

    def _signed(self, code, number):
        self.out += struct.pack(">" + SIZES[code][1], number)

    def _word(self, number):
        self.out += struct.pack(">Q" if self.bits == 64 else ">I", number)

    def _hash(self, code):
        if self.hashed:
            self.out += b"\x12\x34"
        elif code is not None:
            self.out += struct.pack(">I", code)

    def _gap(self, id_):
        gap, self.last = (id_ - self.last) // 4, id_
        return gap

    def _refs(self, id_, refs, code):
        for ref in refs:
            self._signed(code, (ref - id_) // 4)

    def _remember(self, class_):
        self.cache[self.slot] = class_
        self.slot = (self.slot + 1) % 4

    def object(self, id_, class_, refs=(), hash_code=None):
        gap, refs = self._gap(id_), [r for r in refs if r]
        wide, code = width_of(gap), width_of(*[(r - id_) // 4 for r in refs] or [0])
        if wide <= 1 and len(refs) <= 3 and class_ in self.cache and hash_code is None:
            self.out.append(0x80 | self.cache.index(class_) << 5 | len(refs) << 3 | wide << 2 | code)
            self._signed(wide, gap)
            self._hash(None)
        elif wide <= 1 and len(refs) <= 7 and hash_code is None:
            self.out.append(0x40 | len(refs) << 3 | wide << 2 | code)
            self._signed(wide, gap)
            self._word(class_)
            self._hash(None)
            self._remember(class_)
        else:
            self.out += bytes([4, wide << 6 | code << 4 | (2 if hash_code is not None else 0) | 1])
            self._signed(wide, gap)
            self._word(class_)
            self._hash(hash_code)
            self.out += struct.pack(">I", len(refs))
            self._remember(class_)
        self._refs(id_, refs, code)

    def array(self, id_, element, refs, hash_code=None):
        """refs in order of index, nulls as 0; they are written last to first. Version 4: the array's class
        is the first reference, which the caller gives."""
        gap, there = self._gap(id_), [r for r in reversed(refs) if r]
        wide, code = width_of(gap), width_of(*[(r - id_) // 4 for r in there] or [0])
        self.out += bytes([8 if self.version > 4 else 5, wide << 6 | code << 4 | (2 if hash_code is not None else 0)])
        self._signed(wide, gap)
        self._word(element)
        self._hash(hash_code)
        self.out += struct.pack(">I", len(there))
        self._refs(id_, there, code)
        if self.version > 4:
            self.out += struct.pack(">I", len(refs))
        self._size(len(refs) * self.reference)

    def _size(self, bytes_):
        if self.version >= 6:
            self.out += struct.pack(">I", (self.header + bytes_ + 7) // 8 * 2)

    def primitive(self, id_, type_, length, hash_code=None):
        gap, no = self._gap(id_), TYPES.index(type_)
        code = max(width_of(gap), width_of(length))
        if hash_code is None:
            self.out.append(0x20 | no << 2 | code)
            self._signed(code, gap)
            self._signed(code, length)
        else:
            word = 3 if self.bits == 64 else 2
            self.out += bytes([7, no << 5 | (0x10 if code else 0) | 2])
            self._signed(word if code else 0, gap)
            self._signed(word if code else 0, length)
        self._hash(hash_code)
        self._size(length * WIDTH[type_])

    def klass(self, id_, super_, name, instance, refs=(), hash_code=None):
        gap = self._gap(id_)
        wide, code = width_of(gap), width_of(*[(r - id_) // 4 for r in refs] or [0])
        self.out += bytes([6, wide << 6 | code << 4 | (8 if hash_code is not None else 0)])
        self._signed(wide, gap)
        self.out += struct.pack(">I", instance)
        self._hash(hash_code)
        self._word(super_)
        self.out += struct.pack(">H", len(name.encode())) + name.encode() + struct.pack(">I", len(refs))
        self._refs(id_, refs, code)

    def bytes(self, whole=True):
        magic, text = b"portable heap dump", self.text.encode()
        flags = (self.bits == 64) | self.hashed << 1 | 4
        head = struct.pack(">H", len(magic)) + magic + struct.pack(">II", self.version, flags)
        head += b"\x01\x04" + struct.pack(">H", len(text)) + text + b"\x02\x02"
        return head + bytes(self.out) + (b"\x03" if whole else b"")


class Reader:
    """Yields the records of a J9 dump."""

    def __init__(self, data):
        self.data, self.at = data, 0
        assert self.text() == "portable heap dump"
        self.version, flags = self.number(4), self.number(4)
        self.word, self.hashed = 8 if flags & 1 else 4, bool(flags & 2)
        assert flags & 4 and self.number(1) == 1
        while (tag := self.number(1)) != 2:
            assert tag == 4
            self.vm = self.text()
        assert self.number(1) == 2
        self.last, self.cache, self.slot = 0, [None] * 4, 0

    def number(self, size, signed=False):
        self.at += size
        return int.from_bytes(self.data[self.at - size:self.at], "big", signed=signed)

    def text(self):
        size = self.number(2)
        self.at += size
        return self.data[self.at - size:self.at].decode()

    def place(self, size):
        self.last = (self.last + 4 * self.number(size, True)) % (1 << 8 * self.word)
        return self.last

    def hash(self, there=False):
        self.number(2 if self.hashed else 4 if there else 0)

    def refs(self, count, size, class_=None):
        found = [(self.last + 4 * self.number(size, True)) % (1 << 8 * self.word) for _ in range(count)]
        return found[1:] if found and found[0] == class_ else found

    def remember(self):
        class_ = self.cache[self.slot] = self.number(self.word)
        self.slot = (self.slot + 1) % 4
        return class_

    def bytes(self):
        return self.number(4) * 4 if self.version >= 6 else None

    def records(self):
        while (tag := self.number(1)) != 3:
            if tag & 0xc0:
                id_ = self.place(1 + (tag >> 2 & 1))
                class_ = self.cache[tag >> 5 & 3] if tag & 0x80 else self.remember()
                self.hash()
                yield "object", id_, class_, self.refs(tag >> 3 & (3 if tag & 0x80 else 7), 1 << (tag & 3), class_)
            elif tag & 0x20:
                size = 1 << (tag & 3)
                id_, length = self.place(size), self.number(size)
                self.hash()
                yield "primitive", id_, TYPES[tag >> 2 & 7], length, self.bytes()
            elif tag == 7:
                flags = self.number(1)
                size = self.word if flags & 16 else 1
                id_, length = self.place(size), self.number(size)
                self.hash(flags & 2)
                yield "primitive", id_, TYPES[flags >> 5], length, self.bytes()
            elif tag in (4, 5, 8):
                flags = self.number(1)
                id_ = self.place(1 << (flags >> 6))
                class_ = self.remember() if tag == 4 else self.number(self.word)
                self.hash(flags & 2)
                count = self.number(4)
                refs = self.refs(count, 1 << (flags >> 4 & 3), class_)
                if tag == 4:
                    yield "object", id_, class_, refs
                    continue
                count = self.number(4) if tag == 8 else count
                yield "array", id_, class_, count, self.bytes(), refs[::-1]
            else:
                assert tag == 6, tag
                flags = self.number(1)
                id_, size = self.place(1 << (flags >> 6)), self.number(4)
                self.hash(flags & 8)
                super_, name = self.number(self.word), self.text()
                yield "class", id_, super_, name, size, self.refs(self.number(4), 1 << (flags >> 4 & 3))
