#!/usr/bin/env python3
"""part_of_dump.py DUMP CLASS OUT - a dump of what CLASS.ALL reaches, with the classes of that and nothing else.

What leads to the rest of a program (class objects, loaders, threads, Clojure's variables) is left out; references to
it become null. For recorded dumps of tests that are about a few objects.
"""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
from plain_dump import Dump, SIZES  # noqa: E402

AWAY = ('java.lang.Class', 'java.lang.ClassLoader', 'java.lang.Thread', 'java.lang.ThreadGroup', 'clojure.lang.Var',
        'clojure.lang.Namespace', 'java.lang.ref.ReferenceQueue')


class Part:
    def __init__(self, dump, class_name):
        self.dump, self.width = dump, dump.idsize
        self.kept, self.classes, self.texts = {}, set(), set()
        top = dump.by_name[class_name]
        self.keep_class(top)
        for name in ('Class', 'Object', 'String'):
            self.keep_class(dump.by_name['java.lang.' + name])
        for kind in ('byte', 'char', 'int', 'long'):
            self.keep_class(dump.by_name[kind + '[]'])
        todo = [v for name, kind, v in dump.classes[top].statics if kind == 2 and dump.texts[name] == 'ALL']
        while todo:
            ix = todo.pop()
            if ix not in self.kept and ix in dump.objects and not self.is_away(ix):
                self.kept[ix] = True
                todo += self.references(ix)

    def keep_class(self, c):
        for k in self.dump.line(c):
            self.classes.add(k)

    def is_away(self, ix):
        kind, c, _, _ = self.dump.objects[ix]
        return kind == 'class' or kind == 'instance' and \
            any(self.dump.classes[k].name in AWAY for k in self.dump.line(c))

    def references(self, ix):
        kind, c, length, at = self.dump.objects[ix]
        if kind in ('instance', 'objects'):
            self.keep_class(c)
        if kind == 'instance':
            return [v for _, _, t, v in self.dump.fields(ix) if t == 2]
        if kind == 'objects':
            return [self.dump.id(at + i * self.width) for i in range(length)]
        return []

    def id(self, value):
        return value.to_bytes(self.width, 'big')

    def reference(self, value):
        return self.id(value if value in self.kept or value in self.classes else 0)

    def text(self, text_id):
        self.texts.add(text_id)
        return self.id(text_id)

    def class_dump(self, c):
        k = self.dump.classes[c]
        zeros = self.id(0) * 5
        statics = b''.join(self.text(name) + bytes([kind]) + (
            self.reference(v) if kind == 2 else v.to_bytes(SIZES[kind], 'big')) for name, kind, v in k.statics)
        fields = b''.join(self.text(name) + bytes([kind]) for name, kind in k.fields)
        return b'\x20' + self.id(c) + bytes(4) + self.id(k.super_id) + zeros + struct.pack('>IH', k.instance_size, 0) + \
            struct.pack('>H', len(k.statics)) + statics + struct.pack('>H', len(k.fields)) + fields

    def object(self, ix):
        kind, c, length, at = self.dump.objects[ix]
        data = self.dump.data
        if kind == 'primitive':
            return b'\x23' + self.id(ix) + bytes(4) + struct.pack('>I', length) + bytes([c]) + \
                data[at:at + length * SIZES[c]]
        if kind == 'objects':
            body = b''.join(self.reference(self.dump.id(at + i * self.width)) for i in range(length))
            return b'\x22' + self.id(ix) + bytes(4) + struct.pack('>I', length) + self.id(c) + body
        body = b''.join(self.reference(v) if t == 2 else v.to_bytes(SIZES[t], 'big')
                        for _, _, t, v in self.dump.fields(ix))
        return b'\x21' + self.id(ix) + bytes(4) + self.id(c) + struct.pack('>I', len(body)) + body

    def write(self, path):
        heap = b''.join(b'\x05' + self.id(c) + self.class_dump(c) for c in sorted(self.classes))
        heap += b''.join(self.object(ix) for ix in sorted(self.kept))
        with open(path, 'wb') as out:
            def record(tag, body):
                out.write(bytes([tag]) + struct.pack('>II', 0, len(body)) + body)

            out.write(b'JAVA PROFILE 1.0.2\0' + struct.pack('>IQ', self.width, 0))
            for c in sorted(self.classes):
                self.texts.add(self.dump.names[c])
            for text in sorted(self.texts):
                record(1, self.id(text) + self.dump.texts[text].encode())
            for serial, c in enumerate(sorted(self.classes), 1):
                record(2, struct.pack('>I', serial) + self.id(c) + bytes(4) + self.id(self.dump.names[c]))
            record(0x1c, heap)
            record(0x2c, b'')


part = Part(Dump(sys.argv[1]), sys.argv[2])
part.write(sys.argv[3])
print(len(part.kept), 'objects,', len(part.classes), 'classes')
