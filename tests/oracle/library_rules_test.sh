#!/bin/sh
# tests/oracle/library_rules_test.sh - each rule about references of libraries (traces/library.rules) has a dump in
# which it applies and others in which it must not: another field, an older or newer Android, another vendor, another
# build. The rules are read from the table itself, so a new one is tested, too.
set -eu
command -v python3 >/dev/null || { echo "no python3 here"; exit 77; }
export PYTHONPATH="$HDB_ROOT/tests/oracle" PYTHONDONTWRITEBYTECODE=1
cd "$TMPDIR"
python3 - "$HDB_ROOT/src/queries/traces/library.rules" <<'PY'
import json, subprocess, sys
from android_dump import Dump

bad = 0

def complain(text):
    global bad
    bad += 1
    if bad < 20:
        print(text)

class Rule:
    pass

kinds = {'field': 'LIBRARY_FIELD', 'static': 'LIBRARY_STATIC', 'native': 'LIBRARY_NATIVE', 'thread': 'LIBRARY_LOCAL'}
rules = []
for line in open(sys.argv[1]):
    key, _, value = line.strip().partition(' ')
    value = value.strip()
    if key == 'rule':
        r = Rule()
        r.id, r.field, r.vendor, r.build, r.least, r.most = value, None, None, None, 0, 0
        r.ignored = r.growth = False
        rules.append(r)
    elif key == 'verdict':
        r.ignored, r.growth = True, value == 'grows'
    elif key in kinds:
        r.kind = kinds[key]
        setattr(r, 'field' if key in ('field', 'static') else 'cls', value)
    elif key and key != '#':
        setattr(r, {'class': 'cls', 'since': 'least', 'until': 'most'}.get(key, key),
                int(value) if key in ('since', 'until') else value)
if len(rules) < 100:
    complain('only %d rules were read' % len(rules))

def device_of(r):
    return (r.most or r.least or 28, (r.vendor or 'Google').split('|')[0], r.build or 'AB1')

def others_of(r):
    """Devices that the rule is not for."""
    sdk, vendor, build = device_of(r)
    out = []
    if r.most:
        out.append((r.most + 1, vendor, build))
    if r.least > 1:
        out.append((r.least - 1, vendor, build))
    if r.vendor:
        out.append((sdk, 'Nobody', build))
    if r.build:
        out.append((sdk, vendor, 'other'))
    return out

# Cases by device: (rule, path, expected result). Paths: the rule's own reference, or another one.
cases = {}
def add(device, *case):
    cases.setdefault(device, []).append(case)

for r in rules:
    if r.growth:
        continue
    add(device_of(r), r, 'own', 'ignored' if r.ignored else 'library')
    add(device_of(r), r, 'other', 'application')
    for device in others_of(r):
        add(device, r, 'own', None)

def applies(device, cls, field, kind):
    """Whether any rule of the table is for it: several may be on one field."""
    for r in rules:
        sdk, vendor, build = device
        if (r.cls == cls and r.field == field and r.kind == kind and not r.growth and
                (not r.least or sdk >= r.least) and (not r.most or sdk <= r.most) and
                (not r.vendor or vendor in r.vendor.split('|')) and (not r.build or build == r.build)):
            return True
    return False

def leaking(d, n):
    name = 'app.Leak%d' % n
    d.define(name, 'android.app.Activity')
    return name, d.new(name, mDestroyed=True)

def build(d, n, r, way):
    name, leak = leaking(d, n)
    other = 'another%d' % n
    if r.kind == 'LIBRARY_STATIC':
        d.static(r.cls, r.field if way == 'own' else other, leak)
    elif r.kind == 'LIBRARY_FIELD':
        fields = {r.field if way == 'own' else 'another': leak}
        d.static('app.Holder', 'f%d' % n, d.new(r.cls, **fields))
    elif r.kind == 'LIBRARY_NATIVE':
        cls = r.cls if way == 'own' else 'app.Native%d' % n
        d.root('JNI global', d.new(cls, held=leak))
    else:
        thread = d.new('java.lang.Thread', name=d.string(r.cls if way == 'own' else other))
        d.root('thread object', thread, serial=100 + n)
        d.root('Java frame', leak, serial=100 + n, frame=0)
    return name

