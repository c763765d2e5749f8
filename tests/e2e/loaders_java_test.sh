#!/bin/sh
# loaders_java_test.sh - class loaders and virtual threads of programs that print their own numbers (java/Loading.java,
# java/Virtual.java). Needs a JDK and python3; virtual threads need JDK 21 or later.
set -eu
export PYTHONPATH="$HDB_ROOT/tests/support" PYTHONDONTWRITEBYTECODE=1
for tool in java javac python3; do
	command -v $tool >/dev/null || { echo "no $tool here"; exit 77; }
done
cd "$TMPDIR"
javac -J-XX:TieredStopAtLevel=1 -d . "$HDB_ROOT/tests/java/Loading.java"
java -cp . -Xmx64m Loading "$TMPDIR/loading.hprof"
heapdb import loading.hprof --quiet >/dev/null
heapdb query loaders --db loading.heapdb --json >loaders.json
heapdb query duplicate-classes 'Loading*' --db loading.heapdb --json >duplicates.json

# The newest installed JDK, for virtual threads.
jdk=
for home in /usr/lib/jvm/*; do
	[ -x "$home/bin/javac" ] || continue
	version=$("$home/bin/java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p')
	[ "${version:-0}" -ge 21 ] && jdk=$home
done
if [ -n "$jdk" ]; then
	mkdir v
	"$jdk/bin/javac" -J-XX:TieredStopAtLevel=1 -d v "$HDB_ROOT/tests/java/Virtual.java"
	"$jdk/bin/java" -cp v -Xmx64m Virtual "$TMPDIR/virtual.hprof"
	heapdb import virtual.hprof --quiet >/dev/null
	heapdb query dominators --db virtual.heapdb >/dev/null
	heapdb query threads --all --no-stack --db virtual.heapdb --json >threads.json
	heapdb query threads 'parked-3' --db virtual.heapdb --json >stack.json
	heapdb threads --db virtual.heapdb --limit all >table
fi
python3 - "$jdk" <<'PY'
import json
import sys

from checks import end, want

rows = json.load(open('loaders.json'))['rows']
ours = {row['label']: row for row in rows if row['name'] == 'Loading$L'}
app = [row for row in rows if row['label'] == 'app'][0]
want('loaders', len(ours), 11)
for i in range(10):
    row = ours['loader-%d' % i]
    want('loader %d' % i, (row['classes'], row['objects'], row['parent'], row['level']),
         (1, 1 - i % 2, app['id'], app['level'] + 1))
    want('use of loader %d' % i, row['use'], 'held' if i % 2 else 'instances')
child = ours['child']
want('child', (child['classes'], child['parent'], child['use']), (0, ours['loader-0']['id'], 'held'))
order = [row['id'] for row in rows]
want('child comes after its parent', order.index(child['id']), order.index(ours['loader-0']['id']) + 1)

answer = json.load(open('duplicates.json'))
want('duplicate names', {key: answer['facts'][key] for key in ('names', 'classes')}, {'names': 1, 'classes': 10})
want('their loaders', sorted(row['loader_id'] for row in answer['rows']),
     sorted(ours['loader-%d' % i]['id'] for i in range(10)))
want('their instances', sum(row['objects'] for row in answer['rows']), 5)

if sys.argv[1]:
    answer = json.load(open('threads.json'))
    rows = {row['thread']: row for row in answer['rows']}
    spinner = rows['spinner']
    want('spinner', (spinner['state'], spinner['virtual']), ('RUNNABLE', True))
    carrier = [row for row in answer['rows'] if row['id'] == spinner['carrier']]
    want('its carrier', [row['carries'] for row in carrier], [spinner['id']])
    for i in range(10):
        row = rows['parked-%d' % i]
        want('parked', (row['state'], row['virtual'], row['carrier'], row['stack_bytes'] > 0),
             ('WAITING', True, None, True))
        want('holds', row['retained'] > 10000, True)
    want('deeper stacks are larger', rows['parked-9']['stack_bytes'] > rows['parked-0']['stack_bytes'], True)
    want('later', (rows['later']['state'], rows['later']['virtual'], rows['later']['serial']),
         ('NEW', True, None))
    want('mounted', answer['facts']['mounted'], 1)
    # Their stacks differ in depth: one row for each kind of name and frame.
    table = [' '.join(line.split()[2:]) for line in open('table')]
    parked = [line for line in table if line.startswith('parked-')]
    want('one row', [line[:35] for line in parked], ['parked-* (10) WAITING Virtual.deep:'])
    stack = json.load(open('stack.json'))['rows']
    chunks = [row for row in stack if row['kind'] == 'chunk']
    want('chunks', [row['class'] for row in chunks], ['jdk.internal.vm.StackChunk'] * len(chunks))
    want('bytes of chunks', sum(row['stack_bytes'] for row in chunks), stack[0]['stack_bytes'])
end()
PY
