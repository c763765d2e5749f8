#!/bin/sh
# heapprofd_test.sh - native heaps in Perfetto traces written by heapprofd_make.py: by stack, allocating frame, module
# and dump, compared with the rows of trace_processor's allocation table; incomplete dumps, and traces truncated or
# changed at their bytes.
# Slow: a trace broken at many of its bytes.
set -eu
command -v python3 >/dev/null || { echo "no python3 here"; exit 77; }
export PYTHONPATH="$HDB_ROOT/tests/e2e:$HDB_ROOT/tests/support" PYTHONDONTWRITEBYTECODE=1
cd "$TMPDIR"
python3 - <<'PY'
import gzip, json, random, shutil, subprocess, zlib
import heapprofd_make as make
import proto

from checks import end, want

def run(*arguments):
    done = subprocess.run(['heapdb', 'allocations', *arguments, '--json'], capture_output=True, text=True, timeout=60)
    return done.returncode, json.loads(done.stdout)

def answer(*arguments):
    code, told = run(*arguments)
    want('exit of %r' % (arguments,), code, 0)
    return told

def write(name, data):
    with open(name, 'wb') as f:
        f.write(data)
    return data

FIGURES = 'allocations', 'deallocations', 'allocated', 'deallocated', 'objects', 'bytes'

def figures(row):
    return tuple(row[f] for f in FIGURES)

def sums(rows, key):
    """What trace_processor's rows add up to; `key` gives the keys of a stack."""
    out = {}
    for _, pid, heap, stack, count, size in rows:
        for k in key(pid, heap, stack):
            have = out.setdefault(k, [0] * 6)
            for i, n in ((0, count), (2, size)) if count > 0 else ((1, -count), (3, -size)):
                have[i] += n
            have[4] += count
            have[5] += size
    return {k: tuple(v) for k, v in out.items()}

def site(stack):
    return [f for f in stack if f[0] not in (1, 2)][-1]

def tree(told):
    have, path = {}, []
    for r in told['rows']:
        del path[r['level']:]
        path.append(r['name'])
        have[tuple(path)] = figures(r)
    return have

def same(what, have, expected):
    """As want, of large tables: only some rows that differ."""
    keys = [k for k in list(have) + list(expected) if have.get(k) != expected.get(k)]
    want(what, {k: have.get(k) for k in keys[:3]}, {k: expected.get(k) for k in keys[:3]})

def compare(what, file, rows, roots, *options):
    names = lambda pid, heap, stack: [roots[pid, heap]] * (len(roots) > 1) + [make.name(f) for f in stack]
    prefixes = lambda path: [tuple(path[:i + 1]) for i in range(len(path))]
    told = answer(file, '--by', 'stack', *options)
    same(what + ': stacks', tree(told), sums(rows, lambda *a: prefixes(names(*a))))
    same(what + ': sites', {r['name']: figures(r) for r in answer(file, *options)['rows']},
         sums(rows, lambda pid, heap, stack: [make.name(site(stack))]))
    same(what + ': modules', {r['name']: figures(r) for r in answer(file, '--by', 'module', *options)['rows']},
         sums(rows, lambda pid, heap, stack: [make.MODULES[site(stack)[0]].split('/')[-1]]))
    return told

