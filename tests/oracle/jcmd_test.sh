#!/bin/sh
# jcmd_test.sh - a live dump of a running JVM has as many objects of every class as `jcmd GC.class_histogram` counts.
# Needs a JDK and python3.
set -eu
for tool in java javac jcmd python3; do
	command -v $tool >/dev/null || { echo "no $tool here"; exit 77; }
done
work=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"
cat > Quiet.java <<'JAVA'
import java.util.*;

/** Fills a map, then does nothing, so that two full collections find the same heap. */
public class Quiet {
    static final Map<String, Object> map = new HashMap<>();

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 20000; i++) map.put("key" + i, new ArrayList<>(List.of(i, i + 1)));
        System.out.println("ready");
        Thread.sleep(600_000);
    }
}
JAVA
javac -J-XX:TieredStopAtLevel=1 Quiet.java
java -XX:+UseSerialGC -Xmx256m -cp . Quiet > ready &
pid=$!
for _ in $(seq 100); do
	grep -q ready ready && break
	sleep 0.1
done
# The first commands load additional classes; after them nothing changes.
jcmd $pid GC.class_histogram > /dev/null
jcmd $pid GC.heap_dump "$work/quiet.hprof" > /dev/null
rm -f quiet.hprof
jcmd $pid GC.class_histogram > before
jcmd $pid GC.heap_dump "$work/quiet.hprof" > /dev/null
jcmd $pid GC.class_histogram > after
heapdb import quiet.hprof --quiet > /dev/null
heapdb query histogram --db quiet.heapdb --shallow --csv > ours.csv
python3 - <<'PY'
import csv, re, sys

PRIMITIVES = {'B': 'byte', 'C': 'char', 'Z': 'boolean', 'I': 'int', 'J': 'long', 'S': 'short', 'F': 'float',
              'D': 'double'}

def name(raw):
    depth = len(raw) - len(raw.lstrip('['))
    if not depth:
        return raw
    core = raw[depth:]
    return (core[1:-1] if core[0] == 'L' else PRIMITIVES[core]) + '[]' * depth

def histogram(path):
    counts = {}
    for line in open(path):
        m = re.match(r'\s*\d+:\s+(\d+)\s+(\d+)\s+(\S+)', line)
        if m:
            counts[name(m.group(3))] = counts.get(name(m.group(3)), 0) + int(m.group(1))
    return counts

ours = {}
for row in csv.DictReader(open('ours.csv')):
    ours[row['name']] = ours.get(row['name'], 0) + int(row['objects'])
before, after = histogram('before'), histogram('after')
bad = [(n, ours.get(n, 0), before.get(n, 0), after.get(n, 0)) for n in sorted(set(ours) | set(after))
       if ours.get(n, 0) not in (before.get(n, 0), after.get(n, 0))]
for row in bad:
    print('%s: %d in the dump, the VM counts %d before and %d after' % row)
print('%d classes, %d objects in the dump, %d in the VM' % (len(ours), sum(ours.values()), sum(after.values())))
sys.exit(bool(bad))
PY
