"""variants.py - rewrites a heap dump so that the heap is the same and everything else differs.

Usage: variants.py DUMP KIND OUT [KEY=VALUE...]; `variants.py list` lists the kinds. Written for relations.py, which
asks a dump and its variants the same questions. It reads and writes HPROF by itself, with nothing of heapdb.

On standard output go, as JSON: the IDs of the dump in rising order and those of the variant that took their places,
and what was added.
"""
import json
import random
import struct
import sys

WIDTH = {4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}
# Roots: tag, bytes that follow the first ID; 0x01 has a second ID.
ROOTS = {0xff: 0, 0x01: -1, 0x02: 8, 0x03: 8, 0x04: 4, 0x05: 0, 0x06: 4, 0x07: 0, 0x08: 8,
         0x89: 0, 0x8a: 0, 0x8b: 0, 0x8c: 0, 0x8d: 0, 0x8e: 8, 0x90: 0}
HEAP, SEGMENT, END = 0x0c, 0x1c, 0x2c
HEAP_INFO, CLASS, INSTANCE, OBJECTS, VALUES, VALUES_NODATA = 0xfe, 0x20, 0x21, 0x22, 0x23, 0xc3
OBJECT = 2
U2, U4 = struct.Struct('>H'), struct.Struct('>I')


class Unsuitable(Exception):
    """A dump that cannot be rewritten: damaged, or several heaps in one file."""


class Class:
    """Of a CLASS_DUMP: superclass, own fields as basic types."""


class Dump:
    """Top-level records in order, those of the heap as sub-records: (tag, start, end)."""

    def __init__(self, path):
        with open(path, 'rb') as f:
            self.data = data = f.read()
        at = data.index(b'\0') + 1
        self.width = U4.unpack_from(data, at)[0]
        self.ident = {4: '>I', 8: '>Q'}[self.width]
        self.head = data[:at]
        self.times = data[at + 4:at + 12]
        at += 12
        self.top, self.subs, self.classes, self.names, self.texts = [], [], {}, {}, {}
        ended = False
        while at < len(data):
            if at + 9 > len(data):
                raise Unsuitable('cut')
            tag, size = data[at], U4.unpack_from(data, at + 5)[0]
            body = at + 9
            if body + size > len(data):
                raise Unsuitable('cut')
            if tag in (HEAP, SEGMENT):
                if ended:
                    raise Unsuitable('several heap dumps')
                ended = tag == HEAP
                if not self.subs:
                    self.heap_at = len(self.top)
                    self.heap_time = data[at + 1:at + 5]
                self.segment(body, body + size)
            elif tag == END:
                ended = True
            else:
                self.top.append((tag, at, body, body + size))
                if tag == 1:
                    self.texts[self.id(body)] = data[body + self.width:body + size]
                elif tag == 2:
                    self.names[self.id(body + 4)] = self.id(body + 8 + self.width)
            at = body + size
        if not self.subs:
            raise Unsuitable('no heap')
        self.layouts = {}

    def id(self, at):
        return struct.unpack_from(self.ident, self.data, at)[0]

    def value(self, kind):
        return self.width if kind == OBJECT else WIDTH[kind]

    def segment(self, at, end):
        data, n = self.data, self.width
        while at < end:
            start, tag = at, data[at]
            at += 1
            if tag in ROOTS:
                at += 2 * n if ROOTS[tag] < 0 else n + ROOTS[tag]
            elif tag == INSTANCE:
                at += 2 * n + 8 + U4.unpack_from(data, at + 2 * n + 4)[0]
            elif tag == OBJECTS:
                at += 2 * n + 8 + n * U4.unpack_from(data, at + n + 4)[0]
            elif tag == VALUES:
                at += n + 9 + U4.unpack_from(data, at + n + 4)[0] * WIDTH[data[at + n + 8]]
            elif tag == VALUES_NODATA:
                at += n + 9
            elif tag == HEAP_INFO:
                at += 4 + n
            elif tag == CLASS:
                at = self.class_dump(at)
            else:
                raise Unsuitable('sub-record 0x%x' % tag)
            self.subs.append((tag, start, at))
        if at != end:
            raise Unsuitable('a record beyond its segment')

    def class_dump(self, at):
        k, data, n = Class(), self.data, self.width
        k.id, k.super_id, k.loader = self.id(at), self.id(at + n + 4), self.id(at + 2 * n + 4)
        at += 7 * n + 8
        count = U2.unpack_from(data, at)[0]
        at += 2
        for _ in range(count):
            at += 3 + self.value(data[at + 2])
        k.statics = []
        for _ in range(U2.unpack_from(data, at)[0]):
            k.statics.append((self.id(at + 2), data[at + 2 + n]))
            at += n + 1 + self.value(data[at + 2 + n])
        at += 2
        count = U2.unpack_from(data, at)[0]
        at += 2
        k.types = [data[at + i * (n + 1) + n] for i in range(count)]
        k.fields = [self.id(at + i * (n + 1)) for i in range(count)]
        if k.id in self.classes:
            raise Unsuitable('a class twice')
        self.classes[k.id] = k
        return at + count * (n + 1)

    def layout(self, class_id, width):
        """struct of an instance's values with that width of IDs, and which of its items are IDs."""
        key = class_id, width
        if key not in self.layouts:
            code, ids, seen, raw, item = '>', [], set(), 0, 0
            while class_id:
                if class_id in seen or class_id not in self.classes:
                    raise Unsuitable('a class without its superclass')
                seen.add(class_id)
                k = self.classes[class_id]
                for kind in k.types:
                    if kind != OBJECT:
                        raw += WIDTH[kind]
                        continue
                    if raw:
                        code, raw, item = code + '%ds' % raw, 0, item + 1
                    ids.append(item)
                    code, item = code + ('I' if width == 4 else 'Q'), item + 1
                class_id = k.super_id
            if raw:
                code += '%ds' % raw
            self.layouts[key] = struct.Struct(code), ids
        return self.layouts[key]

    def all_ids(self):
        """Every ID of an object, in the dump or missing, that anything names."""
        found, data, n = set(self.classes), self.data, self.width
        for tag, at, end in self.subs:
            at += 1
            if tag in ROOTS:
                found.add(self.id(at))
            elif tag == INSTANCE:
                shape, ids = self.layout(self.id(at + n + 4), n)
                if shape.size != end - at - 2 * n - 8:
                    raise Unsuitable('an instance of another size than its class says')
                found.add(self.id(at))
                if ids:
                    values = shape.unpack_from(data, at + 2 * n + 8)
                    found.update([values[i] for i in ids])
            elif tag == OBJECTS:
                found.add(self.id(at))
                found.add(self.id(at + n + 8))
                count = (end - at - 2 * n - 8) // n
                found.update(struct.unpack_from('>%d%s' % (count, self.ident[1]), data, at + 2 * n + 8))
            elif tag in (VALUES, VALUES_NODATA):
                found.add(self.id(at))
            elif tag == CLASS:
                found.update(Writer(self, None).class_ids(at))
        for tag, _, body, _ in self.top:
            if tag == 2:
                found.add(self.id(body + 4))
            elif tag == 0x0a:
                found.add(self.id(body + 4))
        found.discard(0)
        return sorted(found)


