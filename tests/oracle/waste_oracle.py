#!/usr/bin/env python3
"""waste_oracle.py DUMP DATABASE - what the queries about strings, arrays, references and garbage should answer.

Reads the dump by itself, plainly and slowly, with no index, and compares with `heapdb query ... --json`. Only shallow
sizes come from the database. Prints what differs; exit code 1 if anything does.
"""
import json
import struct
import subprocess
import sys
from collections import Counter, defaultdict, deque

from plain_dump import Dump, NAMES, SIZES

STRENGTHS = {'java.lang.ref.SoftReference': 'soft', 'java.lang.ref.WeakReference': 'weak',
             'java.lang.ref.FinalReference': 'finalizer', 'java.lang.ref.PhantomReference': 'phantom'}
LEVELS = ['strong', 'soft', 'weak', 'finalizer', 'phantom']
bad = 0


def differs(what, got, want):
    global bad
    if got != want:
        bad += 1
        print('FAILED: %s: %s, should be %s' % (what, str(got)[:300], str(want)[:300]))


class Strings:
    """(text as UTF-16 units, encoding, array id, first element, elements, elements of the array) by ID."""

    def __init__(self, d):
        self.of, self.without = {}, 0
        for ix, (kind, c, _, _) in d.objects.items():
            if kind != 'instance' or d.classes[c].name != 'java.lang.String':
                continue
            f = {}
            for _, name, _, value in d.fields(ix):
                f.setdefault(name, value)
            array = f.get('value', 0)
            if array not in d.objects or d.objects[array][0] != 'primitive':
                self.without += 1
                continue
            _, t, count, at = d.objects[array]
            raw, first, n = d.elements(array), 0, count
            if 'offset' in f:
                first, n = f['offset'], f['count']
            if t == 5:
                text = struct.unpack('>%dH' % n, raw[2 * first:2 * (first + n)])
                code = 'char[] that fits Latin-1' if all(u < 256 for u in text) else 'char[]'
            elif f.get('coder') == 1:
                text, code = struct.unpack('<%dH' % (n // 2), raw), 'UTF-16 bytes, little-endian'
            else:
                text, code = tuple(raw), 'Latin-1 bytes'
            self.of[ix] = (text, code, array, first, n, count)


def ask(db, *question):
    out = subprocess.run(['heapdb', 'query', *question, '--db', db, '--json'], capture_output=True, text=True)
    if out.returncode:
        sys.exit('%s: %s' % (question, out.stderr))
    answer = json.loads(out.stdout)
    return answer['facts'], answer['rows']


def hexid(text):
    return int(text, 16)


def check_duplicates(d, db, strings, shallow, held):
    groups = defaultdict(list)
    for ix, s in strings.of.items():
        groups[s[0]].append(ix)
    want = {}
    for text, ids in groups.items():
        if len(ids) < 2:
            continue
        ids.sort()
        arrays = {strings.of[i][2] for i in ids if strings.of[i][3:5] == (0, strings.of[i][5])}
        sizes = [shallow[a] for a in arrays]
        total = sum(shallow[i] for i in ids) + sum(sizes)
        wasted = total - shallow[ids[0]] - min(sizes, default=0)
        holders = sum((held.get(i, Counter()) for i in ids), Counter())
        want[ids[0]] = (len(ids), len(arrays), wasted, total, len(text), sum(holders.values()),
                        max(holders.values(), default=0))
    facts, rows = ask(db, 'duplicates', '--strings', '--all')
    differs('duplicate strings', len(rows), len(want))
    for row in rows:
        got = tuple(row[k] for k in ('objects', 'arrays', 'wasted', 'total_shallow', 'length', 'references', 'held'))
        differs('duplicate string ' + row['id'], got, want.get(hexid(row['id'])))
    differs('distinct strings', facts['contents'], len(groups))
    differs('order of duplicates', [r['wasted'] for r in rows],
            sorted((r['wasted'] for r in rows), reverse=True))
    groups = defaultdict(list)
    for ix, o in d.objects.items():
        raw = d.elements(ix) if o[0] == 'primitive' else b''
        # What ART keeps within a class object has no header; it is nobody's to share.
        if o[0] == 'primitive' and shallow[ix] > (len(raw) + 7) // 8 * 8:
            groups[o[1], raw].append(ix)
    want = {min(v): (len(v), (len(v) - 1) * shallow[v[0]]) for v in groups.values() if len(v) > 1}
    facts, rows = ask(db, 'duplicates', '--arrays', '--all')
    got = {hexid(r['id']): (r['objects'], r['wasted']) for r in rows}
    differs('duplicate arrays', got, want)


def check_arrays(d, db, shallow):
    kinds = {k: defaultdict(lambda: [0, 0]) for k in ('empty', 'zero', 'constant', 'trailing-zeros')}
    for ix, (kind, t, count, _) in d.objects.items():
        if kind not in ('primitive', 'objects'):
            continue
        name = d.classes[d.class_of(ix)].name
        raw, width = d.elements(ix), d.idsize if kind == 'objects' else SIZES[t]
        value = raw[:width]
        tail = (len(raw) - len(raw.rstrip(b'\0'))) // width
        found = []
        if not count:
            found.append(('empty', name))
        elif not any(raw):
            found.append(('zero', (name, count)))
        elif tail * TAIL_WIDTH.get(name, TAIL_WIDTH['']) >= 200:
            found.append(('trailing-zeros', name))
        if kind == 'primitive' and count > 1 and raw == value * count:
            found.append(('constant', (name, count, value)))
        for k, key in found:
            kinds[k][key][0] += 1
            kinds[k][key][1] += shallow[ix]
    for k, want in kinds.items():
        if k == 'trailing-zeros':
            continue
        _, rows = ask(db, 'arrays', '--' + k, '--all')
        differs('arrays --%s: rows' % k, len(rows), len(want))
        got, sums = Counter(), Counter()
        for row in rows:
            key = row['class'] if k == 'empty' else (row['class'], row['length'])
            got[key] += row['objects']
            got[key, 'bytes'] += row['shallow']
        for key, (n, size) in want.items():
            key = key[:2] if k == 'constant' else key
            sums[key] += n
            sums[key, 'bytes'] += size
        differs('arrays --' + k, got, sums)
    # Bytes of a tail are rounded with the array's size: what is well above or below the limit must be distinguished.
    _, rows = ask(db, 'arrays', '--trailing-zeros', '--all', '--min-tail', '200')
    got = {r['class']: r['objects'] for r in rows}
    for name, (n, _) in kinds['trailing-zeros'].items():
        if abs(got.get(name, 0) - n) > NEAR[name]:
            differs('arrays --trailing-zeros of ' + name, got.get(name, 0), n)


TAIL_WIDTH = {NAMES[t] + '[]': SIZES[t] for t in NAMES}
NEAR = Counter()


def count_near_tails(d):
    for ix, (kind, t, count, _) in d.objects.items():
        if kind in ('primitive', 'objects') and count:
            raw, width = d.elements(ix), d.idsize if kind == 'objects' else SIZES[t]
            name = d.classes[d.class_of(ix)].name
            size = (len(raw) - len(raw.rstrip(b'\0'))) // width * TAIL_WIDTH.get(name, TAIL_WIDTH[''])
            NEAR[name] += 180 < size < 220


def check_strings(db, strings):
    for by, key, column in (('encoding', lambda s: s[1], 'encoding'), ('length', lambda s: len(s[0]), 'length')):
        _, rows = ask(db, 'strings', '--all', '--by', by)
        differs('strings --by ' + by, {r[column]: r['objects'] for r in rows},
                dict(Counter(key(s) for s in strings.of.values())))
    _, rows = ask(db, 'strings', '--all', '--by', 'prefix', '--prefix-length', '5')
    want = Counter(s[0][:5] for s in strings.of.values())
    differs('strings --by prefix', sorted(r['objects'] for r in rows), sorted(want.values()))
    for row in rows:
        differs('prefix of ' + row['id'], row['objects'], want[strings.of[hexid(row['id'])][0][:5]])


def check_substrings(db, strings):
    users = defaultdict(list)
    for ix, (_, _, array, first, n, count) in strings.of.items():
        users[array].append((first, n, count))
    want, wasteful = {}, 0
    for array, spans in users.items():
        used = set()
        for first, n, _ in spans:
            used.update(range(first, first + n))
        if len(spans) > 1:
            want[array] = (len(spans), len(used), spans[0][2])
        wasteful += len(spans) == 1 and len(used) < spans[0][2]
    facts, rows = ask(db, 'substrings', '--all')
    got = {hexid(r['id']): (r['strings'], r['used'], r['length']) for r in rows if r['strings'] > 1}
    differs('shared arrays', got, want)
    differs('arrays used in part', sum(r['strings'] == 1 for r in rows) <= wasteful, True)
    differs('arrays of strings', facts['arrays'], len(users))


class Graph:
    def __init__(self, d):
        self.d, self.strong, self.referents, self.refs = d, {}, {}, {}
        strength = {}
        for c in d.classes:
            names = [d.classes[k].name for k in d.line(c)]
            strength[c] = next((STRENGTHS[n] for n in names if n in STRENGTHS), None)
        self.roots = {r for r in d.roots if r in d.objects}
        held = defaultdict(list)
        for ix, serial in d.locals:
            thread = d.thread_of.get(serial)
            if thread in d.objects:
                held[thread].append(ix)
            else:
                self.roots.add(ix)
        self.held = defaultdict(Counter)
        for ix in d.objects:
            edges = list(d.edges(ix))
            # An array counts once for each object that it holds, and without holder are a class's edges to its
            # superclass and loader, which are no fields.
            for holder, to in set(edges) if d.objects[ix][0] == 'objects' else edges:
                self.held[to][holder if holder != '[]' else d.classes[d.class_of(ix)].name] += holder is not None
            s = strength.get(d.objects[ix][1]) if d.objects[ix][0] == 'instance' else None
            others = {to for holder, to in edges if holder != 'java.lang.ref.Reference.referent'}
            if s:
                value = [v for owner, name, _, v in d.fields(ix)
                         if owner == 'java.lang.ref.Reference' and name == 'referent']
                self.refs[ix] = (s, value[0] if value and value[0] in d.objects else None)
            out = {to for holder, to in edges} if not s else others
            if d.class_of(ix) in d.objects:
                out.add(d.class_of(ix))
            for to in held.get(ix, ()):
                if to in d.objects and to not in out:
                    out.add(to)
            self.strong[ix] = out
        locals_of = defaultdict(set)
        for ix, serial in d.locals:
            thread = d.thread_of.get(serial)
            if thread in d.objects and not any(h and to == ix for h, to in d.edges(thread)):
                locals_of[ix].add(thread)
        for ix, threads in locals_of.items():
            for thread in threads:
                self.held[ix]['<local variable> ' + str(d.class_of(thread))] += 1
        self.find_levels()

    def find_levels(self):
        self.level = {}
        waiting = [deque() for _ in LEVELS]
        waiting[0].extend(self.roots)
        for n in range(len(LEVELS)):
            while waiting[n]:
                ix = waiting[n].popleft()
                if ix in self.level:
                    continue
                self.level[ix] = n
                waiting[n].extend(self.strong[ix])
                if ix in self.refs and self.refs[ix][1] is not None:
                    waiting[max(n, LEVELS.index(self.refs[ix][0]))].append(self.refs[ix][1])


def check_references(d, db, g, shallow):
    rows_want = defaultdict(list)
    for ix, (s, to) in g.refs.items():
        if ix in g.level:
            rows_want[d.classes[d.objects[ix][1]].name, s].append(to)
    want = {}
    for (name, s), to in rows_want.items():
        referents = {t for t in to if t is not None}
        only = [t for t in referents if g.level[t] >= LEVELS.index(s)]
        want[name, s] = (len(to), sum(t is None for t in to), len(referents), len(only),
                         sum(shallow[t] for t in only))
    facts, rows = ask(db, 'reference-stats', '--by', 'class')
    got = {(r['name'], r['strength']): (r['objects'], r['cleared'], r['referents'], r['only'], r['only_shallow'])
           for r in rows if r['name'] != 'java.lang.ref.FinalizerReference'}  # Android's: here an object as any other
    for key in sorted(set(got) | set(want)):
        differs('reference-stats of %s, %s' % key, got.get(key), want.get(key))
    for n, name in enumerate(LEVELS):
        ids = [ix for ix, at in g.level.items() if at == n]
        differs(name + ' objects', facts[name + '_objects'], len(ids))
        differs(name + ' bytes', facts[name + '_shallow'], sum(shallow[ix] for ix in ids))


def check_leaks(d, db, g):
    want = set()
    for ix, (s, referent) in g.refs.items():
        if s == 'finalizer' or referent is None or g.level.get(ix) != 0 or g.level.get(referent) != 0:
            continue
        todo = [v for owner, _, t, v in d.fields(ix)
                if t == 2 and v in d.objects and owner != 'java.lang.ref.Reference']
        seen = {ix}
        while todo:
            at = todo.pop()
            if at in seen or at in g.roots:
                continue
            seen.add(at)
            if at == referent:
                want.add(ix)
                break
            if at not in g.refs:
                todo.extend(g.strong[at])
    facts, rows = ask(db, 'reference-leaks', '--objects', '--max-objects', '100000000')
    differs('reference-leaks', {hexid(r['id']) for r in rows}, want)
    differs('searches given up', facts['given_up'], 0)
    facts, rows = ask(db, 'reference-leaks', '--objects')
    differs('leaks near by that are none', {hexid(r['id']) for r in rows} - want, set())


def components(nodes, edges):
    """Strongly connected components: number by node (Tarjan's, without recursion)."""
    index, low, number, stack, on, count = {}, {}, {}, [], set(), 0
    for start in nodes:
        if start in index:
            continue
        work = [(start, iter(edges[start]))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on.add(start)
        while work:
            v, it = work[-1]
            for to in it:
                if to not in index:
                    index[to] = low[to] = len(index)
                    stack.append(to)
                    on.add(to)
                    work.append((to, iter(edges[to])))
                    break
                if to in on:
                    low[v] = min(low[v], index[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[v])
                if low[v] == index[v]:
                    while True:
                        to = stack.pop()
                        on.discard(to)
                        number[to] = count
                        if to == v:
                            break
                    count += 1
    return number


def check_garbage(d, db, g, shallow):
    garbage = [ix for ix in d.objects if ix not in g.level]
    inside = set(garbage)
    edges = {}
    for ix in garbage:
        out = set(g.strong[ix])
        if ix in g.refs and g.refs[ix][1] is not None:
            out.add(g.refs[ix][1])
        edges[ix] = [to for to in out if to in inside]
    number = components(garbage, edges)
    entered = {number[to] for ix in garbage for to in edges[ix] if number[to] != number[ix]}
    tops = set(number.values()) - entered
    facts, rows = ask(db, 'unreachable', '--holders')
    differs('holders of garbage', facts['holders'], len(tops))
    differs('holders, each of its own', {number[hexid(r['id'])] for r in rows}, tops)
    differs('garbage that is held', sum(r['objects'] for r in rows), len(garbage))
    differs('bytes of garbage', sum(r['shallow'] for r in rows), sum(shallow[ix] for ix in garbage))
    seen = set()
    want = {}
    for top in sorted(hexid(r['id']) for r in rows):
        todo, mine = [top], 0
        while todo:
            at = todo.pop()
            if at not in seen:
                seen.add(at)
                mine += 1
                todo.extend(edges[at])
        want[top] = mine
    differs('objects by holder', {hexid(r['id']): r['objects'] for r in rows}, want)
    _, rows = ask(db, 'unreachable', '--by', 'holder')
    differs('garbage by class of holder', sum(r['objects'] for r in rows), len(garbage))
    differs('holders by class', sum(r['holders'] for r in rows), len(tops))


def main():
    dump, db = sys.argv[1:3]
    d = Dump(dump)
    out = subprocess.run(['heapdb', 'export', 'objects', '--db', db, '--all', '--columns', 'id,shallow',
                          '--format', 'tsv'], capture_output=True, text=True, check=True)
    shallow = {int(i, 16): int(s) for i, s in (line.split('\t') for line in out.stdout.splitlines()[1:])}
    differs('objects', len(shallow), len(d.objects))
    biggest = max((o[2], ix) for ix, o in d.objects.items() if o[0] == 'objects')
    TAIL_WIDTH[''] = round(shallow[biggest[1]] / biggest[0])
    count_near_tails(d)
    strings = Strings(d)
    g = Graph(d)
    for ix in strings.of:
        if not g.held.get(ix) and ix in g.roots:
            g.held[ix]['<root>'] = 1
    check_duplicates(d, db, strings, shallow, g.held)
    check_arrays(d, db, shallow)
    check_strings(db, strings)
    check_substrings(db, strings)
    check_references(d, db, g, shallow)
    check_leaks(d, db, g)
    check_garbage(d, db, g, shallow)
    print('%d objects, %d strings, %d references, %d unreachable' % (
        len(d.objects), len(strings.of), len(g.refs), len(d.objects) - len(g.level)))
    sys.exit(bad != 0)


main()