heaps = [(42, 'libc.malloc', True), (42, 'com.android.art', False), (77, 'libc.malloc', True)]
processes = [(42, 'com.acme.app'), (77, '/system/bin/mediaserver')]
roots = {(p, h): '%s (%d) %s' % (dict(processes)[p], p, h) for p, h, _ in heaps}
for is_own in False, True:
    what = 'own tables' if is_own else 'interned'
    data, profile = make.sample(heaps, processes, is_own=is_own)
    write('a.pftrace', data)
    told = compare(what, 'a.pftrace', profile.rows, roots)
    want('facts', told['facts'], {'dumps': 9, 'heaps': 3, 'sampling_interval': 4096, 'incomplete_dumps': 0})
    dumps = answer('a.pftrace', '--by', 'dump')['rows']
    for no, d in enumerate(dumps, 1):
        pid, heap, _ = heaps[(no - 1) % 3]
        rows = [r for r in profile.rows if r[1:3] == (pid, heap) and r[0] <= no]
        compare('%s, dump %d' % (what, no), 'a.pftrace', rows, {(pid, heap): ''}, '--snapshot', str(no))
        want('dump %d' % no, d, {**dict(zip(FIGURES, sums(rows, lambda *a: [0])[0])), 'dump': no, 'pid': pid,
             'heap': heap, 'process': dict(processes)[pid], 'since': 'later', 'incomplete': None,
             'time': '2023-11-14T22:13:%d.000000000Z' % (20 + no)})

    # The same with compressed packets and files.
    write('packed.pftrace', proto.compress(data, 50, zlib.compress))
    compare(what + ', packed', 'packed.pftrace', profile.rows, roots)
    write('twice.pftrace.gz', gzip.compress(proto.compress(data, 50, zlib.compress)[:9000]) +
          gzip.compress(proto.compress(data, 50, zlib.compress)[9000:]))
    compare(what + ', twice', 'twice.pftrace.gz', profile.rows, roots)
    if shutil.which('zstd'):
        write('z.pftrace.zst', proto.zstd(proto.compress(data, 133, proto.zstd)))
        compare(what + ', zstd', 'z.pftrace.zst', profile.rows, roots)

# One heap of one process: no process level; the same figures in the other formats.
data, profile = make.sample(heaps[:1], processes, dumps=1, flags=make.number(3, 1))
write('one.pftrace', data)
compare('one heap', 'one.pftrace', profile.rows, {(42, 'libc.malloc'): ''})
write('whole.pftrace', make.packet(make.text(37, make.text(5, make.number(1, 9))), 7))
want('no interval', answer('whole.pftrace')['facts'], {'dumps': 1, 'heaps': 1, 'incomplete_dumps': 0})
want('from startup', answer('one.pftrace', '--by', 'dump')['rows'][0]['since'], 'the start')
folded = subprocess.run(['heapdb', 'allocations', 'one.pftrace', '--by', 'stack', '--format', 'folded'],
                        capture_output=True, text=True, check=True).stdout
want('folded', {l.rsplit(' ', 1)[0]: int(l.rsplit(' ', 1)[1]) for l in folded.splitlines()},
     {k: v[5] for k, v in sums(profile.rows, lambda p, h, s: [';'.join(make.name(f) for f in s)]).items() if v[5]})

# Incomplete data is reported.
for flags, reason in ((make.number(4, 1), 'not profiled: another session was active'),
                      (make.number(6, 1) + make.number(7, 1), 'the buffer overflowed'),
                      (make.number(8, 1), 'the buffer was corrupted'), (make.number(6, 1), None),
                      (make.number(10, 1), 'profiling took too much memory or CPU time'),
                      (make.number(14, 1), 'profiling ended because of an error in the process')):
    write('b.pftrace', make.sample(heaps, processes, flags=flags, dumps=1)[0])
    told = answer('b.pftrace', '--by', 'dump')
    want('incomplete', [r['incomplete'] for r in told['rows']], [reason, None, None])
    want('incomplete dumps', (told['facts']['incomplete_dumps'], told['facts'].get('incomplete')),
         (int(bool(reason)), reason))
parts = make.Profile(heaps[:1], 3, False)
first, index = parts.dump_packets(0)
write('gap.pftrace', first + parts.dump_packets(index + 1)[0])
want('a gap', [r['incomplete'] for r in answer('gap.pftrace', '--by', 'dump')['rows']], [None, 'packets are missing'])
whole = make.packet(make.text(37, make.text(5, make.number(1, 9)) + make.number(6, 1)), 7)
write('open.pftrace', whole)
last = answer('open.pftrace', '--by', 'dump')['rows'][0]
want('open', (last['incomplete'], last['process'], last['time']), ('packets are missing', '?', None))

# A mangled name stays unchanged.
def numbers(fields):
    return b''.join(make.number(no, n) for no, n in fields.items())
