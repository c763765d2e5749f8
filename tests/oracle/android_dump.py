"""Writes heap dumps of Android programs that never ran: classes with the fields that they have on
Android, and objects of them. For tests of what needs a device otherwise.

    dump = Dump()
    dump.define('android.app.Activity', 'android.content.ContextWrapper', 'Z mDestroyed')
    activity = dump.new('android.app.Activity', mDestroyed=True)
    dump.static('app.Main', 'kept', activity)
    dump.write('app.hprof')

Fields are 'TYPE NAME' with JVM letters (L: a reference). An object is its identifier. Classes
that are not defined are made when they are first used, below java.lang.Object, without fields.
"""
import struct

TYPES = {'L': 2, 'Z': 4, 'C': 5, 'F': 6, 'D': 7, 'B': 8, 'S': 9, 'I': 10, 'J': 11}
PACKS = {'Z': '>?', 'C': '>H', 'F': '>f', 'D': '>d', 'B': '>b', 'S': '>h', 'I': '>i', 'J': '>q'}
PRIMITIVES = {'boolean': 'Z', 'char': 'C', 'float': 'F', 'double': 'D', 'byte': 'B', 'short': 'S',
              'int': 'I', 'long': 'J'}
ROOTS = {'sticky class': 0x05, 'JNI global': 0x01, 'Java frame': 0x03, 'thread object': 0x08, 'unreachable': 0x90}


class Class:
    def __init__(self, name, above, fields, ident):
        self.name, self.above, self.id = name, above, ident
        self.fields = [tuple(f.split()) for f in fields]
        self.statics = []


