#!/bin/sh
# growth_java_test.sh - five dumps of a program that grows in known ways (java/Series.java): the answers of `diff --by
# growth` for two and more dumps and several thresholds. Every number is computed by hand: fields as wide as in the dump
# (8 bytes per reference), no headers. Needs a JDK and python3.
set -eu
export PYTHONPATH="$HDB_ROOT/tests/support" PYTHONDONTWRITEBYTECODE=1
for tool in java javac python3; do
	command -v $tool >/dev/null || { echo "no $tool here"; exit 77; }
done
cd "$TMPDIR"
javac -J-XX:TieredStopAtLevel=1 -d . "$HDB_ROOT/tests/java/Series.java"
java -cp . -Xmx64m -XX:+UseSerialGC Series "$TMPDIR/s" >/dev/null
list=
for n in 1 2 3 4 5; do
	heapdb import "s$n.hprof" --quiet >/dev/null
	list="$list s$n.heapdb"
	[ $n -eq 1 ] && continue
	for loops in 1 2 3 6; do
		# shellcheck disable=SC2086 # a list
		heapdb diff $list --by growth --loops $loops --json >"$n.$loops.json"
	done
done
python3 - <<'PY'
import json

from checks import end, want

def capacity(count):
    """Elements that an ArrayList has room for after `count` were added one by one."""
    room = 10
    while room < count:
        room += room >> 1
    return room


def array_list(count):
    return 4 + 4 + 8 + 8 * capacity(count)


def table(count):
    """A HashMap of `count` boxed numbers and lists of 4."""
    slots = 16
    while count > slots * 3 // 4:
        slots *= 2
    return 48 + 8 * slots + count * (28 + 4 + array_list(4))


# What grows: the field, its element, objects per round, retained size after round n, and the part that no other row
# reaches. LEFT and RIGHT each have half of a Blob (8 and 1,000 bytes).
FIELDS = {
    'Series.EVENTS -> java.util.ArrayList':
        (['ArrayList[x] -> Series$Event'], 7, lambda n: array_list(7 * n) + 7 * n * 108, None),
    'Series.SLOW -> java.util.ArrayList':
        (['ArrayList[x] -> Series$Slow'], 2, lambda n: array_list(2 * n), None),
    'Series.TABLE -> java.util.HashMap':
        (['HashMap[x] -> java.lang.Integer', 'HashMap[x] -> java.util.ArrayList'], 3, lambda n: table(3 * n), None),
    'Series.LEFT -> java.util.ArrayList':
        (['ArrayList[x] -> Series$Left'], 5, lambda n: array_list(5 * n) + 5 * n * (8 + 504),
         lambda n: array_list(5 * n) + 5 * n * 8),
    'Series.RIGHT -> java.util.ArrayList':
        (['ArrayList[x] -> Series$Right'], 5, lambda n: array_list(5 * n) + 5 * n * (8 + 504),
         lambda n: array_list(5 * n) + 5 * n * 8),
    # Reported if TABLE itself does not grow fast enough.
    'HashMap[x] -> java.util.ArrayList':
        (['ArrayList[x] -> Series$Item'], 12, lambda n: 3 * n * array_list(4), None),
    # These grow only between some dumps.
    'Series.STOPS -> java.util.ArrayList': (['ArrayList[x] -> Series$Stop'], 5, lambda n: array_list(5 * n), None),
    'Series.WAVES -> java.util.ArrayList': (['ArrayList[x] -> Series$Wave'], 10, None, None),
    'local variable -> java.util.ArrayList': (['ArrayList[x] -> Series$Note'], 4, lambda n: array_list(4 * n), None),
}

compared = 0
for last in range(2, 6):
    for loops in 1, 2, 3, 6:
        answer = json.load(open('%d.%d.json' % (last, loops)))
        expected = {name for name, (_, more, _, _) in FIELDS.items() if more >= loops}
        if last > 3:
            expected.discard('Series.STOPS -> java.util.ArrayList')
        if last > 2:
            expected.discard('Series.WAVES -> java.util.ArrayList')
        if loops <= 3:
            expected.discard('HashMap[x] -> java.util.ArrayList')
        # One thread more each time. Everything below the threads belongs to it.
        if loops == 1:
            expected.discard('local variable -> java.util.ArrayList')
        found, at, of_vm = {}, None, 0
        for row in answer['rows']:
            if row['level']:
                if at is None:
                    want('roots', row['counts' if last > 2 else 'objects_before'],
                         ' '.join(str(row['objects'] - last + n) for n in range(1, last + 1)) if last > 2 else
                         row['objects'] - 1)
                    continue
                at[1].append(row)
            elif row['name'] == 'the GC roots':
                at = None
            elif '.<resolved_references> -> ' in row['name']:
                # The VM links call sites while the program runs, and under load between different dumps each time.
                at, of_vm = (row, []), of_vm + 1
            else:
                at = found[row['name'].rsplit(' > ', 1)[-1]] = (row, [])
        what = '%d dumps, %d loops' % (last, loops)
        want(what, sorted(found), sorted(expected))
        want(what + ': nodes', answer['facts']['growing'], len(expected) + of_vm)
        for name in expected & set(found):
            elements, more, size, alone = FIELDS[name]
            row, children = found[name]
            label = what + ', ' + name
            compared += 1
            want(label, sorted(child['name'] for child in children), elements)
            for child in children:
                want(label + ' objects', (child['objects_before'], child['objects']), (more, more * last))
                if last > 2:
                    want(label + ' counts', child['counts'], ' '.join(str(more * n) for n in range(1, last + 1)))
            if size:
                want(label + ' retained', (row['retained_before'], row['retained']), (size(1), size(last)))
                if last > 2:
                    want(label + ' by dump', row['steps'], ' '.join(str(size(n)) for n in range(1, last + 1)))
                want(label + ' alone', row['retained_alone'], (alone or size)(last))
print(compared, 'growing nodes compared')
end(compared < 50)
PY
