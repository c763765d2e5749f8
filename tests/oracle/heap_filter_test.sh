#!/bin/sh
# heap_filter_test.sh - the parts that --heap shows are the whole: objects and bytes of each of
# Android's heaps add up to those of all, for every query that takes --heap; rows are of that heap.
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
import json, subprocess, sys

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

# A query, and the facts and columns whose sums over the heaps are those of all.
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
]

# The second has native memory, but one heap only.
for db, least in (('android_service_leak', 2), ('android_ahat_test', 1)):
    heaps = [row['name'] for row in ask(db, 'histogram', '--by', 'heap')['rows']]
    if len(heaps) < least:
        sys.exit('%s: only the heaps %s' % (db, heaps))
    for text, facts, columns in SUMS:
        words = text.split()
        whole = ask(db, *words)
        parts = [ask(db, *words, '--heap', heap) for heap in heaps]
        for name in facts.split():
            want, have = whole['facts'].get(name), sum(p['facts'].get(name, 0) for p in parts)
            compared += 1
            if want != have:
                complain(db, text, name, want, 'of all', have, 'of heaps')
        for name in columns.split():
            total = lambda rows: sum(row.get(name) or 0 for row in rows)
            want, have = total(whole['rows']), sum(total(p['rows']) for p in parts)
            compared += 1
            if want != have:
                complain(db, text, 'column', name, want, 'of all', have, 'of heaps')
        # Rows that name their heap are of it, and none is lost.
        named = sum(bool(row.get('heap')) for row in whole['rows'])
        if named:
            of_heaps = [sum(bool(row.get('heap')) for row in p['rows']) for p in parts]
            compared += 1
            if named != sum(of_heaps):
                complain(db, text, named, 'rows of all', of_heaps, 'of heaps')
        for heap, part in zip(heaps, parts):
            if any(row.get('heap', heap) != heap for row in part['rows']):
                complain(db, text, 'rows of other heaps than', heap)
print(compared, 'figures compared')
sys.exit(1 if bad or compared < 60 else 0)
PY
