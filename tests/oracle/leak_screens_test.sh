#!/bin/sh
# leak_screens_test.sh - the 20 leaks of a heap made by bench/java/Screens.java: the correct number, all alike, each
# under its own field, the same for any memory budget and number of threads. Each step equals that of LeakCanary's
# Shark, if SHARK is a command that analyses the dump appended to it with Android's rules. SCREENS_ROWS=1330000 uses the
# heap of 8 M objects instead of a small one, SCREENS_DUMP an existing dump of it.
set -eu
export PYTHONPATH="$HDB_ROOT/tests/support" PYTHONDONTWRITEBYTECODE=1
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
cd "$TMPDIR"
if [ -n "${SCREENS_DUMP:-}" ]; then
	ln -s "$SCREENS_DUMP" screens.hprof
else
	command -v "${JAVA_HOME:+$JAVA_HOME/bin/}javac" > /dev/null || { echo "no javac here"; exit 77; }
	sh "$HDB_ROOT/bench/java/make.sh" screens screens.hprof "${SCREENS_ROWS:-2000}" > make.log
fi
heapdb import screens.hprof -o screens.heapdb --quiet > import.log
heapdb query leak-traces --db screens.heapdb --csv > traces.csv
heapdb query leak-traces --db screens.heapdb --csv --memory 16M --threads 1 > small.csv
cmp traces.csv small.csv
# The first screen lists the first five with their holders, and the number of the others.
heapdb screens.heapdb > overview.txt
[ "$(grep -c '^ *[0-9]  .* leaks: ' overview.txt)" = 5 ]
grep -q 'held by' overview.txt
grep -q '^  15 more leaks: heapdb leaks$' overview.txt
if [ -n "${SHARK:-}" ]; then
	$SHARK "$(realpath screens.hprof)" > shark.txt 2> shark.log || { tail -5 shark.log; exit 1; }
	answer=shark.txt
else
	echo "SHARK is not set: no answer to compare with"
	answer=
fi
python3 - $answer <<'PY'
import csv, re, sys

# All paths of the dump; those of one leak have the same references.
leaks = {}
for row in csv.DictReader(open('traces.csv', encoding='utf-8')):
    leaks.setdefault(row['leak'], {}).setdefault(row['trace'], []).append(row)

from checks import end, want

def simple(name):
    return name.rsplit('.', 1)[-1]


def human(size):
    """A number of bytes as Shark writes it."""
    if size < 1000:
        return '%d B' % size
    power = 0
    while size >= 1000 ** (power + 2):
        power += 1
    return '%.1f %sB' % (size / 1000 ** (power + 1), 'kMG'[power])


# The program leaves 20 screens, each held by one of the fields a to t; no view is held separately.
want('leaks', len(leaks), 20)
fields, sizes = [], set()
for traces in leaks.values():
    want('traces', len(traces), 1)
    steps = next(iter(traces.values()))
    gone = [step for step in steps if step['status'] == 'leaking']
    want('leaking', [step['class'] for step in gone], ['Screens$Screen'])
    want('kind', {step['kind'] for step in steps}, {'application'})
    holder = steps[-2]
    want('holder', (holder['class'], holder['owner']), ('Screens$Listeners', 'Screens$Listeners'))
    fields.append(holder['name'])
    sizes.add((gone[0]['retained'], gone[0]['retained_objects']))
want('fields', ''.join(sorted(fields)), 'abcdefghijklmnopqrst')
want('signatures', len({next(iter(traces.values()))[0]['signature'] for traces in leaks.values()}), 20)
want('sizes', len(sizes), 1)

ours = {}
for traces in leaks.values():
    steps = traces['1']
    lines = []
    for step in steps:
        name = simple(step['class'])
        text = [name, 'class' if step['type'] == 'class' else 'instance',
                {'leaking': 'YES', 'not leaking': 'NO', 'unknown': 'UNKNOWN'}[step['status']],
                '%s in %s objects' % (human(int(step['retained'])), step['retained_objects'])
                if step['retained'] else '']
        if step['name']:
            text += [('static ' if step['reference_type'] == 'static' else '') +
                     simple(step['owner']) + '.' + step['name'], step['suspect'] == 'true']
        lines.append(text)
    gone = next(step for step in steps if step['status'] == 'leaking')
    ours[steps[0]['signature']] = (int(gone['retained']), lines)

if len(sys.argv) > 1:
    theirs, at = {}, None
    for line in open(sys.argv[1], encoding='utf-8'):
        line = line.rstrip('\n').replace('\u200b', '')
        if re.match(r'\d+ (LIBRARY LEAKS|UNREACHABLE OBJECTS)', line):
            break
        found = re.match(r'(\d+) bytes retained by leaking objects', line)
        if found:
            size = int(found.group(1))
        found = re.match(r'Signature: (\w+)', line)
        if found:
            at = theirs[found.group(1)] = (size, [])
        found = re.match(r'[├╰][─→] ?(\S+) (instance|class|array)', line)
        if found:
            at[1].append([simple(found.group(1)), found.group(2), '', ''])
        found = re.match(r'[│ ] +Leaking: (\w+)', line)
        if found:
            at[1][-1][2] = found.group(1)
        found = re.match(r'[│ ] +Retaining (.*)', line)
        if found:
            at[1][-1][3] = found.group(1)
        found = re.match(r'│ +↓ (.*)', line)
        if found:
            at[1][-1] += [found.group(1), False]
        if re.match(r'│ +~+$', line):
            at[1][-1][-1] = True
    want('leaks of Shark', len(theirs), 20)
    want('signatures of Shark', sorted(ours), sorted(theirs))
    for signature, leak in theirs.items():
        want('leak ' + signature, ours.get(signature), leak)
    print('%d leaks with %d steps compared' % (len(theirs), sum(len(leak[1]) for leak in theirs.values())))
end()
PY
