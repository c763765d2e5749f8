#!/bin/sh
# meminfo_test.sh - memory of Android's processes from every form of `dumpsys meminfo`, smaps and smaps_rollup, alone
# and together with a dump, in all formats; and other files.
set -eu
command -v python3 >/dev/null || { echo "no python3 here"; exit 77; }
export PYTHONPATH="$HDB_ROOT/tests/oracle:$HDB_ROOT/tests/support" PYTHONDONTWRITEBYTECODE=1
cd "$TMPDIR"
python3 - <<'PY'
import json, os, re, subprocess
from android_dump import Dump

from checks import end, want

def ask(text, *more, exit=0):
    open('text', 'w').write(text)
    done = subprocess.run(['heapdb', 'meminfo', 'text', *more, '--json'], capture_output=True, text=True)
    want('exit of ' + text[:40], done.returncode, exit)
    return json.loads(done.stdout)

def rows(text, *more):
    answer = ask(text, *more)
    return {(row['section'], row['name']): row for row in answer['rows']}

def kb(n):
    return n * 1024

header = '''Applications Memory Usage (in Kilobytes):
Uptime: 5285433 Realtime: 6628897

** MEMINFO in pid %d [%s] **
'''
# Android 5 and 6, all columns (-a): swapped pages, no SwapPss.
five = header % (21074, 'com.android.settings')
five += '''                   Pss      Pss   Shared  Private   Shared  Private  Swapped     Heap     Heap     Heap
                 Total    Clean    Dirty    Dirty    Clean    Clean    Dirty     Size    Alloc     Free
                ------   ------   ------   ------   ------   ------   ------   ------   ------   ------
  Native Heap     7353        0     1624     7304        0        0       11     9368     7139     2228
  Dalvik Heap    14429        0    18304    14000        0        0        0    32901    28569     4332
 Dalvik Other      896        0       16      896        0        0        0
      Gfx dev     4366        0      252     4240        0        0        0
     .so mmap      692       36     1944      328     9044       36        0
        TOTAL    27736      136    22140    26768     9044       36       11    42269    35708     6560

 Dalvik Details
        .Heap     9000        0        0     9000        0        0        0
         .LOS     1000        0        0     1000        0        0        0
      .Zygote     4429        0    18304     4000        0        0        0

 Objects
               Views:       86         ViewRootImpl:        1
         AppContexts:        3           Activities:        1

 SQL
         MEMORY_USED:        0
'''
have = rows(five)
row = have['memory', 'Native Heap']
want('5: native', [row[k] for k in ('pss', 'pss_clean', 'shared_dirty', 'private_dirty', 'swap', 'heap_size',
                                    'heap_alloc', 'heap_free', 'pid', 'process')],
     [kb(7353), 0, kb(1624), kb(7304), kb(11), kb(9368), kb(7139), kb(2228), 21074, 'com.android.settings'])
want('5: no heap', have['memory', 'Dalvik Other'].get('heap_size'), None)
want('5: details', have['details', '.LOS']['pss'], kb(1000))
want('5: objects', have['objects', 'Activities']['count'], 1)
want('5: SQL', (have['sql', 'MEMORY_USED']['size'], ('objects', 'MEMORY_USED') in have), (0, False))

# Android 8 to 10: few columns, SwapPss, a summary.
eight = header % (5049, 'com.acme') + '''                   Pss  Private  Private  SwapPss     Heap     Heap     Heap
                 Total    Dirty    Clean    Dirty     Size    Alloc     Free
                ------   ------   ------   ------   ------   ------   ------
  Native Heap    63416    63204        0        7   113664    77388    36275
  Dalvik Heap     4859     4820        0        0     7057     5309     1748
    GL mtrack    10444    10444        0        0
   Other mmap      315       12      176        0
        TOTAL   135623    95140    28124        7   120721    82697    38023

 App Summary
                       Pss(KB)
                        ------
           Java Heap:     7700
         Native Heap:    63204
       Private Other:     5528
               TOTAL:   135623       TOTAL SWAP PSS:        7

 Asset Allocations
    zip:/data/app/base.apk:/resources.arsc: 12K
'''
have = rows(eight)
want('8: swap', have['memory', 'TOTAL']['swap_pss'], kb(7))
want('8: graphics', have['memory', 'GL mtrack']['pss'], kb(10444))
want('8: summary', [have['summary', n]['pss'] for n in ('Java Heap', 'Private Other', 'TOTAL')],
     [kb(7700), kb(5528), kb(135623)])
