#!/bin/sh
# leak_sizes_test.sh - retained sizes of leaking objects, in heaps of trees with cross references and long arrays, equal
# those from plain reachability without each object, for any number of threads and with little memory.
set -eu
command -v python3 >/dev/null || { echo "no python3 here"; exit 77; }
export PYTHONPATH="$HDB_ROOT/tests/oracle" PYTHONDONTWRITEBYTECODE=1
cd "$TMPDIR"
python3 - <<'PY'
import csv, random, subprocess, sys
from android_dump import Dump

NODES, LEAKS, ROUNDS, LONG = 40000, 25, 3, 30000
SAMPLE = 40  # sizes of a heap that are computed again
FIELDS = ('a', 'b', 'c')

def make(seed):
    """Writes heap.hprof; returns the edges, roots, sizes and leaking ones, all by identifier."""
    rng = random.Random(seed)
    dump = Dump(sdk=28)
    dump.define('android.app.Activity', 'java.lang.Object', 'Z mDestroyed')
    dump.define('app.Screen', 'android.app.Activity', *('L ' + f for f in FIELDS))
    dump.define('app.Node', 'java.lang.Object', 'I weight', *('L ' + f for f in FIELDS))
    # A tree whose nodes have a few children each, so that it is neither flat nor a chain.
    ids = [dump.address() for _ in range(NODES)]
    kinds = ['Node'] * NODES
    for i in rng.sample(range(20, NODES // 4), LEAKS):
        kinds[i] = 'Screen'
    # Some arrays: short ones, and one that is longer than a thread's unit of work.
    for i in rng.sample(range(20, NODES // 2), 300):
        if kinds[i] == 'Node':
            kinds[i] = 'array'
    kinds[7] = 'long'
    targets = [[] for _ in ids]
    open_places = [0]
    for i in range(1, NODES):
        while True:
            at = rng.randrange(max(0, len(open_places) - 60), len(open_places))
            parent = open_places[at]
            room = {'long': LONG, 'array': 200}.get(kinds[parent], len(FIELDS) - 1)
            if len(targets[parent]) < room:
                break
            open_places[at] = open_places[-1]
            open_places.pop()
        targets[parent].append(i)
        open_places.append(i)
    # One reference in twenty is a cross reference, mostly to a near object, so few cross the borders of leaks.
    for i in range(NODES):
        if kinds[i] != 'long' and rng.random() < 0.05:
            far = rng.random() < 0.1
            to = rng.randrange(NODES) if far else min(NODES - 1, i + rng.randrange(1, 40))
            targets[i].append(to)
    sizes = {}
    for i, ident in enumerate(ids):
        if kinds[i] in ('array', 'long'):
            items = [ids[t] for t in targets[i]] + [0] * rng.randrange(3)
            rng.shuffle(items)
            dump.array('app.Node', items, ident)
            sizes[ident] = 4 * len(items)
        else:
            values = dict(zip(FIELDS, (ids[t] for t in targets[i])))
            extra = {'mDestroyed': rng.random() < 0.8} if kinds[i] == 'Screen' else {'weight': i}
            dump.new('app.' + kinds[i], place=ident, **values, **extra)
            if extra.get('mDestroyed') is False:
                kinds[i] = 'Node'
            sizes[ident] = (13 if 'mDestroyed' in extra else 16)
    dump.static('app.Main', 'kept', ids[0])
    dump.root('sticky class', dump.class_of('app.Main').id)
    extra_roots = [ids[i] for i in rng.sample(range(NODES // 2, NODES), 5)]
    for ident in extra_roots:
        dump.root('JNI global', ident)
    dump.write('heap.hprof')
    edges = {ids[i]: [ids[t] for t in targets[i]] for i in range(NODES)}
    return edges, [ids[0]] + extra_roots, sizes, {ids[i] for i in range(NODES) if kinds[i] == 'Screen'}

def reach(edges, roots, without=None):
    seen = {r for r in roots if r != without}
    todo = list(seen)
    while todo:
        for to in edges[todo.pop()]:
            if to != without and to not in seen:
                seen.add(to)
                todo.append(to)
    return seen

def ask(*options):
    command = ['heapdb', 'query', 'leak-traces', '--db', 'heap.heapdb', '--csv', *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout

compared = partly = 0
for seed in range(ROUNDS):
    edges, roots, sizes, leaking = make(seed)
    subprocess.run(['heapdb', 'import', 'heap.hprof', '-o', 'heap.heapdb', '--force', '--quiet'],
                   check=True, capture_output=True)
    text = ask()
    for options in (['--threads', '1'], ['--threads', '4'], ['--threads', '3', '--memory', '16M']):
        if ask(*options) != text:
            sys.exit('seed %d: another answer with %s' % (seed, ' '.join(options)))
    everything = reach(edges, roots)
    told = {}
    for row in csv.DictReader(text.splitlines()):
        if row['retained']:
            told[int(row['id'], 16)] = (int(row['retained']), int(row['retained_objects']))
    for ident in random.Random(seed).sample(sorted(told), min(SAMPLE, len(told))):
        have = told[ident]
        lost = everything - reach(edges, roots, ident)
        want = (sum(sizes[i] for i in lost), len(lost))
        if want != have:
            sys.exit('seed %d: %x retains %s, heapdb says %s' % (seed, ident, want, have))
        compared += 1
        partly += len(lost) > 1
    first = [i for i in leaking & everything if i in told]
    if len(first) < 5:
        sys.exit('seed %d: only %d leaking objects were found' % (seed, len(first)))
print('%d sizes compared, %d of more than one object' % (compared, partly))
if compared < 50 or partly < 30:
    sys.exit('too little was compared')
PY