tables = make.text(1, numbers({1: 1}) + make.text(2, 'system/libacme.so')) + make.text(4, numbers({1: 1, 7: 1}))
tables += make.text(1, numbers({1: 2}) + make.text(2, '_ZN4acme5Cache3addEic'))
tables += make.text(2, numbers({1: 1, 2: 2, 3: 1})) + make.text(3, numbers({1: 1, 2: 1}))
dump = make.text(5, numbers({1: 9}) + make.text(2, numbers({1: 1, 2: 8, 5: 1})))
write('mangled.pftrace', make.packet(make.text(37, tables + dump), 7))
want('mangled', answer('mangled.pftrace')['rows'][0]['name'], '_ZN4acme5Cache3addEic (libacme.so)')

# Java methods with their names before obfuscation, from the mapping of their package.
JAVA = [('data/app/~~x==/com.acme-1/base.apk', 'a.a', 'com.acme.Main.load (base.apk)'),
        ('data/app/com.acme-2/base.apk', 'a.b', 'com.acme.Main.get | lib.Moved.put | com.acme.Main.put (base.apk)'),
        ('data/app/com.acme-2/base.apk', 'b.a', 'b.a (base.apk)'),
        ('memfd:jit-cache', 'b.a', 'org.Other.run (memfd:jit-cache)'),
        ('data/app/org-3/base.apk', 'a.a', 'a.a (base.apk)'), ('data/app/com.acme-2/base.apk', 'a', 'a (base.apk)'),
        ('', 'a.b', 'com.acme.Main.get | lib.Moved.put | com.acme.Main.put'),
        ('data/app/com.acme-2/base.apk', 'a.c', 'a.c (base.apk)'), ('', 'c.a', 'c.a'),
        ('data/app/com.acme-2/base.apk', 'c.a', 'com.acme.C.own (base.apk)')]
def mapping(package, old, new, *methods):
    members = b''.join(make.text(4, make.text(1, m) + make.text(2, n)) for m, n in methods)
    return make.packet(make.text(64, make.text(1, package) + make.text(3, make.text(1, old) + make.text(2, new) +
        make.text(3, make.text(1, 'a') + make.text(2, 'field')) + members)))
tables = b''.join(make.text(1, numbers({1: 100 + i}) + make.text(2, path)) +
    make.text(1, numbers({1: 200 + i}) + make.text(2, old)) + make.text(4, numbers({1: i + 1, 7: 100 + i})) +
    make.text(2, numbers({1: i + 1, 2: 200 + i, 3: i + 1 if path else 0})) + make.text(3, numbers({1: i + 1, 2: i + 1}))
    for i, (path, old, _) in enumerate(JAVA))
dump = b''.join(make.text(2, numbers({1: i + 1, 2: 1 << i, 5: 1})) for i in range(len(JAVA)))
write('java.pftrace', make.packet(make.text(37, tables + make.text(5, make.number(1, 9) + dump)), 7) +
      mapping('org', 'b', 'org.Other', ('a', 'run')) +
      mapping('org', 'c', 'org.C', ('a', 'own')) + mapping('com.acme', 'c', 'com.acme.C', ('a', 'own')) +
      mapping('com.acme', 'a', 'com.acme.Main', ('a', 'load'), ('b', 'put'), ('b', 'get'), ('b', 'lib.Moved.put'),
              ('b', 'put')))
want('Java methods', [(r['name'], r['bytes']) for r in answer('java.pftrace', '--by', 'stack')['rows']],
     sorted(((name, 1 << i) for i, (_, _, name) in enumerate(JAVA)), key=lambda r: -r[1]))

# At the heap's maximum; an unknown stack; sums that decrease, or are freed before they are allocated.
def samples(*lists, more=b''):
    dumps = [make.text(5, make.number(1, 9) + make.number(9, i + 1) + more + b''.join(make.text(2, b''.join(
        make.number(no, n) for no, n in s.items())) for s in l)) for i, l in enumerate(lists)]
    return make.packet(make.text(37, b''.join(dumps)), 7)
