#!/bin/sh
# leak_contents_test.sh - contents of suspects by class, and objects dominated by accumulation points, as reported by
# `query leaks`, equal sums over the exported dominators, on heaps with more than a million objects below one suspect:
# nothing is sampled. The size of entries of very large maps is estimated, and the estimate must be within the stated
# bounds.
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
cd "$TMPDIR"
cat > compare.py << 'PY'
import collections, json, subprocess, sys

database, least = sys.argv[1], int(sys.argv[2])


def ask(*args):
    return subprocess.run(['heapdb', *args, '--db', database], check=True, stdout=subprocess.PIPE,
                          universal_newlines=True).stdout


answer = json.loads(ask('query', 'leaks', '--json', '--threshold', sys.argv[3]))
suspects = [r for r in answer['rows'] if r['kind'] == 'suspect']
points = {r['suspect']: r['id'] for r in answer['rows'] if r['kind'] == 'point'}
single = {r['id']: r['suspect'] for r in suspects if r['id']}
groups = {r['class']: r['suspect'] for r in suspects if not r['id']}
point_of = {i: s for s, i in points.items()}

objects, retained = {}, {}
columns = 'id,class,shallow,retained,dominator'
for line in ask('export', 'objects', '--columns', columns, '--format', 'tsv').splitlines()[1:]:
    at, name, shallow, size, dominator = line.split('\t')
    if size and size != '0':
        objects[at] = (name, int(shallow), int(size), dominator)
suspect_of = {}
contents = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0, 0]))
children = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0, 0]))
for at, (name, shallow, size, dominator) in objects.items():
    way = []
    up = at
    while up not in suspect_of:
        way.append(up)
        # Objects that a class dominates may be suspects of their own.
        if up in single or objects[up][3] not in objects:
            suspect_of[up] = single.get(up) or groups.get(objects[up][0].split(' ')[0], 0)
            break
        up = objects[up][3]
    for step in way:
        suspect_of[step] = suspect_of[up]
    kind = 'java.lang.Class' if name.startswith('class ') else name
    for sums, key in ((contents, suspect_of[at]), (children, None if at in single else point_of.get(dominator))):
        if key:
            sums[key][kind][0] += 1
            sums[key][kind][1] += shallow
            sums[key][kind][2] += size
largest = max((sum(c[0] for c in contents[r['suspect']].values()) for r in suspects), default=0)
bad = largest < least
for kind, sums in (('content', contents), ('child', children)):
    for suspect in {r['suspect'] for r in suspects}:
        rows = [r for r in answer['rows'] if r['kind'] == kind and r['suspect'] == suspect]
        # Children that are also elements are listed once.
        if kind == 'child' and not rows:
            rows = [r for r in answer['rows'] if r['kind'] == 'element' and r['suspect'] == suspect]
        want, listed = sums[suspect], 0
        others = [0, 0, 0]
        for name, sum_of in want.items():
            row = [r for r in rows if r['class'] == name]
            if not row:
                others = [a + b for a, b in zip(others, sum_of)]
                continue
            listed += 1
            have = [row[0]['objects'], row[0]['shallow'], row[0]['retained']]
            if have[:2] != sum_of[:2] or (kind == 'child' and have[2] != sum_of[2]) or row[0]['text']:
                print('suspect', suspect, kind, name, have, 'not', sum_of, row[0]['text'])
                bad = True
        rest = [r for r in rows if r['class'] is None]
        have = [rest[0]['objects'], rest[0]['shallow'], rest[0]['retained']] if rest else [0, 0, 0]
        if have[:2] != others[:2] or listed + len(rest) != len(rows):
            print('suspect', suspect, kind, 'others', have, 'not', others)
            bad = True
        if kind == 'content' and sum(r['shallow'] for r in rows) != \
                [r for r in suspects if r['suspect'] == suspect][0]['retained']:
            print('suspect', suspect, 'its contents are not all that it retains')
            bad = True
print('%s: %d suspects, at most %d objects' % (database, len(suspects), largest), 'FAILED' if bad else '')
sys.exit(bad)
PY
failed=0
# contents OBJECTS LEAST PERCENT: at least so many objects must be below one suspect.
contents() {
	python3 "$HDB_ROOT/tests/support/shop.py" "$1" 1 dump.hprof
	heapdb import dump.hprof -o dump.heapdb --force --quiet > import.log
	python3 compare.py dump.heapdb "$2" "$3" || { echo "FAILED: $1"; failed=1; }
}
contents 1100000 1020000 10
contents 100000 10000 1
heapdb import "$DUMP" -o sample.heapdb --quiet > import.log
python3 compare.py sample.heapdb 1000 1 || failed=1

# A table of 500,000 entries, each with a key and a value of one of two kinds.
cat > table.py << 'PY'
import struct, sys

COUNT = 500000
out = bytearray(b'JAVA PROFILE 1.0.2\0' + struct.pack('>IQ', 8, 0))


