"""heapprofd_make.py - traces of native heaps as heapprofd writes them, and what trace_processor makes of them: rows of
its table heap_profile_allocation, which has what is new since the dump before (profile_packet_sequence_state.cc)."""
import random

import proto
from proto import text


def number(no, n):
    """A field that is omitted if it is 0."""
    return proto.number(no, n) if n else b''


def packet(body, sequence=0):
    return text(1, number(10, sequence) + body)


REALTIME, COARSE = 1700000000 * 10**9, 5 * 10**9
MODULES = ['data/app/com.acme/libacme.so', 'apex/com.android.runtime/lib64/bionic/libc.so', 'system/lib64/libc++.so']
MODULES += ['system/lib64/libhwui.so']
# Functions of each module; '' has no name but an address.
FUNCTIONS = [['main', 'load', 'grow(int)', '', 'decode'], ['malloc', 'calloc'], ['operator new(unsigned long)'],
             ['draw', 'SkBitmap::alloc', '']]
SYMBOLS = {(0, 3): 'symbolized::f3'}  # of an address without a name: in packets after the dumps
MALLOC, NEW = (1, 0), (2, 0)


def address(frame):
    return 0x1000 * (frame[0] + 1) + 16 * frame[1]


def name(frame):
    function = FUNCTIONS[frame[0]][frame[1]] or SYMBOLS.get(frame) or '0x%x' % address(frame)
    return '%s (%s)' % (function, MODULES[frame[0]].split('/')[-1])


class Profile:
    """Heaps: (pid, name, has frees). Dumps: at each time, of each heap, of some stacks, in some packets. With
    is_unique no two stacks have the same frames."""

    def __init__(self, heaps, seed, is_own, is_unique=False):
        self.random, self.heaps, self.is_own = random.Random(seed), heaps, is_own
        self.rows = []  # of trace_processor: (dump, pid, heap, stack, count, bytes); freed ones are negative
        self.stacks = {}  # number -> frames
        for i in range(1, 60):
            while i not in self.stacks:
                outer = [(0, 0)] + [self.frame() for _ in range(self.random.randrange(6))]
                stack = tuple(outer + ([NEW] if i % 3 else []) + [MALLOC])
                if not is_unique or stack not in self.stacks.values():
                    self.stacks[i] = stack
        self.have = {}  # (pid, heap, number) -> [allocations, bytes, freed, freed bytes]
        self.dumps = 0

    def frame(self):
        module = self.random.choice((0, 0, 3))
        return module, self.random.randrange(len(FUNCTIONS[module]))

    def tables(self):
        """Fields of InternedData, or of ProfilePacket: strings, mappings, frames and stacks."""
        fields = dict(string=1, path=1, mapping=4, frame=2, stack=3) if self.is_own else \
            dict(string=5, path=17, mapping=19, frame=6, stack=7)
        paths = sorted({p for m in MODULES for p in m.split('/')})
        names = sorted({f for fs in FUNCTIONS for f in fs if f})
        first = len(paths) if self.is_own else 0
        frames = [(m, f) for m, fs in enumerate(FUNCTIONS) for f in range(len(fs))]
        out = b''.join(text(fields['path'], number(1, i + 1) + text(2, p)) for i, p in enumerate(paths))
        out += b''.join(text(fields['string'], number(1, first + i + 1) + text(2, f)) for i, f in enumerate(names))
        for i, m in enumerate(MODULES):
            parts = b''.join(number(7, paths.index(p) + 1) for p in m.split('/'))
            out += text(fields['mapping'], number(1, i + 1) + number(4, 4096) + parts)
        for i, (m, f) in enumerate(frames):
            function = FUNCTIONS[m][f]
            no = first + names.index(function) + 1 if function else 0
            out += text(fields['frame'], number(1, i + 1) + number(2, no) + number(3, m + 1) + number(4, address((m, f))))
        for no, stack in self.stacks.items():
            out += text(fields['stack'], number(1, no) + b''.join(number(2, frames.index(f) + 1) for f in stack))
        return out

    def sample(self, pid, heap, frees, no, dump):
        now = self.have.setdefault((pid, heap, no), [0, 0, 0, 0])
        if self.random.randrange(3):
            n = self.random.randrange(1, 20)
            now[0] += n
            now[1] += n * 4096
            self.rows.append((dump, pid, heap, self.stacks[no], n, n * 4096))
        n = self.random.randrange(now[0] - now[2] + 1)
        now[2] += n
        now[3] += n * 4096
        if n and frees:
            self.rows.append((dump, pid, heap, self.stacks[no], -n, -n * 4096))
        return text(2, number(1, no) + number(2, now[1]) + number(3, now[3]) + number(5, now[0]) + number(6, now[2]))

    def dump_packets(self, index, flags=b''):
        """All heaps at the next time, in packets of 20 samples at most."""
        out = []
        tables = self.tables()
        for i, (pid, heap, frees) in enumerate(self.heaps):
            self.dumps += 1
            at = COARSE + self.dumps * 10**9
            head = number(1, pid) + number(9, at) + number(12, 4096) + number(13, 4096)
            head += (text(11, heap) if heap else b'') + (flags if i == 0 else b'')
            stacks = self.random.sample(sorted(self.stacks), 45)
            for part in range(0, 45, 20):
                body = b''.join(self.sample(pid, heap, frees, no, self.dumps) for no in stacks[part:part + 20])
                out.append((text(5, head + body)))
        packets = b''
        for i, body in enumerate(out):
            is_last = i == len(out) - 1
            profile = (tables if self.is_own and is_last else b'') + body
            profile += number(6, not is_last) + number(7, index + i)
            interned = text(12, tables) if not self.is_own and i == 0 and index == 0 else b''
            packets += packet(interned + text(37, profile), 7)
        return packets, index + len(out)


def clocks():
    clock = [text(1, number(1, i) + number(2, t)) for i, t in ((1, REALTIME), (4, COARSE), (6, COARSE + 77))]
    return packet(text(6, b''.join(clock)))


def after(processes):
    """What comes after the dumps: names of processes, symbols."""
    tree = b''.join(text(1, number(1, pid) + number(2, 1) + text(3, cmd) + text(3, 'arg')) for pid, cmd in processes)
    symbols = b''
    for frame, function in SYMBOLS.items():
        lines = text(2, text(1, 'inlined') + number(3, 1)) + text(2, text(1, function))
        symbols += packet(text(61, text(1, '/' + MODULES[frame[0]]) + text(3, number(1, address(frame)) + lines)))
    return packet(text(2, tree)) + symbols


def sample(heaps, processes, seed=1, is_own=False, flags=b'', dumps=3, is_unique=False):
    profile = Profile(heaps, seed, is_own, is_unique)
    out, index = clocks() + packet(number(41, 1) if is_own else number(13, 1), 7), 0
    for _ in range(dumps):
        packets, index = profile.dump_packets(index, flags)
        out += packets
    return out + after(processes), profile