want('8: summary swap', have['summary', 'TOTAL']['swap_pss'], kb(7))

# SQL, databases of Android 10 and of 14, assets; unknown lines between are skipped.
have = rows(eight + """
 SQL
         MEMORY_USED:      348
  PAGECACHE_OVERFLOW:       46          MALLOC_SIZE:       47

 DATABASES
      pgsz     dbsz   Lookaside(b)          cache  Dbname
         4       20             24         1/18/2  /data/user/0/com.acme/databases/x.db
         4      120             24         1/18/2    (attached) temp
 DATABASES
      pgsz     dbsz   Lookaside(b)   cache hits cache misses cache size  Dbname
PER CONNECTION STATS
         4       60             24        1 18 2    1234.db
POOL STATS
     cache hits  cache misses    cache size  Dbname
               5            4             9  /data/1234.db

 Native Allocations
                             Count                       Total(kB)
      Bitmap (malloced):        9                             1234

 Asset Allocations
    zip:/data/app/base.apk:/resources.arsc: 1,012K
""")
want('SQL', {name: row['size'] for (section, name), row in have.items() if section == 'sql'},
     {'MEMORY_USED': kb(348), 'PAGECACHE_OVERFLOW': kb(46), 'MALLOC_SIZE': kb(47)})
want('databases', {name: row['size'] for (section, name), row in have.items() if section == 'databases'},
     {'/data/user/0/com.acme/databases/x.db': kb(20), '(attached) temp': kb(120), '1234.db': kb(60)})
want('assets', {name: row['size'] for (section, name), row in have.items() if section == 'assets'},
     {'zip:/data/app/base.apk:/resources.arsc': kb(1012)})
want('their process', {row['process'] for row in have.values()}, {'com.acme'})

# /proc/meminfo: the system, without processes.
have = rows('MemTotal:       24612345 kB\nMemFree:  1 kB\nHugePages_Total:       0\nActive(anon):   77 kB\n')
want('system', {(section, name): (row['size'], row.get('pid')) for (section, name), row in have.items()},
     {('system', 'MemTotal'): (kb(24612345), None), ('system', 'MemFree'): (kb(1), None),
      ('system', 'Active(anon)'): (kb(77), None)})

# Since Android 12: Rss, two columns of the summary, several processes in one text.
twelve = eight + header % (6000, 'com.acme:push')
twelve += '''                   Pss  Private  Private  SwapPss      Rss     Heap     Heap     Heap
                 Total    Dirty    Clean    Dirty    Total     Size    Alloc     Free
                ------   ------   ------   ------   ------   ------   ------   ------
  Native Heap     1000      900        0        0     1200     4096     3000     1096
  Dalvik Heap      500      400        0        0      700     2048     1000     1048
        TOTAL     2500     1300        0        0     9000     6144     4000     2144

 App Summary
                       Pss(KB)                        Rss(KB)
                        ------                         ------
           Java Heap:      400                            700
       Private Other:      100
             Unknown:                                      50
           TOTAL PSS:     2500            TOTAL RSS:     9000      TOTAL SWAP PSS:        3
'''
answer = ask(twelve)
totals = [(row['pid'], row['process'], row['pss'], row['rss']) for row in answer['rows']
          if row['section'] == 'memory' and row['name'] == 'TOTAL']
want('12: processes', totals, [(5049, 'com.acme', kb(135623), None), (6000, 'com.acme:push', kb(2500), kb(9000))])
last = [row for row in answer['rows'] if row['section'] == 'summary' and row['pid'] == 6000]
want('12: summary', [(row['name'], row['pss'], row['rss']) for row in last if row['name'] in ('Java Heap', 'TOTAL')],
     [('Java Heap', kb(400), kb(700)), ('TOTAL', kb(2500), kb(9000))])
