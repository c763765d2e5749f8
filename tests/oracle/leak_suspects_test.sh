#!/bin/sh
# leak_suspects_test.sh - the suspects of `query leaks` equal those of Eclipse MAT's rules, except for classes,
# computed from MAT's own tables (see mat_tables_test.sh): top-level objects of its dominator tree above the threshold,
# the rest of it by class, and the descent from a single object while its largest child keeps 70 %.
# Slow: reads whole dumps in Python.
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
command -v zstd > /dev/null || { echo "no zstd here"; exit 77; }
dumps=${HDB_DUMPS:-$HDB_ROOT/../shared/dumps}
list=$(find "$dumps" -name '*.mat.tsv.zst' 2> /dev/null | sed 's/.*\///; s/\.mat\.tsv\.zst$//' | sort)
[ -n "$list" ] || { echo "no dumps with tables in $dumps; HDB_DUMPS names another folder"; exit 77; }
cat > "$TMPDIR/compare.py" << 'PY'
import collections, json, re, sys

table, answers = sys.argv[1], sys.argv[2:]
rows, children = {}, collections.defaultdict(list)
for line in open(table, encoding='utf-8'):
    at, name, shallow, retained, dominator = line.rstrip('\n').split('\t')
    at, dominator = int(at, 16), int(dominator, 16)
    rows[at] = (name, int(shallow), int(retained))
    children[dominator].append(at)
whole = sum(r[1] for r in rows.values())


def point(at):
    for _ in range(1000):
        if not children[at]:
            return at
        child = max(children[at], key=lambda c: rows[c][2])
        if rows[child][2] / rows[at][2] < 0.7:
            return at
        at = child
    return None


# Unlike in MAT, a class is split: each object above the threshold that it dominates is a suspect, since its static
# fields are different owners, and so is the rest if it is above the threshold. So is the only instance of a class of
# the application, if at least two suspects replace it.
PLATFORM = re.compile(r'(java|javax|sun|com\.sun|jdk|org\.omg|org\.w3c|org\.xml|org\.ietf|android|dalvik|libcore)\..*|'
                      r'.*(ClassLoader|Thread|\[\])|.*\$\$Lambda.*')
instances = collections.Counter(r[0] for r in rows.values())


def is_split(at, threshold):
    name, _, whole = rows.get(at, ('', 0, 0))
    largest = max((rows[c][2] for c in children[at]), default=0)
    return (name and instances[name] == 1 and not PLATFORM.fullmatch(name) and largest > threshold and
            whole - largest > threshold)


def single(at, threshold):
    whole, end = rows[at][2], point(at)
    at_class = next((x for x in (at, end) if rows.get(x, ('',))[0] == 'java.lang.Class'), None)
    if at_class is None and is_split(end, threshold):
        at_class = end
    large = [c for c in children[at_class] if threshold < rows[c][2] < whole] if at_class else []
    found = [suspect for c in large for suspect in single(c, threshold)]
    rest = whole - sum(rows[c][2] for c in large)
    if not large or rest > threshold:
        found.append((rest, 1, hex(at), hex(at_class if large else end)))
    return found


# Unlike in MAT, all objects of a value class together are no suspect.
VALUES = re.compile(r'java\.lang\.(Class|Object|String|Boolean|Byte|Character|Short|Integer|Long|Float|Double|Module|'
                    r'StackTraceElement|invoke\..*|module\..*|reflect\..*)|java\.math\.Big.*|java\.net\.UR[IL]|'
                    r'java\.util\.(Date|Locale|UUID|jar\.Attributes\$Name|concurrent\.atomic\..*)|java\.time\..*|'
                    r'((java|javax|sun|com\.sun|jdk)\..*|boolean|byte|char|short|int|long|float|double)(\[\])+')

bad = 0
for path in answers:
    answer = json.load(open(path, encoding='utf-8'))
    percent = int(path.rsplit('.', 1)[1])
    threshold = percent * whole // 100
    want = []
    groups = collections.Counter()
    for at in children[0]:
        name, _, retained = rows[at]
        if at < 0x1000: # the boot loader and classes that MAT invents
            continue
        if retained > threshold:
            want += single(at, threshold)
        else:
            groups[name] += retained
    counts = collections.Counter(rows[at][0] for at in children[0]
                                 if at >= 0x1000 and rows[at][2] <= threshold)
    values = []
    for name, retained in groups.items():
        if retained > threshold and VALUES.fullmatch(name):
            values.append(name)
        elif retained > threshold:
            want.append((retained, counts[name], name, None))
    suspects, ruled = {}, set()
    for row in answer['rows']:
        if row['kind'] == 'suspect':
            suspects[row['suspect']] = [row['retained'], row['objects'], row['id'] or row['class'], None]
            if row['verdict']:  # found by a rule: MAT has none
                ruled.add(row['suspect'])
        if row['kind'] == 'point' and suspects[row['suspect']][2].startswith('0x'):
            suspects[row['suspect']][3] = row['id']
    have = [suspect for no, suspect in suspects.items() if no not in ruled]
    # Suspects that may be one leak share an object that retains as much as one of them and is no thread or class
    # loader.
    shared = [r for r in answer['rows'] if r['kind'] == 'common']
    for i, row in enumerate(shared):
        if row['id'] is None:
            first = suspects[int(re.search('[0-9]+', row['text']).group())]
        elif i + 1 == len(shared) or shared[i + 1]['id'] is None:
            if rows[int(row['id'], 16)][2] >= first[0] and not re.search('Thread$|ClassLoader$', row['class']):
                continue
            bad = 1
            print('nothing holds both:', table, row)
    told = [v.rsplit(' ', 2)[0] for v in answer['facts'].get('values', '').split(', ') if v]
    if sorted(set(told)) != sorted(values):
        bad = 1
        print('groups of values at %d %%:' % percent, table, told, values)
    # Classes with the same name from two loaders are two groups. If retained sizes tie, any largest child is accepted.
    if sorted((h[0], h[1], h[2]) for h in have) != sorted(w[:3] for w in want):
        bad = 1
        print('differs at %d %%:' % percent, table, '\n have', have, '\n want', want)
    for h in have:
        for w in want:
            if h[2] == w[2] and w[3] and h[3] and rows[int(h[3], 16)][2] != rows[int(w[3], 16)][2]:
                bad = 1
                print('another point of', h[2], h[3], w[3])
print('%s: %d suspects at %s %%, as in MAT' % (table.rsplit('/', 1)[1], len(have), percent)
      if not bad else 'FAILED')
sys.exit(bad)
PY
compare_one() {
	work=$TMPDIR/$1
	mkdir -p "$work"
	zstd -dqf -o "$work/dump.hprof" "$dumps/$1.hprof.zst"
	zstd -dqf -o "$work/$1.tsv" "$dumps/$1.mat.tsv.zst"
	heapdb import "$work/dump.hprof" -o "$work/dump.heapdb" --sizes mat --quiet > "$work/log"
	for percent in 10 1; do
		heapdb query leaks --db "$work/dump.heapdb" --threshold $percent --json > "$work/answer.$percent"
	done
	rc=0
	python3 "$TMPDIR/compare.py" "$work/$1.tsv" "$work"/answer.10 "$work"/answer.1 || rc=1
	rm -rf "$work"
	return $rc
}

failed=0
for name in $list; do
	# One program with three layouts: one layout is enough here.
	case $name in mid_j17*) continue ;; esac
	compare_one "$name" || failed=1
done
exit $failed
