#!/bin/sh
# tests/oracle/shark_growth_test.sh - growth over dumps of one process equals the answer of LeakCanary's growth detector
# (Shark 3.0-alpha-8) in ../shared/android/grow.shark.txt: paths, objects, retained bytes after each dump, children and
# their increase, for two thresholds.
#
# Deliberate differences: an increasing number of GC roots is also reported (there is none here); the nodes inside a map
# are children of its table, which Shark shows as children of the map.
set -eu
export PYTHONPATH="$HDB_ROOT/tests/support" PYTHONDONTWRITEBYTECODE=1

for tool in zstd python3; do
	command -v $tool >/dev/null || { echo "no $tool here"; exit 77; }
done
shared=${HDB_DUMPS:-$HDB_ROOT/../shared/dumps}/../android
[ -f "$shared/grow.shark.txt" ] || { echo "no $shared; HDB_DUMPS names another folder"; exit 77; }
for n in 0 1 2 3; do
	zstd -dqf -o "$TMPDIR/g$n.hprof" "$shared/g$n.hprof.zst"
	heapdb import --quiet "$TMPDIR/g$n.hprof" >/dev/null
done
cd "$TMPDIR"
for loops in 5 1; do
	heapdb diff g0.heapdb g1.heapdb --by growth --loops $loops --json >"g1.$loops.json"
	heapdb diff g0.heapdb g1.heapdb g2.heapdb --by growth --loops $loops --json >"g2.$loops.json"
	heapdb diff g0.heapdb g1.heapdb g2.heapdb g3.heapdb --by growth --loops $loops --json \
		>"g3.$loops.json"
done
# A threshold above all growth: no rows.
heapdb diff g0.heapdb g1.heapdb g2.heapdb g3.heapdb --by growth --loops 6 --json >none.json
heapdb diff g0.heapdb g3.heapdb --by path --min 1 --json >path.json
# In reverse order everything shrinks.
heapdb diff g3.heapdb g0.heapdb --by growth --loops 2 --json >back.json

python3 - "$shared/grow.shark.txt" <<'PY'
import json, re, sys

from checks import end, want

def name(text):
    text = text.replace('GcRoot(StickyClass)', 'GC root (sticky class)')
    text = re.sub(r'(STATIC|INSTANCE)_FIELD ', '', text)
    text = re.sub(r'ARRAY_ENTRY (\S+)\.\[x\]', r'\1[x]', text)
    return text.replace('-> instance of ', '-> ')

shark = {}
for line in open(sys.argv[1]):
    part = line.rstrip('\n').split('\t')
    if len(part) != 11 or part[0].startswith('#'):
        continue
    after, loops = part[0][:2], int(part[1])
    path = ' > '.join(name(step) for step in part[2].split(' / '))
    node = shark.setdefault((after, loops), {}).setdefault(path, {'children': {}})
    node['objects'], node['bytes'] = int(part[3]), int(part[4])
    node['more'] = int(part[5])
    if not name(part[8]).startswith('HashMap$Node[][x]'):
        node['children'][name(part[8])] = (int(part[9]), int(part[10]))
want('answers of Shark', len(shark), 6)

for (after, loops), nodes in shark.items():
    have, last = {}, None
    for row in json.load(open('%s.%d.json' % (after, loops)))['rows']:
        if row['level'] == 0:
            by_dump = [int(n) for n in row.get('steps', '%s %s' % (row['retained_before'],
                                                                   row['retained'])).split()]
            last = have[row['name']] = {'children': {}, 'objects': row['objects'],
                                        'bytes': row['retained'],
                                        'more': by_dump[-1] - by_dump[-2]}
            want('alone', row['retained_alone'], row['retained'])
        else:
            counts = [int(n) for n in row.get('counts', '%s %s' % (row['objects_before'],
                                                                   row['objects'])).split()]
            last['children'][row['name']] = (counts[-1], counts[-1] - counts[-2])
    want('%s, %d loops' % (after, loops), have, nodes)

for none in 'none', 'back':
    want(none, json.load(open(none + '.json'))['rows'], [])

# By path, G.events and G.stable are two nodes: one grows, the other does not.
rows = {row['name']: row for row in json.load(open('path.json'))['rows']}
want('events', rows['G.events (static) -> java.util.ArrayList']['status'], 'grown')
want('cache', rows['G.cache (static) -> java.util.HashMap']['status'], 'grown')
want('stable', 'G.stable (static) -> java.util.ArrayList' in rows, False)
end()
PY