want('12: summary swap', last[-1]['swap_pss'], kb(3))
# The same with Windows line ends and without indentation.
want('CRLF', ask(re.sub('^ +', '', twelve, flags=re.M).replace('\n', '\r\n'))['rows'], answer['rows'])

# --checkin, versions 4 and 3.
names = ('native', 'dalvik', 'other', 'all')
def checkin(version, swap_pss):
    four = lambda n: '%d,%d,%d,%d,' % (n, n + 1, n + 2, 3 * n + 3)
    heap = lambda n: '%d,%d,N/A,%d,' % (n, n + 1, 2 * n + 1)
    text = '%d,77,com.acme,' % version + heap(100) + heap(80) + heap(20)
    text += ''.join(four(n) for n in (1000, 10, 20, 30, 40, 50, 60))
    text += four(70) if swap_pss else ('N/A,' * 4 if version == 4 else '')
    text += 'Dalvik Other,5,1,1,1,1,1,1,' + ('1,' if swap_pss else 'N/A,' if version == 4 else '')
    return text + 'Stack,6,0,0,0,6,0,0,' + ('0,' if swap_pss else 'N/A,' if version == 4 else '') + '\n'
for version, swap_pss in ((4, True), (4, False), (3, False)):
    have = rows('time,5285433,6628897\n' + checkin(version, swap_pss))
    want('checkin %d' % version,
         [have['memory', 'Native Heap'][k] for k in ('pid', 'heap_size', 'heap_alloc', 'heap_free', 'pss',
                                                     'private_dirty',
                                                     'swap')],
         [77, kb(100), kb(80), kb(20), kb(1000), kb(40), kb(60)])
    want('checkin total', have['memory', 'TOTAL']['pss'], kb(3003))
    want('checkin swap', have['memory', 'TOTAL'].get('swap_pss'), kb(213) if swap_pss else None)
    want('checkin stack', have['memory', 'Stack']['pss'], kb(6))
    want('checkin rest', have['memory', 'Unknown']['pss'], kb(1002 - 5 - 6))

# All processes, on Android 6 and 10.
answer = ask('''Total PSS by process:
    183456 kB: com.acme (pid 1234 / activities)
     12345 kB: surfaceflinger (pid 210)

Total PSS by OOM adjustment:
    183456 kB: Native
''')
want('processes', [(r['section'], r['process'], r['pid'], r['pss']) for r in answer['rows']],
     [('process', 'com.acme', 1234, kb(183456)), ('process', 'surfaceflinger', 210, kb(12345))])
answer = ask('''Total RSS by process:
    283,456K: com.acme (pid 1234 / activities)
Total PSS by process:
    183,456K: com.acme (pid 1234 / activities)
''')
want('processes', [(r.get('rss'), r.get('pss')) for r in answer['rows']], [(kb(283456), None), (None, kb(183456))])