tried = 0
for device, list_of in sorted(cases.items()):
    # A static field is one place, so each of them has its own dump.
    rounds, used = [], []
    for case in list_of:
        key = (case[0].cls, case[0].field) if case[0].kind == 'LIBRARY_STATIC' else None
        for i, keys in enumerate(used):
            if key is None or key not in keys:
                break
        else:
            rounds.append([])
            used.append(set())
            i = len(used) - 1
        rounds[i].append(case)
        used[i].add(key)
    for part in rounds:
        d = Dump(sdk=device[0], manufacturer=device[1], build=device[2])
        d.define('android.content.Context')
        d.define('android.app.Activity', 'android.content.Context', 'Z mDestroyed')
        d.define('java.lang.Thread', 'java.lang.Object', 'L name')
        for r, way, _ in part:
            if r.kind == 'LIBRARY_FIELD':
                d.define(r.cls, 'java.lang.Object', 'L ' + r.field, 'L another')
            elif r.kind == 'LIBRARY_NATIVE':
                d.define(r.cls, 'java.lang.Object', 'L held')
        for n, (r, way, _) in enumerate(part):
            if r.kind == 'LIBRARY_NATIVE' and way != 'own':
                d.define('app.Native%d' % n, 'java.lang.Object', 'L held')
        names = [build(d, n, r, way) for n, (r, way, _) in enumerate(part)]
        d.write('rules.hprof')
        subprocess.run(['heapdb', 'import', '--force', '--quiet', 'rules.hprof'], check=True,
                       stdout=subprocess.DEVNULL)
        rows = json.loads(subprocess.run(['heapdb', 'query', 'leak-traces', '--db', 'rules.heapdb', '--json'],
                                         check=True, capture_output=True, text=True).stdout)['rows']
        found, library = {}, {}
        for row in rows:
            if row['class'].startswith('app.Leak'):
                found[row['class']] = row['kind']
                library[row['class']] = said
            said = row.get('library')
        for name, (r, way, expected) in zip(names, part):
            tried += 1
            if expected is None:
                expected = 'library' if applies(device, r.cls, r.field, r.kind) else 'application'
            have = {'unreachable': 'ignored'}.get(found.get(name), found.get(name))
            what = '%s %s.%s, %s reference, %s' % (r.id, r.cls, r.field, way, device)
            if have != expected:
                complain('%s: %s, not %s' % (what, have, expected))
            elif (expected == 'library' and r.kind != 'LIBRARY_NATIVE' and device == device_of(r) and
                  r.id not in (library[name] or '')):
                complain('%s: told as %r' % (what, library[name]))

# Fields that grow normally are not reported as growth; other fields are.
def growing(device, r, way, count):
    d = Dump(sdk=device[0], manufacturer=device[1], build=device[2])
    d.define('java.util.ArrayList', 'java.lang.Object', 'L elementData', 'I size')
    items = d.array('java.lang.Object', [d.new('app.Item') for _ in range(count)])
    items = d.new('java.util.ArrayList', elementData=items, size=count)
    if r.kind == 'LIBRARY_STATIC':
        d.static(r.cls, r.field if way == 'own' else 'another', items)
    else:
        d.define(r.cls, 'java.lang.Object', 'L ' + r.field, 'L another')
        d.static('app.Holder', 'f', d.new(r.cls, **{r.field if way == 'own' else 'another': items}))
    d.write('%d.hprof' % count)

for r in rules:
    if not r.growth:
        continue
    for device, way, expected in [(device_of(r), 'own', False), (device_of(r), 'other', True)] + \
            [(device, 'own', True) for device in others_of(r)]:
        tried += 1
        growing(device, r, way, 3)
        growing(device, r, way, 6)
        for n in 3, 6:
            subprocess.run(['heapdb', 'import', '--force', '--quiet', '%d.hprof' % n], check=True,
                           stdout=subprocess.DEVNULL)
        rows = json.loads(subprocess.run(['heapdb', 'diff', '3.heapdb', '6.heapdb', '--by', 'growth', '--loops', '3',
                                          '--json'], check=True, capture_output=True, text=True).stdout)['rows']
        if bool(rows) != expected:
            complain('%s, %s reference, %s: %s' % (r.id, way, device, rows))
if tried < 2 * len(rules):
    complain('only %d cases of %d rules' % (tried, len(rules)))
print('%d cases of %d rules' % (tried, len(rules)))
sys.exit(bad != 0)
PY
