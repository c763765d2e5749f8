"""Writes small recordings of Flight Recorder, for tests: types, constants and events of the four
kinds that heapdb reads, as in the JDK."""
import struct


def number(n):
    n &= 0xffffffffffffffff
    out = b''
    while n >= 0x80 and len(out) < 8:
        out += bytes([n & 0x7f | 0x80])
        n >>= 7
    return out + bytes([n])


def text(s, encoding=3):
    if s is None:
        return b'\0'
    if encoding == 3:
        return b'\3' + number(len(s.encode())) + s.encode()
    if encoding == 5:
        return b'\5' + number(len(s)) + s.encode('latin-1')
    units = struct.unpack('<%dH' % (len(s.encode('utf-16-le')) // 2), s.encode('utf-16-le'))
    return b'\4' + number(len(units)) + b''.join(map(number, units))


PRIMITIVES = ['boolean', 'byte', 'char', 'short', 'int', 'long', 'float', 'double', 'java.lang.String']
# name: fields of name, type, constant or not, list or not
TYPES = {
    'java.lang.Thread': [('osName', 'java.lang.String', 0, 0), ('javaName', 'java.lang.String', 0, 0),
                         ('javaThreadId', 'long', 0, 0)],
    'jdk.types.Symbol': [('string', 'java.lang.String', 0, 0)],
    'java.lang.Class': [('name', 'jdk.types.Symbol', 1, 0)],
    'jdk.types.Method': [('type', 'java.lang.Class', 1, 0), ('name', 'jdk.types.Symbol', 1, 0)],
    'jdk.types.StackFrame': [('method', 'jdk.types.Method', 1, 0), ('lineNumber', 'int', 0, 0)],
    'jdk.types.StackTrace': [('truncated', 'boolean', 0, 0), ('frames', 'jdk.types.StackFrame', 0, 1)],
    'jdk.types.VirtualSpace': [('start', 'long', 0, 0), ('committedSize', 'long', 0, 0), ('reservedSize', 'long', 0, 0)],
    'jdk.types.OldObject': [('address', 'long', 0, 0), ('type', 'java.lang.Class', 1, 0),
                            ('description', 'java.lang.String', 0, 0)],
    'jdk.types.OldObjectGcRoot': [('description', 'java.lang.String', 0, 0)],
    'jdk.OldObjectSample': [('startTime', 'long', 0, 0), ('eventThread', 'java.lang.Thread', 1, 0),
                            ('stackTrace', 'jdk.types.StackTrace', 1, 0), ('allocationTime', 'long', 0, 0),
                            ('objectAge', 'long', 0, 0), ('lastKnownHeapUsage', 'long', 0, 0),
                            ('object', 'jdk.types.OldObject', 1, 0), ('arrayElements', 'int', 0, 0),
                            ('root', 'jdk.types.OldObjectGcRoot', 1, 0)],
    'jdk.ObjectAllocationSample': [('startTime', 'long', 0, 0), ('eventThread', 'java.lang.Thread', 1, 0),
                                   ('stackTrace', 'jdk.types.StackTrace', 1, 0), ('objectClass', 'java.lang.Class', 1, 0),
                                   ('weight', 'long', 0, 0)],
    'jdk.GCHeapSummary': [('startTime', 'long', 0, 0), ('gcId', 'int', 0, 0), ('when', 'jdk.types.Symbol', 1, 0),
                          ('heapSpace', 'jdk.types.VirtualSpace', 0, 0), ('heapUsed', 'long', 0, 0)],
    'jdk.ThreadCPULoad': [('startTime', 'long', 0, 0), ('eventThread', 'java.lang.Thread', 1, 0),
                          ('user', 'float', 0, 0), ('system', 'float', 0, 0)],
}


class Recording:
    """One chunk. Constants are given as bytes, and numbered by type."""

    def __init__(self, types=None):
        self.types = types or TYPES
        self.ids = {name: 20 + i for i, name in enumerate(PRIMITIVES + list(self.types))}
        self.pools = {}
        self.events = []

    def constant(self, kind, *values):
        pool = self.pools.setdefault(kind, {})
        data = b''.join(v if isinstance(v, bytes) else number(v) for v in values)
        return pool.setdefault(data, len(pool) + 1)

    def symbol(self, s, encoding=3):
        return self.constant('jdk.types.Symbol', text(s, encoding))

    def cls(self, s):
        return self.constant('java.lang.Class', self.symbol(s))

    def stack(self, *frames):
        """Frames innermost first, of class, method and line."""
        data = b''.join(number(self.constant('jdk.types.Method', self.cls(c), self.symbol(m))) + number(line & 0xffffffff)
                        for c, m, line in frames)
        return self.constant('jdk.types.StackTrace', b'\0', number(len(frames)) + data)

    def thread(self, name, tid):
        return self.constant('java.lang.Thread', text(name), text(name, 4), tid)

    def event(self, kind, *values):
        self.put(self.ids[kind], *values)

    def put(self, kind, *values):
        body = number(kind) + b''.join(v if isinstance(v, bytes) else number(v) for v in values)
        size = len(body) + 1
        self.events.append(number(size if size < 128 else size + 1) + body)

    def metadata(self):
        strings, places = [], {}

        def place(s):
            if s not in places:
                places[s] = len(strings)
                strings.append(s)
            return number(places[s])

        def element(name, attributes, children):
            out = place(name) + number(len(attributes))
            for key, value in attributes:
                out += place(key) + place(value)
            return out + number(len(children)) + b''.join(children)

        classes = []
        for name, at in self.ids.items():
            fields = []
            for field, kind, is_constant, is_list in self.types.get(name, []):
                attributes = [('name', field), ('class', str(self.ids[kind]))]
                attributes += [('constantPool', 'true')] if is_constant else []
                attributes += [('dimension', '1')] if is_list else []
                fields.append(element('field', attributes, []))
            classes.append(element('class', [('name', name), ('id', str(at))], fields))
        tree = element('root', [], [element('metadata', [], classes), element('region', [], [])])
        return number(len(strings)) + b''.join(map(text, strings)) + tree

    def data(self):
        """The chunk: events, the checkpoint, the metadata."""
        start, events = self.events, list(self.events)
        pools = b''
        for kind, pool in self.pools.items():
            pools += number(self.ids[kind]) + number(len(pool)) + b''.join(number(k) + d for d, k in pool.items())
        self.events = []
        self.put(1, 5, 0, 0, 1, len(self.pools), pools)
        self.put(0, 5, 0, 1, self.metadata())
        # Long ones have a size of 4 bytes, as the JDK writes it.
        out, places = b'', []
        for e in events + self.events:
            body = e
            while body[0] & 0x80:
                body = body[1:]
            body = body[1:]
            size = len(body) + 4
            places.append(68 + len(out))
            out += bytes([size & 0x7f | 0x80, size >> 7 & 0x7f | 0x80, size >> 14 & 0x7f | 0x80, size >> 21]) + body
        self.events = start
        return struct.pack('>4sHHQQQQQQQI', b'FLR\0', 2, 1, 68 + len(out), places[-2], places[-1], 1700000000 * 10**9, 10**9,
                           1000, 10**9, 1) + out


def sample(sessions=40, cls='com/acme/Session'):
    """A recording with events of each kind."""
    r = Recording()
    main, worker = r.thread('main', 1), r.thread('w\u00e4rter \U0001f600', 7)
    get = r.stack((cls + 'Servlet', 'doGet', 31), ('java/lang/Thread', 'run', 840))
    deep = r.stack(('java/util/Arrays', 'copyOf', 3537), (cls, 'grow', 12), ('java/lang/Thread', 'run', -1))
    for i in range(sessions):
        obj = r.constant('jdk.types.OldObject', 0x80000000 + 16 * i, r.cls(cls), text({0: 'x' * 5000, 3: 'y' * 70000}.get(i) or ('Size: %d' % i if i < 3 else None)))
        r.event('jdk.OldObjectSample', 5000 + i, worker, get, 1000 + i, 4000, 1 << 20, obj, 0x80000000, 0)
    array = r.constant('jdk.types.OldObject', 0x90000000, r.cls('[B'), text(None))
    root = r.constant('jdk.types.OldObjectGcRoot', text('a static field'))
    r.event('jdk.OldObjectSample', 6000, main, deep, 2000, 4000, 2 << 20, array, 100, root)
    for i in range(5):
        r.event('jdk.ObjectAllocationSample', 3000 + i, worker if i % 2 else main, deep if i % 2 else get,
                r.cls('[[Ljava/lang/String;' if i % 2 else '[B'), 1000 * (i + 1))
    r.event('jdk.ObjectAllocationSample', 3500, 0, 0, r.cls(cls + '$Lambda+0x01/0x02'), 7)
    for i in range(2):
        r.event('jdk.GCHeapSummary', 4000 + i, 3, r.symbol('After GC' if i else 'Before GC'), 0xf0000000, 64 << 20, 128 << 20,
                (30 - 10 * i) << 20)
    r.event('jdk.ThreadCPULoad', 7000, worker, struct.pack('>ff', 0.25, 0.125))
    r.put(999, 1, 2, 3)
    return r