# smaps: one mapping for each rule, with distinct sizes.
maps = [
    ('[heap]', 'Native Heap'), ('[anon:libc_malloc]', 'Native Heap'), ('[anon:scudo:primary]', 'Native Heap'),
    ('[anon:GWP-ASan Guard Page]', 'Native Heap'), ('/dev/ashmem/libc malloc (deleted)', 'Native Heap'),
    ('[stack]', 'Stack'), ('[anon:stack_and_tls:1234]', 'Stack'), ('/system/lib64/libc.so', '.so mmap'),
    ('', '.so mmap'), ('/a/b.jar', '.jar mmap'), ('/data/app/base.apk', '.apk mmap'), ('/f.ttf', '.ttf mmap'),
    ('/data/base.odex', '.dex mmap'), ('/data/classes.dex (deleted)', '.dex mmap'), ('/data/base.vdex', '.dex mmap'),
    ('/data/boot.oat', '.oat mmap'), ('/data/app/base.art', '.art mmap'),
    ('[anon:dalvik-/system/framework/boot.art]', '.art mmap'),
    ('/dev/ashmem/dalvik-main space (deleted)', 'Dalvik Heap'),
    ('[anon:dalvik-main space (region space)]', 'Dalvik Heap'),
    ('[anon:dalvik-large object space allocation]', 'Dalvik Heap'),
    ('[anon:dalvik-free list large object space]', 'Dalvik Heap'),
    ('[anon:dalvik-zygote space]', 'Dalvik Heap'), ('[anon:dalvik-non moving space]', 'Dalvik Heap'),
    ('[anon:dalvik-LinearAlloc]', 'Dalvik Other'), ('[anon:dalvik-indirect ref table]', 'Dalvik Other'),
    ('/memfd:jit-cache (deleted)', 'Dalvik Other'), ('/dev/ashmem/dalvik-card table (deleted)', 'Dalvik Other'),
    ('/dev/kgsl-3d0', 'Gfx dev'), ('/dev/ashmem/CursorWindow: /data/x.db', 'Cursor'), ('/dev/ashmem/gralloc', 'Ashmem'),
    ('/dev/binder', 'Other dev'), ('[anon:.bss]', 'Unknown'),
    ('/data/fonts.dat', 'Other mmap'), ('[vdso]', 'Other mmap'),
]
text, sums, at = '', {}, 0x7f0000000000
for n, (name, kind) in enumerate(maps):
    pss = 1 + n
    text += '%x-%x rw-p 00000000 00:00 0 %s%s\n' % (at, at + 4096, ' ' * 20, name)
    text += ('Size: 4 kB\nRss: %d kB\nPss: %d kB\nShared_Clean: 0 kB\nShared_Dirty: 2 kB\nPrivate_Clean: 3 kB\n'
             'Private_Dirty: 1 kB\nSwap: 5 kB\nSwapPss: 4 kB\nVmFlags: rd wr\n' % (2 * pss, pss))
    sums[kind] = sums.get(kind, 0) + pss
    at += 4096 if name.endswith('.so') else 8192
have = rows(text)
for kind, pss in sums.items():
    want('smaps ' + kind, have.get(('memory', kind), {}).get('pss'), kb(pss))
want('smaps kinds', sorted(n for s, n in have if s == 'memory'), sorted(list(sums) + ['TOTAL']))
want('smaps total', have['memory', 'TOTAL']['pss'], kb(sum(sums.values()) + 4 * len(maps)))
want('smaps boot', (have['details', '.Boot art']['pss'], have['details', '.App art']['pss']), (kb(18), kb(17)))
want('smaps java', have['summary', 'Java Heap']['pss'], kb(6 * 1 + 2 * 4))
# Zero-initialised data of a library follows it; any other nameless mapping is unknown.
apart = text.replace('%x-' % (0x7f0000000000 + 7 * 8192 + 4096), '%x-' % 0x7f7000000000, 1)
want('bss', rows(apart)['memory', 'Unknown']['pss'], kb(sums['Unknown'] + 9))
have = rows('55aa-7fff ---p 00000000 00:00 0      [rollup]\nRss: 8 kB\nPss: 6 kB\n'
            'Pss_Anon: 4 kB\nPss_File: 2 kB\nPss_Shmem: 0 kB\n'
            'Private_Dirty: 3 kB\nSwapPss: 1 kB\n')
want('rollup', (have['memory', 'TOTAL']['pss'], have['memory', 'anonymous']['pss'], have['memory', 'files']['pss']),
     (kb(7), kb(4), kb(2)))
if os.path.exists('/proc/self/smaps'):
    want('own smaps', rows(open('/proc/self/smaps').read())['memory', 'TOTAL']['pss'] > 100000, True)

# Files of other kinds.
for text in '', '\n', 'hello', '55aa-7fff r--p 00000000 00:00 0 /x\n', 'Pss Private\nTotal\n', \
        'Applications Memory Usage (kB):\n':
    want('refused', ask(text, exit=3)['error']['exit'], 3)
