"""plain_dump.py - a simple and slow HPROF reader, with which tests compare answers."""
import struct
import sys

SIZES = {4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}
NAMES = {4: 'boolean', 5: 'char', 6: 'float', 7: 'double', 8: 'byte', 9: 'short', 10: 'int', 11: 'long'}


class Class:
    pass


class Dump:
    """Classes, objects by ID as (kind, class id or type, length, body offset), roots."""

    def __init__(self, path):
        self.data = data = open(path, 'rb').read()
        at = data.index(b'\0') + 1
        self.idsize = struct.unpack_from('>I', data, at)[0]
        self.idf = '>I' if self.idsize == 4 else '>Q'
        at += 12
        self.texts, self.names = {}, {}
        self.classes, self.objects, self.roots = {}, {}, []
        self.thread_of, self.locals = {}, []
        while at < len(data):
            tag, size = data[at], struct.unpack_from('>I', data, at + 5)[0]
            at += 9
            if tag == 1:
                self.texts[self.id(at)] = data[at + self.idsize:at + size].decode('utf-8', 'replace')
            elif tag == 2:
                self.names[self.id(at + 4)] = self.id(at + 8 + self.idsize)
            elif tag in (0x0c, 0x1c):
                self.segment(at, at + size)
            at += size
        for c, k in self.classes.items():
            k.name = self.class_name(self.texts[self.names[c]])
        self.by_name = {k.name: c for c, k in self.classes.items()}

    def id(self, at):
        return struct.unpack_from(self.idf, self.data, at)[0]

    @staticmethod
    def class_name(name):
        dims = len(name) - len(name.lstrip('['))
        if dims:
            name = name[dims:]
            name = name[1:-1] if name[0] == 'L' else {
                'Z': 'boolean', 'C': 'char', 'F': 'float', 'D': 'double', 'B': 'byte', 'S': 'short',
                'I': 'int', 'J': 'long'}[name]
        return name.replace('/', '.') + '[]' * dims

    def width(self, kind):
        return self.idsize if kind == 2 else SIZES[kind]

    def read(self, kind, at):
        return int.from_bytes(self.data[at:at + self.width(kind)], 'big')

    def segment(self, at, end):
        data, n = self.data, self.idsize
        u4 = struct.Struct('>I').unpack_from
        simple = {0xff: n, 0x01: 2 * n, 0x05: n, 0x07: n, 0x89: n, 0x8a: n, 0x8b: n, 0x8c: n, 0x8d: n, 0x90: n}
        threads = {0x02: n + 8, 0x03: n + 8, 0x04: n + 4, 0x06: n + 4, 0x08: n + 8, 0x8e: n + 8}
        while at < end:
            tag = data[at]
            at += 1
            if tag in simple:
                self.roots.append(self.id(at))
                at += simple[tag]
            elif tag in threads:
                if tag in (0x08, 0x8e):
                    self.roots.append(self.id(at))
                    if tag == 0x08:
                        self.thread_of.setdefault(u4(data, at + n)[0], self.id(at))
                else:
                    self.locals.append((self.id(at), u4(data, at + n)[0]))
                at += threads[tag]
            elif tag == 0xfe:
                at += 4 + n
            elif tag == 0x20:
                at = self.class_dump(at)
            elif tag == 0x21:
                size = u4(data, at + 2 * n + 4)[0]
                self.objects.setdefault(self.id(at), ('instance', self.id(at + n + 4), size, at + 2 * n + 8))
                at += 2 * n + 8 + size
            elif tag == 0x22:
                count = u4(data, at + n + 4)[0]
                self.objects.setdefault(self.id(at), ('objects', self.id(at + n + 8), count, at + 2 * n + 8))
                at += 2 * n + 8 + count * n
            elif tag in (0x23, 0xc3):
                count, kind = u4(data, at + n + 4)[0], data[at + n + 8]
                self.objects.setdefault(self.id(at), ('primitive', kind, count, at + n + 9))
                at += n + 9 + (count * SIZES[kind] if tag == 0x23 else 0)
            else:
                sys.exit('sub-record 0x%x' % tag)

    def class_dump(self, at):
        k, n = Class(), self.idsize
        me = self.id(at)
        k.super_id, k.loader = self.id(at + n + 4), self.id(at + 2 * n + 4)
        k.instance_size = struct.unpack_from('>I', self.data, at + 7 * n + 4)[0]
        at += 7 * n + 8
        u2 = struct.Struct('>H').unpack_from
        count = u2(self.data, at)[0]
        at += 2
        for _ in range(count):
            at += 3 + self.width(self.data[at + 2])
        count = u2(self.data, at)[0]
        at += 2
        k.statics = []
        for _ in range(count):
            kind = self.data[at + n]
            k.statics.append((self.id(at), kind, self.read(kind, at + n + 1)))
            at += n + 1 + self.width(kind)
        count = u2(self.data, at)[0]
        at += 2
        k.fields = []
        for _ in range(count):
            k.fields.append((self.id(at), self.data[at + n]))
            at += n + 1
        self.classes[me] = k
        self.objects.setdefault(me, ('class', 0, 0, 0))
        return at

    def line(self, c):
        seen = 0
        while c in self.classes and seen < 1000:
            yield c
            c = self.classes[c].super_id
            seen += 1

    def fields(self, ix):
        """(declaring class, name, type, value) of an instance."""
        kind, c, size, at = self.objects[ix]
        end = at + size
        for k in self.line(c):
            for name, kind in self.classes[k].fields:
                if at + self.width(kind) > end:
                    return
                yield self.classes[k].name, self.texts.get(name, ''), kind, self.read(kind, at)
                at += self.width(kind)

    def edges(self, ix):
        """(holder, target) of all references, without the one to the class."""
        kind, c, count, at = self.objects[ix]
        if kind == 'instance':
            for owner, name, t, value in self.fields(ix):
                if t == 2 and value in self.objects:
                    yield owner + '.' + name, value
        elif kind == 'objects':
            for value in struct.unpack_from('>%d%s' % (count, self.idf[1]), self.data, at):
                if value in self.objects:
                    yield '[]', value
        elif kind == 'class':
            k = self.classes[ix]
            for value in (k.super_id, k.loader):
                if value in self.objects:
                    yield None, value
            for name, t, value in k.statics:
                if t == 2 and value in self.objects:
                    yield 'static %s.%s' % (k.name, self.texts.get(name, '')), value

    def class_of(self, ix):
        kind, c = self.objects[ix][:2]
        if kind == 'primitive':
            return self.by_name.get(NAMES[c] + '[]')
        return self.by_name.get('java.lang.Class') if kind == 'class' else c

    def elements(self, ix):
        kind, t, count, at = self.objects[ix]
        return self.data[at:at + count * (self.idsize if kind == 'objects' else SIZES[t])]
