#!/bin/sh
# what_grew_java_test.sh - programs in which one thing leaks while others grow, shrink and move (java/Leaks.java),
# dumped three times: `diff --by owner` names the leak's owner in the first three rows, with its numbers, whatever the
# collector, and in the first row if the dumps come from different collectors; with two dumps and with three. Objects
# that moved from one field to another do not count as new if they keep their addresses. Needs a JDK and python3.
# Slow: up to 17 runs of a Java program.
set -eu
export PYTHONPATH="$HDB_ROOT/tests/support" PYTHONDONTWRITEBYTECODE=1
for tool in java javac python3; do
	command -v $tool >/dev/null || { echo "no $tool here"; exit 77; }
done
cd "$TMPDIR"
javac -J-XX:TieredStopAtLevel=1 -nowarn -d . "$HDB_ROOT/tests/java/Leaks.java" 2>javac.log || { cat javac.log; exit 1; }

# ask COLLECTOR KIND: writes its answers to COLLECTOR.KIND.2.json and .3.json
ask()
{
	name=$1.$2
	case $1 in
	fixed) set -- "$2" -Xmx512m -XX:+UnlockExperimentalVMOptions -XX:+UseEpsilonGC ;;
	*) set -- "$2" -Xmx256m "-XX:+Use$1GC" ;;
	esac
	kind=$1
	shift
	java "$@" Leaks "$kind" "$TMPDIR/$name." >/dev/null
	heapdb diff "$name.1.hprof" "$name.3.hprof" --by owner --json --quiet >"$name.2.json"
	heapdb diff "$name.1.heapdb" "$name.2.hprof" "$name.3.heapdb" --by owner --json --quiet >"$name.3.json"
	rm -f "$name".*.hprof "$name".*.heapdb*
}

for kind in sessions cache listeners locals loaders builder queue; do
	ask Serial "$kind"
	ask G1 "$kind"
done
java -XX:+UnlockExperimentalVMOptions -XX:+UseEpsilonGC -version >/dev/null 2>&1 && ask fixed sessions
# Dumps of different processes and collectors: the leak is in the first row, whatever the roots are.
for collector in Serial Parallel G1; do
	java -Xmx256m "-XX:+Use${collector}GC" Leaks sessions "$TMPDIR/$collector." >/dev/null
done
for pair in Serial.G1 G1.Serial Parallel.G1 Serial.Parallel; do
	heapdb diff "${pair%.*}.1.hprof" "${pair#*.}.3.hprof" --by owner --json --quiet >"$pair.pair"
done
python3 - <<'PY'
import glob
import json

# For the leak: its owner, what is counted, and the numbers in the first and last dump.
LEAKS = {
    'sessions': ('Leaks$SessionManager.sessions', 'Leaks$Session', 1500, 3100),
    'cache': ('Leaks$PlanCache.plans', 'Leaks$Query', 1500, 3100),
    'listeners': ('Leaks$EventBus.listeners', 'Leaks$View', 1500, 3100),
    'locals': ('thread-local Leaks$Trace.CURRENT (static)', 'byte[]', 1500, 3100),
    'loaders': ('Leaks$DriverRegistry.DRIVERS (static)', 'Leaks$Application', 8, 16),
    'builder': ('Leaks$AuditLog.text', 'java.lang.StringBuilder', 1, 1),
    'queue': ('Leaks$Mailer.outbox', 'Leaks$Job', 1500, 3100),
}
from checks import end, want

for name in sorted(glob.glob('*.pair')):
    first = json.load(open(name))['rows'][0]
    want(name + ': first row', (first['name'], first['held'], first['objects_before'], first['objects']),
         LEAKS['sessions'])

answers = sorted(glob.glob('*.json'))
for name in answers:
    collector, kind, dumps, _ = name.split('.')
    answer = json.load(open(name))
    rows = answer['rows']
    owner, held, before, after = LEAKS[kind]
    at = [i for i, row in enumerate(rows) if row['name'] == owner]
    want(name + ': rows of ' + owner, len(at), 1)
    if not at:
        continue
    row = rows[at[0]]
    print('%-24s row %d: %s' % (name, at[0] + 1, row['text']))
    want(name + ': in the first three', at[0] < 3, True)
    want(name + ': what', (row['held'], row['objects_before'], row['objects']), (held, before, after))
    want(name + ': grew', row['status'], 'grown')
    # Things that come and go with it have no row, and neither have those that keep their size.
    for other in rows:
        want(name + ': ' + other['name'], other['name'].startswith(
            ('Leaks$Session.', 'Leaks$Query.', 'Leaks$View.', 'Leaks$Job.', 'Leaks$Application.', 'Leaks.LRU')), False)
    shrunk = [i for i, other in enumerate(rows) if other['retained_delta'] < 0]
    want(name + ': what shrank is last', shrunk, list(range(len(rows) - len(shrunk), len(rows))))
    want(name + ': buffers shrank', [r['objects_delta'] for r in rows if r['name'] == 'Leaks.BUFFERS (static)'], [-200])
    if dumps == '3':
        want(name + ': steadily', row['grows'] or kind == 'builder', True)
    if collector == 'fixed':
        want(name + ': matched by', answer['facts']['matched_by'], 'ID')
        want(name + ': what moved', [r['name'] for r in rows if r['name'] in ('Leaks.left (static)',
                                                                             'Leaks.right (static)')], [])
end(len(answers) < 28)
PY