class Dump:
    def __init__(self, sdk=None, id_size=4, manufacturer='Google', build='AB1'):
        self.id_size, self.next = id_size, 0x10000000
        self.classes, self.texts, self.records, self.roots = {}, {}, [], []
        self.strings, self.threads = {}, 0
        self.frames, self.frame_ids, self.trace_count, self.trace_now = b'', {}, 0, 0
        self.define('java.lang.Object', None)
        self.define('java.lang.Class')
        self.define('java.lang.String', 'java.lang.Object', 'L value', 'I count', 'I offset')
        if sdk is not None:
            self.static('android.os.Build$VERSION', 'SDK_INT', sdk, 'I')
            self.static('android.os.Build', 'MANUFACTURER', self.string(manufacturer))
            self.static('android.os.Build', 'ID', self.string(build))

    def address(self):
        self.next += 16
        return self.next

    def text(self, text):
        if text not in self.texts:
            self.texts[text] = self.address()
        return self.texts[text]

    def define(self, name, above='java.lang.Object', *fields):
        """A class; once more: fields are added, while there are no objects of it."""
        if name in self.classes:
            known = self.classes[name]
            have = {field[1] for field in known.fields}
            known.fields += [tuple(f.split()) for f in fields if f.split()[1] not in have]
            if above != 'java.lang.Object':
                known.above = above
        else:
            self.classes[name] = Class(name, above, fields, self.address())
        if above and above not in self.classes:
            self.define(above)
        return self.classes[name].id

    def class_of(self, name):
        if name not in self.classes:
            self.define(name)
        return self.classes[name]

    def line(self, name):
        """The class and those above it."""
        while name:
            yield self.class_of(name)
            name = self.classes[name].above

    def static(self, name, field, value, kind='L'):
        self.class_of(name).statics.append((kind, field, value))

    def value(self, kind, value):
        if kind == 'L':
            return int(value or 0).to_bytes(self.id_size, 'big')
        return struct.pack(PACKS[kind], value or 0)

    def ident(self, ident):
        return int(ident).to_bytes(self.id_size, 'big')

    def new(self, cls_name, /, place=None, **values):
        """An object, at an address() that was taken before; values of fields that are not given are 0."""
        body = b''
        for cls in self.line(cls_name):
            for kind, field in cls.fields:
                body += self.value(kind, values.pop(field, None))
        if values:
            raise ValueError('%s has no field %s' % (cls_name, ', '.join(values)))
        ident = place or self.address()
        self.records.append(b'\x21' + self.ident(ident) + struct.pack('>I', self.trace_now) +
                            self.ident(self.class_of(cls_name).id) + struct.pack('>I', len(body)) + body)
        return ident

    def array(self, element, items, ident=None):
        """An array of references to objects of class `element`."""
        ident = ident or self.address()
        self.records.append(b'\x22' + self.ident(ident) + struct.pack('>II', 0, len(items)) +
                            self.ident(self.class_of(element + '[]').id) +
                            b''.join(self.ident(item or 0) for item in items))
        return ident

    def numbers(self, kind, items, ident=None):
        """An array of numbers; bytes may be given for 'B'."""
        ident = ident or self.address()
        data = items if isinstance(items, bytes) else b''.join(self.value(kind, i) for i in items)
        size = len(self.value(kind, 0))
        self.class_of({v: k for k, v in PRIMITIVES.items()}[kind] + '[]')
        self.records.append(b'\x23' + self.ident(ident) + struct.pack('>II', 0, len(data) // size) +
                            bytes([TYPES[kind]]) + data)
        return ident

    def without_content(self, kind, count):
        """An array of numbers that the dump leaves out."""
        ident = self.numbers(kind, [])
        self.records[-1] = (b'\xc3' + self.ident(ident) + struct.pack('>II', 0, count) + bytes([TYPES[kind]]))
        return ident

    def string(self, text):
        if text not in self.strings:
            chars = self.numbers('C', [ord(c) for c in text])
            self.strings[text] = self.new('java.lang.String', value=chars, count=len(text))
        return self.strings[text]

    def heap(self, name):
        """What is made from now on is in this heap; before, in app."""
        self.records.append(b'\xfe' + struct.pack('>I', ord(name[0].upper())) + self.ident(self.text(name)))

    def trace(self, *frames):
        """Instances made from now on were allocated by this stack: (class, method, file, line) each,
        the innermost first; none: unknown."""
        self.trace_now = 0
        if not frames:
            return
        self.trace_count += 1
        self.trace_now = self.trace_count
        ids = []
        for frame in frames:
            name, method, source, line = frame
            if frame not in self.frame_ids:
                self.frame_ids[frame] = self.address()
                self.class_of(name)
                serial = list(self.classes).index(name) + 1
                self.frames += self.record(0x04, self.ident(self.frame_ids[frame]) +
                                           self.ident(self.text(method)) + self.ident(self.text('()V')) +
                                           self.ident(self.text(source)) + struct.pack('>Ii', serial, line))
            ids.append(self.frame_ids[frame])
        self.frames += self.record(0x05, struct.pack('>III', self.trace_now, 0, len(ids)) +
                                   b''.join(map(self.ident, ids)))

    def samples(self, *pairs):
        """A record of CPU samples: their number, and the number of the trace, starting at 1."""
        self.frames += self.record(0x0d, struct.pack('>II', sum(n for n, _ in pairs), len(pairs)) +
                                   b''.join(struct.pack('>II', *pair) for pair in pairs))

    def summary(self, live_bytes, live, all_bytes, all_objects):
        self.frames += self.record(0x07, struct.pack('>IIQQ', live_bytes, live, all_bytes, all_objects))

    def root(self, kind, ident, serial=1, frame=0xffffffff):
        self.roots.append((ROOTS[kind], ident, serial, frame))

    def record(self, tag, body):
        return struct.pack('>BII', tag, 0, len(body)) + body

    def class_record(self, cls):
        size = sum(len(self.value(kind, 0)) for c in self.line(cls.name) for kind, _ in c.fields)
        above = self.classes[cls.above].id if cls.above else 0
        out = (b'\x20' + self.ident(cls.id) + struct.pack('>I', 0) + self.ident(above) +
               self.ident(0) * 5 + struct.pack('>I', size) + struct.pack('>H', 0) +
               struct.pack('>H', len(cls.statics)))
        for kind, field, value in cls.statics:
            out += self.ident(self.text(field)) + bytes([TYPES[kind]]) + self.value(kind, value)
        out += struct.pack('>H', len(cls.fields))
        for kind, field in cls.fields:
            out += self.ident(self.text(field)) + bytes([TYPES[kind]])
        return out

    def write(self, path):
        heap = b'\xfe' + struct.pack('>I', ord('A')) + self.ident(self.text('app'))
        for cls in self.classes.values():
            heap += b'\x05' + self.ident(cls.id)
        for tag, ident, serial, frame in self.roots:
            heap += bytes([tag]) + self.ident(ident)
            heap += {0x01: self.ident(0), 0x05: b'', 0x90: b'', 0x03: struct.pack('>II', serial, frame),
                     0x08: struct.pack('>II', serial, 0)}[tag]
        heap += b''.join(self.class_record(cls) for cls in self.classes.values())
        heap += b''.join(self.records)
        names = [(serial + 1, cls.id, self.text(cls.name.replace('.', '/') if '[' not in cls.name
                                                else array_name(cls.name)))
                 for serial, cls in enumerate(self.classes.values())]
        with open(path, 'wb') as out:
            out.write(b'JAVA PROFILE 1.0.3\0' + struct.pack('>IQ', self.id_size, 1400000000000))
            for text, ident in self.texts.items():
                out.write(self.record(0x01, self.ident(ident) + text.encode()))
            for serial, ident, text in names:
                out.write(self.record(0x02, struct.pack('>I', serial) + self.ident(ident) +
                                      struct.pack('>I', 0) + self.ident(text)))
            out.write(self.frames)
            out.write(self.record(0x1c, heap))
            out.write(self.record(0x2c, b''))


def array_name(name):
    element = name[:-2]
    return '[' + (PRIMITIVES[element] if element in PRIMITIVES else
                  'L%s;' % element.replace('.', '/'))