def rows(data, *options):
    write('c.pftrace', data)
    return [(r.get('name', r.get('incomplete')),) + figures(r) for r in answer('c.pftrace', *options)['rows']]
none = '(no call stack)'
want('a maximum', rows(samples([{1: 5, 8: 100, 9: 3}], more=make.number(13, 1))), [(none, 3, 0, 100, 0, 3, 100)])
want('a maximum without count', rows(samples([{1: 5, 8: 100, 9: 3}])), [(none, 0, 0, 100, 0, 0, 100)])
want('less than before', rows(samples([{1: 5, 2: 100, 5: 2}], [{1: 5, 2: 90, 5: 2}]), '--by', 'dump'),
     [(None, 2, 0, 100, 0, 2, 100), ('decreasing sums were omitted', 2, 0, 100, 0, 2, 100)])
want('freed before', rows(samples([{1: 5, 2: 100, 3: 101, 5: 2}])), [])
want('too large', rows(samples([{1: 5, 2: 1 << 63, 5: 2}])), [])

# Truncated and changed at its bytes: an answer or an error message, never a crash.
random.seed(3)
data = make.sample(heaps, processes)[0]
for i in range(120):
    bad = bytearray(data[:random.randrange(len(data))] if i % 3 == 0 else data)
    for _ in range(random.randrange(1, 9)):
        if bad:
            bad[random.randrange(len(bad))] = random.randrange(256)
    write('broken.pftrace', bytes(bad))
    code, told = run('broken.pftrace', '--by', ('site', 'stack', 'module', 'dump')[i % 4])
    # A file that is no longer a trace has no modules and no dumps.
    if code not in ((0, 3) if i % 4 < 2 else (0, 2, 3)) or (code != 0) != ('error' in told):
        want('broken %d' % i, code, '0 or 3')
bomb = make.packet(make.text(50, zlib.compress(make.packet(make.text(1, bytes(60 << 20))))))
for name, data, part in (('graph', make.clocks(), 'no native heap profile'),
                         ('packed', make.packet(make.text(50, 'xyz')), 'damaged or truncated'),
                         ('zstd', make.packet(make.text(133, b'\x28\xb5\x2f\xfdxyz')), 'damaged or truncated'),
                         ('cut', proto.compress(data, 50, lambda d: zlib.compress(d)[:-5]), 'damaged or truncated'),
                         ('gz', gzip.compress(data)[:-9], 'damaged or truncated'),
                         ('no packets', make.packet(make.text(50, zlib.compress(b'xyz' * 99999))), 'damaged'),
                         ('bomb', make.packet(make.text(50, zlib.compress(make.packet(bytes(70 << 20))))), '64 MiB'),
                         ('bombs', bomb + bomb, '64 times'),
                         ('no bomb', bomb, 'no native heap profile')):
    write(name, data)
    code, told = run(name)
    want(name, (code, part in told['error']['message']), (3, True))
for options in (['--by', 'class'], ['--by', 'thread'], ['--snapshot', '10']):
    want('usage %r' % options, run('a.pftrace', *options)[0], 2)
end()
PY
for form in csv tsv jsonl table speedscope pprof; do
	heapdb allocations a.pftrace --by stack --format $form --limit all >out || { echo "$form fails"; exit 1; }
	[ $form = pprof ] || grep -q 'symbolized::f3 (libacme.so)' out || { echo "$form has no frame"; exit 1; }
done
heapdb allocations a.pftrace --by stack --svg icicle >out
grep -q '<svg' out || { echo "no picture"; exit 1; }
heapdb allocations - <a.pftrace --csv | grep -q '(libhwui.so)' || { echo "not from a pipe"; exit 1; }
if command -v c++filt >/dev/null; then
	for form in table tsv json jsonl folded; do
		heapdb allocations mangled.pftrace --by stack --format $form | c++filt >out
		grep -q 'acme::Cache::add(int, char) (lib' out || { echo "mangled in $form: $(cat out)"; exit 1; }
	done
fi
heapdb jfr a.pftrace --by module >out 2>&1 && { echo "a recording by module"; exit 1; }
exit 0