# Numbers that are too large, and rows without an end.
have = rows(header % (1, 'x') + 'Pss Private\nTotal Dirty\nNative Heap 99999999999999999999999 1\nTOTAL 5')
want('large', have['memory', 'Native Heap']['pss'] > 1 << 60, True)

# With a dump: the process with the dump's name, not the first one.
d = Dump(sdk=33)
d.define('android.app.ActivityThread', 'java.lang.Object', 'L mBoundApplication')
d.define('android.app.ActivityThread$AppBindData', 'java.lang.Object', 'L appInfo')
d.define('android.content.pm.ApplicationInfo', 'java.lang.Object', 'L processName')
info = d.new('android.content.pm.ApplicationInfo', processName=d.string('com.acme:push'))
thread = d.new('android.app.ActivityThread',
               mBoundApplication=d.new('android.app.ActivityThread$AppBindData', appInfo=info))
d.static('android.app.ActivityThread', 'sCurrentActivityThread', thread)
d.define('libcore.util.NativeAllocationRegistry', 'java.lang.Object', 'J size')
d.define('libcore.util.NativeAllocationRegistry$CleanerThunk', 'java.lang.Object', 'L this$0')
d.define('java.lang.ref.Reference', 'java.lang.Object', 'L referent')
d.define('sun.misc.Cleaner', 'java.lang.ref.Reference', 'L thunk')
registry = d.new('libcore.util.NativeAllocationRegistry', size=300000)
d.static('app.Main', 'kept', d.array('sun.misc.Cleaner', [d.new('sun.misc.Cleaner', referent=thread,
         thunk=d.new('libcore.util.NativeAllocationRegistry$CleanerThunk', **{'this$0': registry}))]))
d.static('app.Main', 'bytes', d.numbers('B', bytes(200000)))
d.write('app.hprof')
answer = ask(twelve, 'app.hprof')
facts = answer['facts']
want('joined', (facts['pss'], facts['native_in_dump'], 200000 < facts['java_in_dump'] < 260000),
     (kb(2500), 300000, True))
want('rest', facts['not_in_dump'], kb(2500) - 300000 - facts['java_in_dump'])
want('summary', '2.4 MB of Pss' in facts['summary'] and '0.3 MB are native' in facts['summary'], True)
dump = {(r['pid'], r['name']): r['dump'] for r in answer['rows'] if r['dump'] is not None}
want('by row', dump, {(6000, 'Native Heap'): 300000, (6000, 'Dalvik Heap'): facts['java_in_dump'],
                      (6000, 'TOTAL'): 300000 + facts['java_in_dump']})
small = ask(header % (1, 'x') + 'Pss Private\nTotal Dirty\nTOTAL 5 5\n', 'app.hprof')['facts']
want('swapped', (small['not_in_dump'], 'exceeds the memory in use' in small['summary']), (0, True))

# Several captures: a row each, in the categories of Android Studio, and a bar chart.
def capture(name, uptime, sizes, pid=5049):
    kinds = ('Java Heap', 'Native Heap', 'Code', 'Stack', 'Graphics', 'Private Other', 'System')
    text = 'Uptime: %d Realtime: 1\n' % uptime if uptime else ''
    text += '** MEMINFO in pid %d [com.acme] **\n Pss Private\n Total Dirty\n TOTAL %d 1\n' % (pid, sum(sizes))
    if len(sizes) > 1:
        text += 'App Summary\n Pss(KB)\n' + ''.join(' %s: %d\n' % pair for pair in zip(kinds, sizes))
    text += '** MEMINFO in pid 1 [other] **\n' + 'Uptime: 7 Realtime: 1\n' * bool(uptime)
    text += 'App Summary\n Java Heap: 99999\n'
    open(name, 'w').write(text)
def timeline(*args):
    return subprocess.run(['heapdb', 'meminfo', *args], capture_output=True, text=True)
