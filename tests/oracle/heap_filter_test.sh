#!/bin/sh
# heap_filter_test.sh - the answers for each of Android's heaps (--heap) add up to those for all heaps, for every query
# that has --heap: objects and bytes; rows belong to that heap.
set -eu
for tool in zstd python3; do
	command -v $tool > /dev/null || { echo "no $tool here"; exit 77; }
done
dumps=${HDB_DUMPS:-$HDB_ROOT/../shared/dumps}
[ -f "$dumps/android_service_leak.hprof.zst" ] || { echo "no $dumps; HDB_DUMPS names another folder"; exit 77; }
cd "$TMPDIR"
for name in android_service_leak android_ahat_test; do
	heapdb import "$dumps/$name.hprof.zst" -o $name.heapdb --quiet > import.log
done
python3 - <<'PY'
import json, shutil, subprocess, sys

bad = compared = 0

def complain(*text):
    global bad
    bad += 1
    if bad < 20:
        print('FAILED:', *text)

def ask(db, *words):
    out = subprocess.run(['heapdb', 'query', *words, '--db', db + '.heapdb', '--json', '--limit', 'all'],
                         capture_output=True, text=True)
    if out.returncode:
        complain(db, ' '.join(words), out.stderr.strip())
        return {'facts': {}, 'rows': []}
    return json.loads(out.stdout)

# A query, and the facts and columns whose sums over the heaps equal those of all heaps.
SUMS = [
    ('histogram', 'objects shallow unreachable_objects unreachable_shallow', 'objects shallow native'),
    ('histogram --by package', 'objects shallow', 'objects shallow'),
    ('top', '', ''), ('dominators', '', ''),
    ('unreachable', 'objects shallow', 'objects shallow'),
    ('unreachable --by holder', '', 'objects shallow'),
    ('roots', '', 'objects'),
    ('native', 'objects native', 'objects native shallow'),
    ('native --objects', 'objects native', 'native shallow'),
    ('immediate-dominators java.lang.String', 'objects shallow',
     'dominated_objects dominated_shallow dominated_native'),
    ('merged-paths java.lang.String --exclude none', 'objects shallow', 'objects shallow native'),
    ('merged-paths * --exclude none --by package', 'objects shallow', 'objects shallow native'),
    ('dominator-tree --min 0', '', 'objects shallow native'),
    ('reference-stats', 'references unreachable_references strong_objects strong_shallow soft_objects '
     'weak_objects finalizer_objects phantom_objects', 'objects cleared'),
    ('finalizers', 'registered finalized kept_objects kept_shallow', 'objects shallow'),
    ('big-drops --threshold 0', '', ''),
    ('object-sites', '', 'objects shallow'),
    ('call-tree', '', ''),
    ('arrays', '', ''), ('collections', '', ''), ('strings', '', ''),
    ('group-by-value java.lang.Integer', '', ''), ('duplicates', '', ''), ('substrings', '', ''),
    ('direct-buffers', '', ''), ('instances java.lang.String', '', ''),
    ('leaks', 'leaking held_by_others unreachable', ''), ('leak-traces', 'leaking hanging unreachable', ''),
    ('leak-traces --watched', 'leaking held_by_others unreachable', ''),
    ('reference-leaks', 'leaks searched given_up', 'objects shallow'),
    ('reference-leaks --objects', 'leaks', 'shallow'),
    ('bitmaps', 'bitmaps bytes java native contents', 'bytes'), ('threads', 'threads', ''),
    ('threads --no-stack', 'threads', 'shallow locals'),
    ('class *', '', 'instances'), ('class java.lang.String', 'instances shallow', ''),
    ('loaders', '', 'objects shallow unreachable_objects'),
    ('loaders --classes', '', 'objects shallow unreachable_objects'),
    ('duplicate-classes', '', 'objects shallow unreachable_objects'),
    ('entries java.util.HashMap', '', 'retained'),
]
# Rules of triage that count objects.
RULES = ('leaking-objects loaders classes threads weak-only jni-globals exceptions boxed-values reflection '
         'empty-collections garbage gc-fillers').split()

