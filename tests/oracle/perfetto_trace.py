"""perfetto_trace.py DUMP TRACE [--old|--hidden|--packed] - an Android dump's objects as the heap graph of a Perfetto
trace, as ART writes it (perfetto_hprof.cc): in several packets, types after the objects, IDs as differences. With --old as
before Android 12: fields named at each object, no superclasses of types. Without --old there are two graphs, of
two processes, whose packets alternate; the second is that of the dump. With --hidden classes and fields of the app
are obfuscated, and mappings tell what they were, and what another app's were. With --packed packets are compressed."""
import struct
import sys
import zlib

from plain_dump import NAMES, SIZES, Dump
from proto import compress, number, text, varint

OBJECTS_A_PACKET = 5000


def packed(no, numbers):
    return text(no, b''.join(varint(n) for n in numbers)) if numbers else b''


class Trace:
    def __init__(self, dump, form):
        self.dump, self.is_old, self.is_hidden = dump, form == '--old', form == '--hidden'
        self.hidden = {}  # class -> (what it is called, its fields -> what they are called)
        self.types, self.fields = {}, {}
        self.made_arrays = {ix for ix in dump.objects if ix % 8}
        self.texts = {}
        for ix, (kind, c, _, at) in dump.objects.items():
            if kind == 'instance' and dump.classes[c].name == 'java.lang.String':
                value = next(v for _, name, _, v in dump.fields(ix) if name == 'value')
                if value in dump.objects:
                    self.texts[ix] = value
                    self.made_arrays.add(value)

    def type(self, key):
        return self.types.setdefault(key, len(self.types) + 1)

    def hide(self, name, field=None):
        """What a class or a field of it is called in the trace."""
        of = name.rstrip('[]')
        if not self.is_hidden or '.' not in of or of.startswith(('java.', 'android.graphics.', 'libcore.', 'sun.')):
            return name if field is None else name + '.' + field
        to, fields = self.hidden.setdefault(of, ('a.%d' % len(self.hidden), {}))
        if field is None:
            return to + name[len(of):]
        return to + '.' + fields.setdefault(field, 'f%d' % len(fields))

    def mappings(self):
        """Packets that tell the names, also of another app, in the order in which they must not be taken."""
        member = lambda old, new: text(3, text(1, old) + text(2, new))
        out = {'com.acme': b'', 'org.else': b''}
        for name, (to, fields) in self.hidden.items():
            out['com.acme'] += text(3, text(1, to) + text(2, name) + b''.join(
                member(old, name + '.' + new if len(old) % 2 else new) for new, old in fields.items()))
            out['org.else'] += text(3, text(1, to) + text(2, 'org.Wrong') + b''.join(
                member(old, 'wrong') for old in fields.values()))
        return b''.join(text(1, text(64, text(1, p) + out[p])) for p in sorted(out, reverse=True) if self.hidden)

    def field(self, name):
        return self.fields.setdefault(name, len(self.fields) + 1)

    def array_bytes(self, ix):
        kind, t, count, _ = self.dump.objects[ix]
        width = 4 if kind == 'objects' else SIZES[t]
        return (16 if width == 8 else 12) + count * width

    def elements(self, ix):
        d = self.dump
        _, _, count, at = d.objects[ix]
        return struct.unpack_from('>%d%s' % (count, d.idf[1]), d.data, at)

    def reference_fields(self, c):
        d = self.dump
        return [d.texts[name] for name, kind in d.classes[c].fields
                if kind == 2 and d.texts[name] not in ('shadow$_klass_', 'runtimeInternalObjects')]

    def object(self, ix, last):
        d = self.dump
        kind, c, count, at = d.objects[ix]
        ids, names, size, extra, runtime = [], [], 0, b'', ()
        if kind == 'instance':
            key = c
            size = d.classes[c].instance_size
            for owner, name, t, value in d.fields(ix):
                if name == 'runtimeInternalObjects':
                    runtime = self.elements(value) if value in d.objects else ()
                elif t == 2 and name != 'shadow$_klass_' and (owner, name) != ('java.lang.String', 'value'):
                    ids.append(value)
                    names.append(self.hide(owner, name))
                elif owner == 'libcore.util.NativeAllocationRegistry' and name == 'size':
                    extra += number(8, value)
            if ix in self.texts:
                size = 16 + self.array_bytes(self.texts[ix]) - 12
        elif kind == 'objects':
            key = c
            size = self.array_bytes(ix)
            ids = self.elements(ix)
        elif kind == 'primitive':
            key = d.by_name[NAMES[c] + '[]']
            size = self.array_bytes(ix)
        else:
            k = d.classes[ix]
            key = 'class', ix
            size = d.classes[d.by_name['java.lang.Class']].instance_size
            for name, t, value in k.statics:
                size += 4 if t == 2 else SIZES[t]
                if t == 2 and value != ix + 1 and d.texts[name] not in ('$class$superClass', '$class$classLoader'):
                    ids.append(value)
                    name = d.texts[name]
                    is_of_class = name.startswith('$class$')
                    names.append('java.lang.Class.' + name[7:] if is_of_class else self.hide(k.name, name))
            if ix + 1 in d.objects:
                size += self.array_bytes(ix + 1) - 12
            ids += [k.super_id, k.loader]
            names += ['java.lang.Class.superClass', 'java.lang.Class.classLoader']
        out = number(7, (ix - last) // 4) if last and ix > last else number(1, ix // 4)
        out += number(2, self.type(key))
        if kind != 'instance' or size != d.classes[c].instance_size:
            out += number(3, size)
        ids = [i // 4 for i in ids]
        some = [i for i in ids if i]
        base = min(some) - 1 if some else 0
        if len(some) > 2 and base > 1:
            out += number(6, base)
            ids = [i - base if i else 0 for i in ids]
        if kind == 'class' or self.is_old:
            out += packed(4, [self.field('java.lang.Object ' + n) for n in names])
        return out + packed(5, ids) + packed(10, [i // 4 for i in runtime]) + extra

    def type_message(self, key):
        d = self.dump
        out = number(1, self.types[key])
        if isinstance(key, tuple):
            name = 'java.lang.Class<%s>' % self.hide(d.classes[key[1]].name)
        else:
            k = d.classes[key]
            name = k.name
            out += number(4, k.instance_size)
            if not self.is_old:
                out += number(8, k.loader // 4)
                if k.super_id:
                    out += number(5, self.type(k.super_id))
                fields = [f for f in self.reference_fields(key) if (name, f) != ('java.lang.String', 'value')]
                out += packed(6, [self.field('java.lang.Object ' + self.hide(name, f)) for f in fields])
                if name == 'java.lang.String':
                    out += number(7, 3)
            name = self.hide(name)
        return out + number(2, 5) + text(3, name.encode())

    def parts(self):
        """The fields of HeapGraph, some packets of them."""
        d = self.dump
        out, part, last = [], [], 0
        roots = b''.join(varint(r // 4) for r in d.roots)
        locals_ = b''.join(varint(ix // 4) for ix, _ in d.locals)
        part.append(text(7, text(1, roots) + number(2, 0)))
        part.append(text(7, text(1, locals_) + number(2, 3)))
        for ix in sorted(d.objects):
            if ix in self.made_arrays:
                continue
            part.append(text(2, self.object(ix, last)))
            last = ix
            if len(part) >= OBJECTS_A_PACKET:
                out.append(part)
                part = []
        for c in d.classes:
            self.type(c)
        for key in list(self.types):
            part.append(text(9, self.type_message(key)))
        out.append(part)
        location = text(8, number(1, 5) + text(2, '/data/app/~~r==/com.acme-x/base.apk'))
        out.append([location] + [text(4, number(1, no) + text(2, name.encode())) for name, no in self.fields.items()])
        return [b''.join(p) for p in out]


def packet(sequence, pid, index, body, is_last, time):
    graph = number(1, pid) + body + (b'' if is_last else number(5, 1)) + number(6, index)
    return text(1, number(8, time) + number(10, sequence) + text(56, graph))


def main():
    dump = Dump(sys.argv[1])
    form = (sys.argv[3:] or [''])[0]
    is_old = form == '--old'
    trace = Trace(dump, form)
    parts = trace.parts()
    clocks = b''.join(text(1, number(1, i) + number(2, t)) for i, t in ((1, 1700000005000000000), (6, 5000000000)))
    other = text(9, number(1, 1) + text(3, b'Other')) + text(2, number(1, 2) + number(2, 1) + number(3, 16))
    out = text(1, number(10, 1) + text(6, clocks))
    for i, part in enumerate(parts):
        if not is_old and i < 2:
            out += packet(1, 7, i, other if i == 0 else b'', i == 1, 6000000000)
        out += packet(2, 8, i, part, i + 1 == len(parts), 7000000000)
    out += trace.mappings()
    open(sys.argv[2], 'wb').write(compress(out, 50, zlib.compress) if form == '--packed' else out)


main()