class Writer:
    """Writes records with other IDs of objects (`ids`, None: the same) and of texts and frames, of another width."""

    def __init__(self, dump, ids, width=None):
        self.dump, self.ids, self.width = dump, ids, width or dump.width
        self.ident = '>I' if self.width == 4 else '>Q'
        self.plain = ids is None and self.width == dump.width
        self.others = {0: 0}

    def object(self, at):
        return struct.pack(self.ident, self.moved(self.dump.id(at)))

    def moved(self, ident):
        return self.ids[ident] if self.ids and ident else ident

    def other(self, at):
        """An ID of a text or a frame: the same, or where the width is another one their number in the file."""
        ident = self.dump.id(at)
        if self.width != self.dump.width:
            ident = self.others.setdefault(ident, len(self.others))
        return struct.pack(self.ident, ident)

    def class_ids(self, at):
        """IDs of objects in a CLASS_DUMP, whose first ID is at `at`."""
        dump, data, n = self.dump, self.dump.data, self.dump.width
        found = [dump.id(at + n + 4 + i * n) for i in range(6)]
        at += 7 * n + 8
        count = U2.unpack_from(data, at)[0]
        at += 2
        for _ in range(count):
            if data[at + 2] == OBJECT:
                found.append(dump.id(at + 3))
            at += 3 + dump.value(data[at + 2])
        for _ in range(U2.unpack_from(data, at)[0]):
            if data[at + 2 + n] == OBJECT:
                found.append(dump.id(at + 3 + n))
            at += n + 1 + dump.value(data[at + 2 + n])
        return found

    def class_dump(self, at):
        dump, data, n = self.dump, self.dump.data, self.dump.width
        out = [b'\x20', self.object(at), data[at + n:at + n + 4]]
        out += [self.object(at + n + 4 + i * n) for i in range(6)]
        size = U4.unpack_from(data, at + 7 * n + 4)[0]
        if self.width != n:
            shape, ids = dump.layout(dump.id(at), n)
            # Only HotSpot writes the bytes of the fields here; ART writes what the object takes.
            if size == shape.size:
                size += (self.width - n) * len(ids)
        out.append(U4.pack(size))
        at += 7 * n + 8
        count = U2.unpack_from(data, at)[0]
        out.append(data[at:at + 2])
        at += 2
        for _ in range(count):
            kind = data[at + 2]
            out.append(data[at:at + 3])
            at += 3
            out.append(self.object(at) if kind == OBJECT else data[at:at + dump.value(kind)])
            at += dump.value(kind)
        count = U2.unpack_from(data, at)[0]
        out.append(data[at:at + 2])
        at += 2
        for _ in range(count):
            kind = data[at + n]
            out += [self.other(at), data[at + n:at + n + 1]]
            at += n + 1
            out.append(self.object(at) if kind == OBJECT else data[at:at + dump.value(kind)])
            at += dump.value(kind)
        count = U2.unpack_from(data, at)[0]
        out.append(data[at:at + 2])
        at += 2
        for i in range(count):
            out += [self.other(at), data[at + n:at + n + 1]]
            at += n + 1
        return b''.join(out)

    def sub(self, record):
        tag, at, end = record
        dump, data, n = self.dump, self.dump.data, self.dump.width
        if self.plain:
            return data[at:end]
        first = data[at:at + 1]
        at += 1
        if tag in ROOTS:
            if ROOTS[tag] < 0: # the second is no object's
                second = dump.id(at + n) & (0xffffffff if self.width == 4 else ~0)
                return first + self.object(at) + struct.pack(self.ident, second)
            return first + self.object(at) + data[at + n:end]
        if tag == INSTANCE:
            class_id = dump.id(at + n + 4)
            shape, ids = dump.layout(class_id, n)
            values = list(shape.unpack_from(data, at + 2 * n + 8))
            for i in ids:
                values[i] = self.moved(values[i])
            wide = dump.layout(class_id, self.width)[0]
            return b''.join((first, self.object(at), data[at + n:at + n + 4], self.object(at + n + 4),
                             U4.pack(wide.size), wide.pack(*values)))
        if tag == OBJECTS:
            count = U4.unpack_from(data, at + n + 4)[0]
            values = struct.unpack_from('>%d%s' % (count, dump.ident[1]), data, at + 2 * n + 8)
            values = struct.pack('>%d%s' % (count, self.ident[1]), *map(self.moved, values))
            return b''.join((first, self.object(at), data[at + n:at + n + 8], self.object(at + n + 8), values))
        if tag in (VALUES, VALUES_NODATA):
            return first + self.object(at) + data[at + n:end]
        if tag == HEAP_INFO:
            return first + data[at:at + 4] + self.other(at + 4)
        return self.class_dump(at)

    def record(self, record):
        tag, at, body, end = record
        dump, data, n = self.dump, self.dump.data, self.dump.width
        if self.plain:
            return data[at:end]
        if tag == 0x01:
            new = self.other(body) + data[body + n:end]
        elif tag == 0x02:
            new = data[body:body + 4] + self.object(body + 4) + data[body + 4 + n:body + 8 + n] + \
                self.other(body + 8 + n)
        elif tag == 0x04:
            new = b''.join(self.other(body + i * n) for i in range(4)) + data[body + 4 * n:end]
        elif tag == 0x05:
            new = data[body:body + 12] + b''.join(self.other(i) for i in range(body + 12, end, n))
        elif tag == 0x0a:
            new = data[body:body + 4] + self.object(body + 4) + data[body + 4 + n:body + 8 + n] + \
                b''.join(self.other(body + 8 + n + i * n) for i in range(3))
        else:
            new = data[body:end]
        return data[at:at + 5] + U4.pack(len(new)) + new

    def write(self, path, top=None, subs=None, late=(), extra=(), per_segment=None, whole=False):
        """
        Top-level records, then the heap, then the `late` ones. `extra` are sub-records as bytes, after the others.
        The heap is in segments of so many sub-records, or (whole) in one old HEAP_DUMP record.
        """
        dump = self.dump
        top = dump.top if top is None else top
        subs = dump.subs if subs is None else subs
        before, after = top[:dump.heap_at], top[dump.heap_at:]
        with open(path, 'wb') as f:
            f.write(dump.head + U4.pack(self.width) + dump.times)
            for record in before:
                f.write(self.record(record))
            pending, size, count = [], 0, 0

            def flush():
                nonlocal pending, size, count
                body = b''.join(pending)
                f.write(bytes([HEAP if whole else SEGMENT]) + dump.heap_time + U4.pack(len(body)) + body)
                pending, size, count = [], 0, 0

            for part in [subs, extra]:
                for record in part:
                    raw = record if part is extra else self.sub(record)
                    pending.append(raw)
                    size += len(raw)
                    count += 1
                    # A heap's name counts for what follows, in the next segment too.
                    if not whole and (count == per_segment or size > 1 << 30):
                        flush()
            if pending:
                flush()
            if not whole:
                f.write(bytes([END]) + dump.heap_time + U4.pack(0))
            for record in list(after) + list(late):
                f.write(self.record(record))


