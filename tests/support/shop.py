#!/usr/bin/env python3
"""shop.py OBJECTS SEED OUT.hprof - a dump of a shop: a map of sessions that a static field holds, each with a user's
name, a list of items with names and prices, and some garbage; some items are weakly referred to, some have a
finalizer. Sessions are all below one object. For tests of heaps that are larger than a JVM makes in a second."""
import random
import struct
import sys

OBJECT, BOOLEAN, BYTE, INT, LONG = 2, 4, 8, 10, 11
CLASSES = (  # name, superclass, fields
    ('java/lang/Object', None, ()),
    ('java/lang/Class', 'java/lang/Object', ()),
    ('java/lang/String', 'java/lang/Object', (('value', OBJECT), ('hash', INT), ('coder', BYTE))),
    ('java/util/HashMap', 'java/lang/Object', (('table', OBJECT), ('size', INT))),
    ('java/util/HashMap$Node', 'java/lang/Object',
     (('hash', INT), ('key', OBJECT), ('value', OBJECT), ('next', OBJECT))),
    ('java/util/ArrayList', 'java/lang/Object', (('elementData', OBJECT), ('size', INT))),
    ('java/lang/ref/Reference', 'java/lang/Object',
     (('referent', OBJECT), ('queue', OBJECT), ('next', OBJECT), ('discovered', OBJECT))),
    ('java/lang/ref/WeakReference', 'java/lang/ref/Reference', ()),
    ('java/lang/ref/FinalReference', 'java/lang/ref/Reference', ()),
    ('java/lang/ref/Finalizer', 'java/lang/ref/FinalReference', (('next', OBJECT), ('prev', OBJECT))),
    ('shop/Session', 'java/lang/Object', (('user', OBJECT), ('cart', OBJECT), ('created', LONG))),
    ('shop/Item', 'java/lang/Object', (('name', OBJECT), ('price', LONG))),
    ('shop/Sessions', 'java/lang/Object', ()),
    ('[Ljava/lang/Object;', 'java/lang/Object', ()),
    ('[B', 'java/lang/Object', ()),
)
CLASS_IDS = {name: 0x10000 + 0x100 * i for i, (name, _, _) in enumerate(CLASSES)}
SIZES = {OBJECT: 8, BOOLEAN: 1, BYTE: 1, INT: 4, LONG: 8}
ITEMS_PER_SESSION = 8


class Dump:
    def __init__(self):
        self.heap = bytearray()
        self.next_id = 0x7_0000_0000
        self.names = {}
        self.records = bytearray()

    def name(self, text):
        if text not in self.names:
            self.names[text] = 0x1000 + len(self.names)
            body = struct.pack('>Q', self.names[text]) + text.encode()
            self.records += struct.pack('>BII', 1, 0, len(body)) + body
        return self.names[text]

    def take(self, size):
        at = self.next_id
        self.next_id += (size + 7) & ~7
        return at

    def instance(self, name, layout, *values):
        body = struct.pack(layout, *values)
        at = self.take(12 + len(body))
        self.heap += struct.pack('>BQIQI', 0x21, at, 0, CLASS_IDS[name], len(body)) + body
        return at

    def bytes(self, data):
        at = self.take(16 + len(data))
        self.heap += struct.pack('>BQIIB', 0x23, at, 0, len(data), BYTE) + data
        return at

    def array(self, elements):
        at = self.take(16 + 4 * len(elements))
        self.heap += struct.pack('>BQIIQ%dQ' % len(elements), 0x22, at, 0, len(elements),
                                 CLASS_IDS['[Ljava/lang/Object;'], *elements)
        return at

    def string(self, text):
        return self.instance('java/lang/String', '>QiB', self.bytes(text.encode()), 0, 0)

    def classes(self, **statics_of_sessions):
        for no, (name, parent, fields) in enumerate(CLASSES):
            body = struct.pack('>IQIQ', no + 1, CLASS_IDS[name], 0, self.name(name))
            self.records += struct.pack('>BII', 2, 0, len(body)) + body
            statics = statics_of_sessions if name == 'shop/Sessions' else {}
            self.heap += struct.pack('>BQIQQQQQQIH', 0x20, CLASS_IDS[name], 0, CLASS_IDS[parent] if parent else 0,
                                     0, 0, 0, 0, 0, sum(SIZES[t] for _, t in fields), 0)
            self.heap += struct.pack('>H', len(statics))
            self.heap += b''.join(struct.pack('>QBQ', self.name(n), OBJECT, i) for n, i in statics.items())
            self.heap += struct.pack('>H', len(fields))
            self.heap += b''.join(struct.pack('>QB', self.name(n), t) for n, t in fields)
            self.heap += struct.pack('>BQ', 0x05, CLASS_IDS[name])

    def write(self, path):
        with open(path, 'wb') as out:
            out.write(b'JAVA PROFILE 1.0.2\0' + struct.pack('>IQ', 8, 1700000000000))
            out.write(self.records)
            out.write(struct.pack('>BII', 0x1c, 0, len(self.heap)) + self.heap)
            out.write(struct.pack('>BII', 0x2c, 0, 0))


def main():
    count, seed, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    dump, draw = Dump(), random.Random(seed)
    shared = dump.string('sold out')
    nodes, made = [], 0
    weak = final = 0
    while made < count:
        items = []
        for i in range(ITEMS_PER_SESSION):
            name = shared if draw.random() < 0.2 else dump.string('item %d' % draw.randrange(5000))
            made += 1 if name == shared else 3
            items.append(dump.instance('shop/Item', '>Qq', name, draw.randrange(10000)))
        if draw.random() < 0.01:
            weak = dump.instance('java/lang/ref/WeakReference', '>QQQQ', items[0], 0, weak, 0)
            final = dump.instance('java/lang/ref/Finalizer', '>QQQQQQ', final, 0, items[1], 0, 0, 0)
            dump.bytes(b'garbage')
            made += 3
        cart = dump.instance('java/util/ArrayList', '>Qi', dump.array(items + [0] * draw.randrange(8)), len(items))
        session = dump.instance('shop/Session', '>QQq', dump.string('user %d' % len(nodes)), cart, 17 * made)
        nodes.append(dump.instance('java/util/HashMap$Node', '>iQQQ', 0, dump.string('session %d' % len(nodes)),
                                   session, 0))
        made += 8
    sessions = dump.instance('java/util/HashMap', '>Qi', dump.array(nodes), len(nodes))
    dump.classes(sessions=sessions, watched=weak, finalizers=final)
    dump.write(path)


if __name__ == '__main__':
    main()
