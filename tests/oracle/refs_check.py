"""refs_check.py HEAPDB DATABASE DUMP - the table refs against a plain reader of the dump: the same rows by source, name
and target, as often, whether they are scanned, found by source, by target or by name, or exported."""
import collections
import subprocess
import sys

import plain_dump

heapdb, database, path = sys.argv[1:4]
dump = plain_dump.Dump(path)


def names(ix):
    kind, c, count, at = dump.objects[ix]
    if kind == 'instance':
        for _, name, t, value in dump.fields(ix):
            if t == 2:
                yield name, value
    elif kind == 'objects':
        elements = dump.elements(ix)
        for i in range(count):
            yield f'[{i}]', int.from_bytes(elements[i * dump.idsize:(i + 1) * dump.idsize], 'big')
    elif kind == 'class':
        k = dump.classes[ix]
        yield '<super>', k.super_id
        yield '<class loader>', k.loader
        for name, t, value in k.statics:
            if t == 2:
                yield 'static ' + dump.texts.get(name, ''), value


want = collections.Counter()
for ix in dump.objects:
    for name, target in names(ix):
        if target in dump.objects:
            want[f'0x{ix:x}\t{name}\t0x{target:x}'] += 1
# A local variable once for each thread and object.
held = {(dump.thread_of.get(serial), ix) for ix, serial in dump.locals}
for thread, ix in held:
    if thread in dump.objects and ix in dump.objects:
        want[f'0x{thread:x}\t<local variable>\t0x{ix:x}'] += 1
# Where no class has the boot loader, each loader holds its classes.
if all(k.loader in dump.objects for k in dump.classes.values()):
    for c, k in dump.classes.items():
        want[f'0x{k.loader:x}\t<defined class>\t0x{c:x}'] += 1

failed = 0


def ask(*args):
    lines = subprocess.run([heapdb, *args], stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()[1:]
    return collections.Counter(lines)


def compare(way, got, expected):
    global failed
    if dict.__eq__(got, expected):  # Counter compares each row in Python, since a count of 0 is none; here is no such row
        return
    failed = 1
    more, less = got - expected, expected - got
    print(f'FAILED: {path}, {way}: {sum(more.values())} rows too many, {sum(less.values())} missing: '
          f'{list(more.items())[:5]}, {list(less.items())[:5]}')


def sql(text):
    return ask('sql', '--db', database, '--all', '--format', 'tsv', '--quiet', '--limit', 'all', text)


compare('scanned', sql('SELECT source, name, target FROM refs'), want)
compare('by source', sql('SELECT r.source, r.name, r.target FROM objects o CROSS JOIN refs r ON r.source = o.id'), want)
compare('by target', sql('SELECT r.source, r.name, r.target FROM objects o CROSS JOIN refs r ON r.target = o.id'), want)
compare('by both', sql('SELECT r.source, r.name, r.target FROM (SELECT DISTINCT source, target FROM refs) d '
                       'CROSS JOIN refs r ON r.source = d.source AND r.target = d.target'), want)
common = collections.Counter()
for row, count in want.items():
    common[row.split('\t')[1]] += count
some = [name for name, _ in common.most_common(120)] + ['[7]', '[100]', '[1000]', 'next', 'key']
found = sql('SELECT r.source, r.name, r.target FROM (VALUES %s) n CROSS JOIN refs r ON r.name = n.column1' %
            ', '.join("('%s')" % name.replace("'", "''") for name in sorted(set(some))))
compare('by name', found, collections.Counter({r: n for r, n in want.items() if r.split('\t')[1] in some}))
exported = ask('export', 'refs', '--db', database, '--all', '--quiet', '--format', 'tsv')
cells = (row.split('\t') for row in exported.elements())
compare('exported', collections.Counter(f'{source}\t{name}\t{target}' for source, target, name, _ in cells), want)
print(f'{path}: {sum(want.values())} references, {len(common)} names compared')
sys.exit(failed)