# ---- the variants ----

def is_object(record):
    return record[0] in (CLASS, INSTANCE, OBJECTS, VALUES, VALUES_NODATA)


def in_heaps(dump):
    """Objects as lists that a HEAP_INFO (or nothing) goes before, and the roots, in their order."""
    heaps, roots, now = {}, [], None
    for record in dump.subs:
        if record[0] == HEAP_INFO:
            now = dump.data[record[1]:record[2]], record
        elif is_object(record):
            heaps.setdefault(now and now[0], (now and now[1], []))[1].append(record)
        else:
            roots.append(record)
    return list(heaps.values()), roots


def shuffled(dump, seed):
    """Objects of all kinds mixed, roots first or last in their order (a thread before its locals)."""
    rng = random.Random(seed)
    heaps, roots = in_heaps(dump)
    rng.shuffle(heaps)
    subs = []
    # Objects without a heap must come before the first heap's name.
    for info, objects in sorted(heaps, key=lambda h: h[0] is not None):
        rng.shuffle(objects)
        subs += ([info] if info else []) + objects
    return subs + roots if rng.random() < 0.5 else roots + subs


# New IDs lie this far apart, or as far as there is room: nearly all objects are smaller, so that their distances are no
# evidence of sizes.
STEP_MAX = 1024