capture('c1', 100000, (10240, 20480, 4096, 512, 1024, 100, 200))
capture('c2', 130500, (10240, 40960, 4096, 512, 1024, 100, 200))
capture('c3', 99000, (11264, 15360, 4096, 512, 2048, 100, 200), pid=6000)
capture('c4', 0, (5000,))
done = timeline('c1', 'c2', 'c3', 'c4', '--json')
answer = json.loads(done.stdout)
names = 'seconds', 'pid', 'java', 'native', 'graphics', 'stack', 'code', 'others', 'total'
want('timeline', [[row.get(name) for name in names] for row in answer['rows']],
     [[0, 5049, *map(kb, (10240, 20480, 1024, 512, 4096, 300, 36652))],
      [30.5, 5049, *map(kb, (10240, 40960, 1024, 512, 4096, 300, 57132))],
      [-1, 6000, *map(kb, (11264, 15360, 2048, 512, 4096, 300, 33580))],
      [None, 5049, *[None] * 6, kb(5000)]])
want('files', [row['capture'] for row in answer['rows']], ['c1', 'c2', 'c3', 'c4'])
want('growth', json.loads(timeline('c1', 'c2', '--json').stdout)['facts']['summary'],
     'from the first to the last capture, Pss changed by +20.0 MB; largest change: Native, +20.0 MB')
import xml.etree.ElementTree as ET
done = timeline('c1', 'c2', 'c3', '--chart')
boxes = [box for box in ET.fromstring(done.stdout).iter('{http://www.w3.org/2000/svg}rect') if len(box)]
want('bars', len(boxes), 18)
want('titles', [box[0].text for box in boxes if box[0].text[3:9] == 'Native'],
     ['1: Native 20.0 MB', '2: Native 40.0 MB', '3: Native 15.0 MB'])
for n, total in enumerate((36652, 57132, 33580)):
    bar = boxes[6 * n:6 * n + 6]
    want('height %d' % n, round(sum(float(box.get('height')) for box in bar)), round(400 * total / 57132))
    want('stacked %d' % n, all(abs(float(a.get('y')) - float(b.get('y')) - float(b.get('height'))) < .02
                               for a, b in zip(bar, bar[1:])), True)
open('system', 'w').write('MemTotal: 1 kB\n')
for wrong, text in ((('c1', 'system'), "for a single process"), (('c1', '--chart'), 'two or more captures'),
                    (('c1', 'c2', 'app.hprof'), 'app.hprof'), (('c1', 'c2', '--chart', '--json'), '--chart')):
    done = timeline(*wrong)
    want('refused %s' % (wrong,), (done.returncode > 1, text in done.stderr + done.stdout), (True, True))

# All formats contain the rows.
open('text', 'w').write(eight)
for form in 'csv', 'tsv', 'jsonl', 'table':
    done = subprocess.run(['heapdb', 'meminfo', 'text', '--format', form, '--columns', 'name,pss'],
                          capture_output=True, text=True)
    want(form, (done.returncode, 'GL mtrack' in done.stdout), (0, True))
open('odd', 'wb').write(eight.encode().replace(b'com.acme', b'\x9b1\xffacme'))
for form in 'csv', 'tsv':
    done = subprocess.run(['heapdb', 'meminfo', 'odd', '--format', form], capture_output=True)
    want('bytes that are no UTF-8 in ' + form, '\ufffd1\ufffdacme' in done.stdout.decode('utf-8', 'strict'), True)
done = subprocess.run('heapdb meminfo - --csv <text | head -2 | tail -1', shell=True, capture_output=True, text=True)
want('standard input', done.stdout.startswith('memory,5049,com.acme,Native Heap,%d' % kb(63416)), True)
end()
PY
for wrong in 'meminfo' 'meminfo none' 'meminfo text --columns nothing' 'meminfo text a b' 'meminfo text none.hprof'; do
	# shellcheck disable=SC2086
	heapdb $wrong >out 2>&1 && { echo "heapdb $wrong: no failure"; exit 1; }
	[ -s out ] || { echo "heapdb $wrong: no message"; exit 1; }
done
exit 0