# The second dump has native memory, but only one heap.
for db, least in (('android_service_leak', 2), ('android_ahat_test', 1)):
    heaps = [row['name'] for row in ask(db, 'histogram', '--by', 'heap')['rows']]
    if len(heaps) < least:
        sys.exit('%s: only the heaps %s' % (db, heaps))
    for text, facts, columns in SUMS:
        words = text.split()
        whole = ask(db, *words)
        parts = [ask(db, *words, '--heap', heap) for heap in heaps]
        for name in facts.split():
            want, have = whole['facts'].get(name) or 0, sum(p['facts'].get(name, 0) for p in parts)
            compared += 1
            if want != have:
                complain(db, text, name, want, 'of all', have, 'of heaps')
        for name in columns.split():
            total = lambda rows: sum(row.get(name) or 0 for row in rows)
            want, have = total(whole['rows']), sum(total(p['rows']) for p in parts)
            compared += 1
            if want != have:
                complain(db, text, 'column', name, want, 'of all', have, 'of heaps')
        # Rows with a heap column belong to the heap, and none is lost.
        named = sum(bool(row.get('heap')) for row in whole['rows'])
        if named:
            of_heaps = [sum(bool(row.get('heap')) for row in p['rows']) for p in parts]
            compared += 1
            if named != sum(of_heaps):
                complain(db, text, named, 'rows of all', of_heaps, 'of heaps')
        for heap, part in zip(heaps, parts):
            if any(row.get('heap', heap) != heap for row in part['rows']):
                complain(db, text, 'rows of other heaps than', heap)
    rules = lambda rows: {row['rule']: row['count'] for row in rows}
    whole, parts = rules(ask(db, 'triage', '--all')['rows']), [
        rules(ask(db, 'triage', '--all', '--heap', heap)['rows']) for heap in heaps]
    for rule in RULES:
        compared += 1
        if whole[rule] != sum(part[rule] for part in parts):
            complain(db, 'triage', rule, whole[rule], 'of all', [part[rule] for part in parts], 'of heaps')
    # Two dumps: the second equals the first, so nothing changes.
    shutil.copy(db + '.heapdb', 'copy.heapdb')
    for by in 'class', 'package', 'path', 'dominator', 'growth', 'object':
        def compare(*heap):
            out = subprocess.run(['heapdb', 'diff', 'copy.heapdb', db + '.heapdb', '--by', by, '--json',
                                  '--limit', 'all', *heap], capture_output=True, text=True)
            return json.loads(out.stdout)
        whole, parts = compare(), [compare('--heap', heap) for heap in heaps]
        for name in 'heap_objects_before', 'heap_objects', 'heap_shallow', 'ids_same':
            compared += 1
            if whole['facts'].get(name) != sum(part['facts'].get(name, 0) for part in parts) and (
                    name in whole['facts']):
                complain(db, 'diff', by, name, whole['facts'][name], [part['facts'].get(name) for part in parts])
        objects = lambda rows: sum(row['objects'] for row in rows if by in ('class', 'package'))
        if objects(whole['rows']) != sum(objects(part['rows']) for part in parts):
            complain(db, 'diff', by, 'objects of rows')
    # One object: its referrers are divided among the heaps. Paths go through one heap only.
    objects = {heap: subprocess.run(['heapdb', 'export', 'objects', '--heap', heap, '--columns', 'id', '--db',
                                     db + '.heapdb'], capture_output=True, text=True).stdout.split()[1:]
               for heap in heaps}
    of_heap = {ident: heap for heap in heaps for ident in objects[heap]}
    several = 0
    for heap in heaps:
        for ident in objects[heap][::max(1, len(objects[heap]) // 15)]:
            refs = [r['ref'] for r in ask(db, 'object', ident)['rows'] if r.get('ref')]
            found = {h: [r['ref'] for r in ask(db, 'object', ident, '--heap', h)['rows']] for h in heaps}
            compared += 1
            if sorted(refs) != sorted(sum(found.values(), [])):
                complain(db, 'object', ident, refs, found)
            path = subprocess.run(['heapdb', 'query', 'path', ident, '--heap', heap, '--exclude', 'none',
                                   '--db', db + '.heapdb', '--json'], capture_output=True, text=True)
            free = [r['id'] for r in ask(db, 'path', ident, '--exclude', 'none', '--internals')['rows']]
            steps = [r['id'] for r in json.loads(path.stdout)['rows']] if path.returncode == 0 else []
            is_within = all(of_heap.get(step) == heap for step in free)
            several += not is_within and bool(steps)
            compared += 1
            if any(of_heap.get(step) != heap for step in steps) or (is_within and not steps):
                complain(db, 'path', ident, 'in', heap, steps, free, path.stderr)
    if len(heaps) > 1 and not several:
        complain(db, 'no path goes another way because of the heap')
print(compared, 'figures compared')
sys.exit(1 if bad or compared < 60 else 0)
PY