def places(width, count):
    """The first of so many new IDs, and how far they lie apart."""
    step = STEP_MAX
    while width == 4 and step > 16 and step * count > 0xb0000000:
        step //= 2
    if width == 4 and step * count > 0xb0000000:
        raise Unsuitable('too many objects for IDs of 4 bytes')
    return (0x40000000 if width == 4 else 0x700000000000), step


def ranked(dump, ids, width):
    """
    New IDs in the order of `ids`. ART has arrays inside of classes and of strings, which only their IDs tell: what lies
    16 bytes apart or less stays so, an array of primitives in any case.
    """
    first, step = places(width, len(ids))
    moved, last, at = {}, None, 0
    is_art = any(s[0] == HEAP_INFO for s in dump.subs)
    inside = {dump.id(s[1] + 1) for s in dump.subs if s[0] == VALUES} if is_art else ()
    for i, ident in enumerate(ids):
        if is_art and last is not None and ident - last <= 16 and \
                at + ident - last < (step if ident in inside else step // 2):
            at += ident - last
        else:
            at, base = 0, first + step * i
        moved[ident] = base + at
        last = ident
    return moved


def order(dump, out, seed=1):
    """objects in another order, classes after their instances; top-level records before the heap in another order"""
    rng = random.Random(int(seed))
    top = list(dump.top[:dump.heap_at])
    rng.shuffle(top)
    # Frames, traces and threads number one another, and a trace comes after its frames.
    top.sort(key=lambda r: {1: 0, 2: 1, 4: 2, 5: 3}.get(r[0], 4))
    Writer(dump, None).write(out, top + dump.top[dump.heap_at:], shuffled(dump, int(seed)))
    return {}


def late(dump, out, seed=1):
    """names, classes' names, frames and traces after the heap"""
    Writer(dump, None).write(out, [], dump.subs, late=dump.top)
    return {}


def segments(dump, out, per='7'):
    """segments of so many sub-records"""
    Writer(dump, None).write(out, per_segment=int(per))
    return {}


def whole(dump, out):
    """one HEAP_DUMP record as of old"""
    Writer(dump, None).write(out, whole=True)
    return {}


def kept(dump, out):
    """other IDs in the same order, far apart"""
    moved = ranked(dump, dump.all_ids(), dump.width)
    Writer(dump, moved).write(out)
    return {'ids': moved}


def mixed(dump, out, seed=1):
    """other IDs in another order"""
    places_of = ranked(dump, dump.all_ids(), dump.width)
    step = places(dump.width, len(places_of))[1]
    first = places(dump.width, len(places_of))[0]
    slots = sorted(set((new - first) // step for new in places_of.values()))
    mixed_slots = list(slots)
    random.Random(int(seed)).shuffle(mixed_slots)
    slots = dict(zip(slots, mixed_slots))
    moved = {old: first + slots[(new - first) // step] * step + (new - first) % step
             for old, new in places_of.items()}
    Writer(dump, moved).write(out)
    return {'ids': moved}


def width(dump, out):
    """IDs of 4 bytes instead of 8, or of 8 instead of 4, in the same order"""
    moved = ranked(dump, dump.all_ids(), 12 - dump.width)
    Writer(dump, moved, 12 - dump.width).write(out)
    return {'ids': moved}


def garbage(dump, out, seed=1, share='0.1'):
    """objects added that no root reaches, between the others: instances and arrays that refer to all there is"""
    rng = random.Random(int(seed))
    ids = dump.all_ids()
    moved = ranked(dump, ids, dump.width)
    first, step = places(dump.width, len(ids))
    writer = Writer(dump, moved)
    n, w = dump.width, writer
    sample = [s for s in dump.subs if s[0] in (OBJECTS, VALUES) or
              s[0] == INSTANCE and not is_special(dump, dump.id(s[1] + 5 + n))]
    sample = rng.sample(sample, max(1, int(len(sample) * float(share))))
    gaps = rng.sample(range(len(ids)), len(sample))
    own = [first + step * g + step // 2 for g in gaps]
    extra, added = [], []
    for record, ident in zip(sample, own):
        raw = bytearray(w.sub(record))
        at = record[1] + 1
        struct.pack_into(w.ident, raw, 1, ident)
        if record[0] == INSTANCE:
            class_id = dump.id(at + n + 4)
            shape, refs = dump.layout(class_id, n)
            values = list(shape.unpack_from(raw, 2 * n + 9))
            for i in refs: # to live objects as before, or to other garbage
                if values[i] and rng.random() < 0.3:
                    values[i] = rng.choice(own)
            shape.pack_into(raw, 2 * n + 9, *values)
            added.append((ident, class_id))
        elif record[0] == OBJECTS:
            for i in range(2 * n + 9, len(raw), n):
                if rng.random() < 0.1:
                    struct.pack_into(w.ident, raw, i, rng.choice(own))
            added.append((ident, dump.id(at + n + 8)))
        else:
            added.append((ident, None))
        extra.append(bytes(raw))
    subs = dump.subs
    if any(s[0] == HEAP_INFO for s in subs):
        raise Unsuitable('objects of several heaps')
    w.write(out, extra=extra)
    return {'ids': moved, 'added': [i for i, _ in added]}


def is_special(dump, class_id):
    """Whether objects of the class are counted by what the VM does with them: references, threads, class loaders."""
    while class_id:
        name = dump.texts.get(dump.names.get(class_id), b'').replace(b'/', b'.')
        if name.startswith(b'java.lang.ref.') or name in (b'java.lang.Thread', b'java.lang.ClassLoader'):
            return True
        class_id = dump.classes[class_id].super_id
    return False


KINDS = [order, late, segments, whole, kept, mixed, width, garbage]


def write(dump, kind, out, **options):
    """Writes the variant; (old IDs to new ones or None, what else the variant says)."""
    kinds = {k.__name__: k for k in KINDS}
    said = kinds[kind](dump, out, **options)
    return said.get('ids'), said


def main():
    if sys.argv[1:] == ['list']:
        for k in KINDS:
            print('%-10s %s' % (k.__name__, k.__doc__))
        return
    ids, said = write(Dump(sys.argv[1]), sys.argv[2], sys.argv[3], **dict(a.split('=') for a in sys.argv[4:]))
    json.dump({'ids': sorted((ids or {}).items()), 'added': said.get('added', [])}, sys.stdout)


if __name__ == '__main__':
    main()