def record(tag, body):
    out.extend(struct.pack('>BII', tag, 0, len(body)) + body)


names = ['java/lang/Object', 'java/lang/Class', 'java/util/HashMap$Node', '[Ljava/lang/Object;', 'a/Small', 'a/Large',
         'java/lang/Long', 'a/Main', 'key', 'value', 'hash', 'table', 'x']
for i, name in enumerate(names):
    record(1, struct.pack('>Q', 100 + i) + name.encode())
for i in range(8):
    record(2, struct.pack('>IQIQ', i + 1, 0x1000 + 16 * i, 0, 100 + i))
CLASS = [0x1000 + 16 * i for i in range(8)]
TABLE = 0x2000


def of_class(no, size, fields, statics=b'\0\0'):
    return struct.pack('>BQIQQQQQQI', 0x20, CLASS[no], 0, 0 if no == 0 else CLASS[0], 0, 0, 0, 0, 0, size) + b'\0\0' + \
        statics + struct.pack('>H', len(fields)) + b''.join(struct.pack('>QB', 100 + n, t) for n, t in fields)


heap = bytearray()
heap += of_class(0, 0, []) + of_class(1, 0, []) + of_class(2, 16, [(8, 2), (9, 2)]) + of_class(3, 0, [])
heap += of_class(4, 8, [(12, 11)]) + of_class(5, 80, [(12, 11)] * 10) + of_class(6, 8, [(12, 11)])
heap += of_class(7, 0, [], struct.pack('>HQBQ', 1, 111, 2, TABLE))
heap += b''.join(struct.pack('>BQ', 0x05, c) for c in CLASS)
first = 0x10000
heap += struct.pack('>BQIIQ', 0x22, TABLE, 0, COUNT, CLASS[3])
heap += struct.pack('>%dQ' % COUNT, *range(first, first + 16 * 16 * COUNT, 16 * 16))
truth = {'a.Small': 0, 'a.Large': 0, 'java.lang.Long': COUNT}
instance = struct.Struct('>BQIQI')
for i in range(COUNT):
    at = first + 256 * i
    large = i % 7 == 0 or i % 1000 > 990
    truth['a.Large' if large else 'a.Small'] += 1
    heap += instance.pack(0x21, at, 0, CLASS[2], 16) + struct.pack('>QQ', at + 64, at + 128)
    heap += instance.pack(0x21, at + 64, 0, CLASS[6], 8) + bytes(8)
    heap += instance.pack(0x21, at + 128, 0, CLASS[5 if large else 4], 80 if large else 8) + \
        bytes(80 if large else 8)
record(0x1c, bytes(heap))
record(0x2c, b'')
open(sys.argv[1], 'wb').write(out)
for name, count in truth.items():
    print(name, count)
PY
python3 table.py table.hprof > truth
heapdb import table.hprof -o table.heapdb --quiet > import.log
heapdb query leaks --db table.heapdb --json > answer
python3 - truth answer << 'PY' || { echo "FAILED: elements"; failed=1; }
import json, re, sys

truth = {line.split()[0]: int(line.split()[1]) for line in open(sys.argv[1])}
rows = [r for r in json.load(open(sys.argv[2]))['rows'] if r['kind'] == 'element']
bad = {r['class'] for r in rows} != set(truth)
for row in rows:
    told = re.match(r'estimated from ([\d,]+) of 500,000 entries, within ([0-9.]+) % \(95 of 100 times\)$',
                    row['text'] or '')
    away = 100 * abs(row['objects'] - truth[row['class']]) / truth[row['class']]
    print(row['class'], row['objects'], 'for', truth[row['class']], row['text'])
    # Twice the bound: one in 10,000 is that far off.
    if not told or float(told.group(2)) > 1.5 or away > 2 * float(told.group(2)):
        bad = True
sys.exit(bad)
PY
# Two tables with the same entries, which are then held by their class: the objects below it are not another list.
sed "s/1, 111, 2, TABLE)/2, 111, 2, TABLE, 112, 2, TABLE + 8)/; s/'>HQBQ', 2/'>HQBQQBQ', 2/
	s/^heap += struct.pack('>%dQ' % COUNT.*/at = range(first + 128, first + 256 * COUNT, 256)/
	/^at = /a table = struct.pack('>%dQ' % COUNT, *at)
	/^at = /a heap += table + struct.pack('>BQIIQ', 0x22, TABLE + 8, 0, COUNT, CLASS[3]) + table" table.py \
	> twice.py
python3 twice.py twice.hprof > truth
heapdb import twice.hprof -o twice.heapdb --quiet > import.log
heapdb query leaks --db twice.heapdb --csv --columns kind,class,objects | grep '^child\|^element' > found
diff - found << 'EOF' || { echo "FAILED: the same list twice"; failed=1; }
element,a.Small,424713
element,a.Large,75287
element,java.lang.Object[],2
EOF
exit $failed
