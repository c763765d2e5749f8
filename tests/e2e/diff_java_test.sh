#!/bin/sh
# diff_java_test.sh - three dumps of a program that grows by known amounts (java/Grow.java),
# compared: by class, by path, along the dominators, by object and as suspects. Needs a JDK and
# python3.
set -eu
export PYTHONPATH="$HDB_ROOT/tests/support" PYTHONDONTWRITEBYTECODE=1
for tool in java javac python3; do
	command -v $tool >/dev/null || { echo "no $tool here"; exit 77; }
done
cd "$TMPDIR"
javac -J-XX:TieredStopAtLevel=1 -d . "$HDB_ROOT/tests/java/Grow.java"
# Once with a collection before each dump, and once with a collector that never moves objects.
java -cp . -Xmx64m -XX:+UseSerialGC Grow "$TMPDIR/live" live
# Another process with another collector: the map that grows is still the first owner.
java -cp . -Xmx64m -XX:+UseG1GC Grow "$TMPDIR/g1-" live
heapdb diff live1.hprof g1-3.hprof --quiet >owners
sed -n 2p owners | grep -q '^  1  Grow.CACHE (static): 1,000 -> 3,000 Grow.Payload, ' ||
	{ echo "other collector: the first owner is not the map"; head -n 5 owners; exit 1; }
fixed=
if java -XX:+UnlockExperimentalVMOptions -XX:+UseEpsilonGC -version >/dev/null 2>&1; then
	java -cp . -XX:+UnlockExperimentalVMOptions -XX:+UseEpsilonGC -Xmx256m \
		Grow "$TMPDIR/fixed" all >/dev/null
	fixed=fixed
fi

diff()
{
	heapdb diff "$@" --quiet --json
}

diff live1.hprof live3.hprof >class.json
diff live1.hprof live2.hprof live3.hprof --by path >path.json
diff live1.hprof live2.hprof live3.hprof --by growth --loops 100 >growth.json
diff live1.heapdb live2.heapdb live3.heapdb --by dominator >dominator.json
diff live1.heapdb live3.heapdb --by suspect >suspect.json
if [ -n "$fixed" ]; then
	diff fixed1.hprof fixed3.hprof --by object --only 'Grow*' >object.json
	# Objects of two runs are unrelated.
	diff live1.heapdb fixed1.heapdb --by object >strangers.json
fi
python3 - "$fixed" <<'PY'
import json
import sys

from checks import end, want

def rows(name):
    return json.load(open(name + '.json'))['rows']

by_name = {row['name']: row for row in rows('class')}
for name, before, after in (('Grow$Payload', 1000, 3000), ('Grow$Note', 100, 300), ('Grow$Brief', 50, 0)):
    row = by_name[name]
    want(name, (row['objects_before'], row['objects']), (before, after))
want('Payload', by_name['Grow$Payload']['status'], 'grown')
want('Steady', 'Grow$Steady' in by_name, False)
want('same', [row for row in rows('class') if row['status'] == 'same'], [])
want('Brief', by_name['Grow$Brief']['status'], 'gone')
payload = by_name['Grow$Payload']
want('retained by payloads', payload['retained_delta'], 2 * payload['retained_before'])

def paths(name):
    stack, out = [], {}
    for row in rows(name):
        del stack[row['level']:]
        stack.append(row['name'])
        out[tuple(stack)] = row
    return out

def ending(found, *names):
    return [row for path, row in found.items() if path[-len(names):] == names]

for name in ('path', 'dominator'):
    found = paths(name)
    if name == 'path':
        entries = ending(found, 'Grow.CACHE (static) -> java.util.HashMap', 'Grow.CACHE (static)[] -> Grow$Payload')
        want(name + ': a field that does not grow',
             [row for path, row in found.items() if path[-1].startswith('Grow.STEADY')], [])
    else:
        entries = ending(found, 'class Grow', 'java.util.HashMap', 'java.util.HashMap$Node[]',
                         'java.util.HashMap$Node', 'Grow$Payload')
    want(name + ': ways to the payloads', len(entries), 1)
    want(name + ': payloads', (entries[0]['objects_before'], entries[0]['objects'], entries[0]['grows']),
         (1000, 3000, True))
    notes = [row for path, row in found.items()
             if path[0] in ('java.lang.Thread', 'a GC root (thread object) -> java.lang.Thread')
             and path[-1] in ('Grow$Note', 'a local variable of thread "worker"[] -> Grow$Note')]
    want(name + ': notes', [(row['objects_before'], row['objects']) for row in notes], [(100, 300)])
    want(name + ': what stays', ending(found, 'Grow$Steady'), [])

growth = [row for row in rows('growth') if 'Grow$' in row['name'] and row['level'] == 1]
want('growth', sorted((row['name'], row['counts']) for row in growth),
     [('ArrayList[x] -> Grow$Note', '100 200 300'), ('HashMap[x] -> Grow$Payload', '1000 2000 3000')])

suspects = rows('suspect')
want('suspects', [row['name'] for row in suspects], ['class Grow'])
want('where it grows', suspects[0]['point'], 'class Grow > java.util.HashMap > java.util.HashMap$Node[]')
want('what grows', suspects[0]['point_of'], 'java.util.HashMap$Node > Grow$Payload > byte[]')

if sys.argv[1]:
    answer = json.load(open('object.json'))
    counts = {}
    for row in answer['rows']:
        key = row['name'], row['status']
        counts[key] = counts.get(key, 0) + 1
    want('IDs', answer['facts']['ids_stable'], True)
    want('objects', counts, {('Grow$Payload', 'new'): 2000, ('Grow$Note', 'new'): 200,
                             ('Grow$Brief', 'gone'): 50})
    strangers = json.load(open('strangers.json'))
    want('IDs of another run', strangers['facts']['ids_stable'], False)
    want('its objects', strangers['rows'], [])
end()
PY

# Conditions determine the exit status.
# shellcheck disable=SC2016 # $ is part of class names
{
	rc=0
	heapdb diff live1.heapdb live3.heapdb --fail-if 'growth(retained(Grow$Payload)) > 1M' \
		--quiet >/dev/null || rc=$?
	[ $rc -eq 1 ] || { echo "growth above a limit: exit $rc, not 1"; exit 1; }
	heapdb diff live1.heapdb live3.heapdb --fail-if 'growth(count(Grow$Steady)) > 0' \
		--fail-if 'growth(retained(Grow$Payload)) > 3M' --quiet >/dev/null
}
