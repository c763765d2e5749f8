#!/bin/sh
# tests/oracle/android_names_test.sh - names of Android objects that do not contain their name: Binders, their proxies,
# DexCaches, the arrays that represent a class's own memory.
set -eu
command -v python3 >/dev/null || { echo "no python3 here"; exit 77; }
export PYTHONPATH="$HDB_ROOT/tests/oracle" PYTHONDONTWRITEBYTECODE=1
cd "$TMPDIR"
python3 - <<'PY'
import json, subprocess, sys
from android_dump import Dump

d = Dump(sdk=33)
d.define('android.os.Binder', 'java.lang.Object', 'L mDescriptor')
d.define('android.os.BinderProxy', 'java.lang.Object', 'J mNativeData')
d.define('a.IThing$Stub', 'android.os.Binder')
d.define('a.Thing', 'a.IThing$Stub')
d.define('a.IThing$Stub$Proxy', 'java.lang.Object', 'L mRemote')
d.define('a.IOther$Stub$Proxy', 'java.lang.Object', 'L mRemote')
d.define('a.Holder', 'java.lang.Object', 'L mRemote')
d.define('java.lang.DexCache', 'java.lang.Object', 'L location')
cls = d.define('a.Sized')
names, kept = {}, []

def named(ident, name):
    names['0x%x' % ident] = name
    kept.append(ident)
    return ident

named(d.new('a.Thing', mDescriptor=d.string('a.IThing')), 'a.Thing binder stub (a.IThing)')
named(d.new('a.Thing', mDescriptor=d.string('b.IThing')), 'a.Thing binder token (b.IThing)')
named(d.new('android.os.Binder', mDescriptor=d.string('token')), 'android.os.Binder binder token (token)')
named(d.new('android.os.Binder', mDescriptor=d.string('')), 'android.os.Binder')
named(d.new('android.os.Binder'), 'android.os.Binder')
proxies = [named(d.new('android.os.BinderProxy'), 'android.os.BinderProxy' + name)
           for name in (' for a.IThing', ' for a.IOther', '', '')]
kept += [d.new('a.IThing$Stub$Proxy', mRemote=proxies[0]), d.new('a.IOther$Stub$Proxy', mRemote=proxies[1]),
         d.new('a.Holder', mRemote=proxies[2]), d.new('a.IOther$Stub$Proxy')]
named(d.new('java.lang.DexCache', location=d.string('/system/framework/a.jar')),
      'java.lang.DexCache /system/framework/a.jar')
named(d.new('java.lang.DexCache'), 'java.lang.DexCache')
overhead = named(d.numbers('B', bytes(40), ident=cls + 1), 'byte[40] $classOverhead of a.Sized')
d.static('a.Sized', '$classOverhead', overhead)
# The same class without such a field, and another class with such a field.
named(d.numbers('B', bytes(8), ident=d.define('a.Plain') + 1), 'byte[8]')
far = named(d.numbers('B', bytes(8)), 'byte[8]')
d.static('a.Plain', '$classOverhead', far)
d.static('a.Main', 'kept', d.array('java.lang.Object', kept))
d.write('names.hprof')
subprocess.run(['heapdb', 'import', '--quiet', 'names.hprof'], check=True, stdout=subprocess.DEVNULL)
bad = 0
for ident, name in names.items():
    answer = json.loads(subprocess.run(['heapdb', 'query', 'path', ident, '--db', 'names.heapdb', '--json'],
                                       check=True, capture_output=True, text=True).stdout)['rows']
    labels = [row['label'] for row in answer if row['id'] == ident]
    if name not in labels:
        print('%s: %r, not %s' % (ident, labels, name))
        bad = 1
sys.exit(bad)
PY
