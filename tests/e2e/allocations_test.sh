#!/bin/sh
# allocations_test.sh - records of Android's allocation tracker: sums by class, thread, place and call stack; longer
# headers, 65,536 entries, and records damaged at every byte.
# Slow: a record broken at every byte.
set -eu
export PYTHONPATH="$HDB_ROOT/tests/support" PYTHONDONTWRITEBYTECODE=1
command -v python3 >/dev/null || { echo "no python3 here"; exit 77; }
cd "$TMPDIR"
python3 - <<'PY'
import json, random, struct, subprocess

from checks import end, want

def write(name, entries, extra=0, count=None):
    """Entries: (bytes, thread, class, [(class, method, file, line), ...]), innermost frame first."""
    tables = [[], [], []]
    def no(table, text):
        if text not in tables[table]:
            tables[table].append(text)
        return tables[table].index(text)
    body = b''
    for size, thread, cls, frames in entries:
        body += struct.pack('>IHHB', size, thread, no(0, cls), len(frames)) + b'x' * extra
        for fcls, method, file, line in frames:
            body += struct.pack('>HHHh', no(0, fcls), no(1, method), no(2, file), line) + b'y' * extra
    head = 15 + extra
    names = b''.join(struct.pack('>I', len(t.encode('utf-16-be')) // 2) + t.encode('utf-16-be')
                     for table in tables for t in table)
    data = struct.pack('>BBBHIHHH', head, 9 + extra, 8 + extra,
                       len(entries) & 0xffff if count is None else count, head + len(body),
                       *[len(t) for t in tables]) + b'z' * extra + body + names
    open(name, 'wb').write(data)
    return data

def run(name, *more):
    done = subprocess.run(['heapdb', 'allocations', name, *more, '--json'], capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout)

def by(name, what):
    code, answer = run(name, '--by', what)
    want('exit', code, 0)
    return answer

random.seed(7)
classes = ['Ljava/lang/String;', '[I', '[[Ljava/lang/Object;', 'Lcom/acme/Größe;', 'Lcom/acme/\U0001f600;', '[B']
dotted = ['java.lang.String', 'int[]', 'java.lang.Object[][]', 'com.acme.Größe', 'com.acme.\U0001f600', 'byte[]']
def stack():
    return [('Lcom/acme/Main;', 'm%d' % random.randrange(3), 'Main.java', random.choice((-1, -2, 7, 8)))
            for _ in range(random.randrange(5))]
entries = [(random.randrange(1, 5000), random.randrange(1, 4), random.choice(classes), stack()) for _ in range(500)]
for extra in 0, 5:
    write('a.alloc', entries, extra)
    sums = {}
    for size, thread, cls, frames in entries:
        key = dotted[classes.index(cls)]
        n, b = sums.get(key, (0, 0))
        sums[key] = n + 1, b + size
    answer = by('a.alloc', 'class')
    want('classes', {r['name']: (r['objects'], r['bytes']) for r in answer['rows']}, sums)
    want('order', [r['bytes'] for r in answer['rows']], sorted((r['bytes'] for r in answer['rows']), reverse=True))
    want('facts', (answer['facts']['objects'], answer['facts']['bytes'], answer['facts']['threads']),
         (500, sum(e[0] for e in entries), 3))
    threads = by('a.alloc', 'thread')['rows']
    want('threads', {r['thread']: r['bytes'] for r in threads},
         {t: sum(e[0] for e in entries if e[1] == t) for t in (1, 2, 3)})
    def frame(f):
        where = 'native' if f[3] == -2 else f[2] if f[3] < 0 else '%s:%d' % (f[2], f[3])
        return 'com.acme.Main.%s (%s)' % (f[1], where)
    places = {}
    for size, thread, cls, frames in entries:
        key = frame(frames[0]) if frames else '(no call stack)'
        places[key] = places.get(key, 0) + size
    want('places', {r['name']: r['bytes'] for r in by('a.alloc', 'site')['rows']}, places)
    tree = {}
    for size, thread, cls, frames in entries:
        path = ()
        for f in reversed(frames):
            path += (frame(f),)
            tree[path] = tree.get(path, 0) + size
    have, path = {}, []
    for r in by('a.alloc', 'stack')['rows']:
        del path[r['level']:]
        path.append(r['name'])
        have[tuple(path)] = r['bytes']
    want('stacks', have, tree)

# More entries than the header can express.
write('many.alloc', [(8, 1, '[B', [('LA;', 'm', 'A.java', 1)])] * 65536)
want('65,536', by('many.alloc', 'class')['rows'], [{'name': 'byte[]', 'objects': 65536, 'bytes': 8 * 65536}])
want('none', (write('none.alloc', []), by('none.alloc', 'stack')['rows'])[1], [])

# Truncated and changed at each byte: an answer or an error message, never a crash.
data = write('small.alloc', [(16, 1, '[B', [('LA;', 'm', 'A', 1), ('LB;', 'n', 'B', -2)]), (24, 2, 'LA;', [])])
for i in range(0, len(data), 1 + len(data) // 50):
    for kind, other in (('cut', data[:i]), ('flip', data[:i] + bytes([data[i] ^ 0xff]) + data[i + 1:])):
        open('broken.alloc', 'wb').write(other)
        code, answer = run('broken.alloc', '--by', ('class', 'stack')[i % 2])
        if code not in (0, 3) or (code == 3) != ('error' in answer):
            want('%s at %d' % (kind, i), code, '0 or 3')
        if kind == 'cut':
            want('cut at %d' % i, code, 3)
for name, text in ('hprof', b'JAVA PROFILE 1.0.3\0'), ('empty', b''):
    open(name, 'wb').write(text)
    want(name, run(name)[0], 3)
end()
PY
for form in csv tsv jsonl table; do
	heapdb allocations a.alloc --by stack --format $form --limit all >out || { echo "$form fails"; exit 1; }
	grep -q 'com.acme.Main.m1' out || { echo "$form has no frame"; exit 1; }
done
heapdb allocations a.alloc --by colour >out 2>&1 && { echo "a wrong --by is taken"; exit 1; }
grep -q -- '--by must be one of class|thread|stack|site' out || { echo "a wrong --by: $(cat out)"; exit 1; }
heapdb allocations >out 2>&1 && { echo "no file is taken"; exit 1; }
heapdb allocations none >out 2>&1 && { echo "a missing file is taken"; exit 1; }
exit 0
