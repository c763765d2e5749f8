#!/bin/sh
# gz_java_test.sh - dumps compressed by a real JVM, `jcmd GC.heap_dump -gz=1` and -gz=9, also in parallel if supported:
# imported in parts on all threads they equal the output of zcat, and have as many objects as the uncompressed dump of
# the same heap. Needs JDK 16 or newer.
# Slow: large dumps are made and read.
set -eu
for tool in java javac jcmd gzip; do
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
        for (int i = 0; i < 40000; i++) map.put("key" + i, new ArrayList<>(List.of(i, i + 1)));
        System.out.println("ready");
        Thread.sleep(600_000);
    }
}
JAVA
javac -J-XX:TieredStopAtLevel=1 Quiet.java
java -XX:+UseParallelGC -Xmx256m -cp . Quiet > ready &
pid=$!
for _ in $(seq 100); do
	grep -q ready ready && break
	sleep 0.1
done
# The first commands load additional classes; after them nothing changes.
jcmd $pid GC.heap_dump "$work/first.hprof" > /dev/null
jcmd $pid GC.heap_dump -gz=1 "$work/first.hprof.gz" > out || true
[ -s first.hprof.gz ] || { echo "this JDK has no -gz: $(tail -1 out)"; exit 77; }
jcmd $pid GC.heap_dump "$work/plain.hprof" > /dev/null
jcmd $pid GC.heap_dump -gz=1 "$work/one.hprof.gz" > /dev/null
jcmd $pid GC.heap_dump -gz=9 "$work/nine.hprof.gz" > /dev/null
jcmd $pid GC.heap_dump -gz=1 -parallel=2 "$work/two.hprof.gz" > /dev/null 2>&1 || true
failed=0
head -c 100 one.hprof.gz | grep -q 'HPROF BLOCKSIZE=' || { echo "no block size in the comment"; failed=1; }
heapdb import plain.hprof --quiet --json | tr ',' '\n' | grep '"objects"' > plain.objects
for name in one nine two; do
	[ -s $name.hprof.gz ] || continue
	heapdb import $name.hprof.gz --quiet --threads 3 --json | tr ',' '\n' | grep '"objects"' > objects
	cmp plain.objects objects || { echo "FAILED: $name: other objects"; failed=1; }
	zcat $name.hprof.gz > unpacked
	mv $name.hprof.gz gone.gz
	heapdb export dump --db $name.heapdb | cmp - unpacked || { echo "FAILED: $name: other bytes"; failed=1; }
	heapdb check --db $name.heapdb > out || { cat out; failed=1; }
	mv gone.gz $name.hprof.gz
done
# A damaged block is skipped, and the data after it is read.
size=$(stat -c %s one.hprof.gz)
{ head -c $((size / 2)) one.hprof.gz; printf 'damaged!'; tail -c +$((size / 2 + 9)) one.hprof.gz; } > bad.hprof.gz
heapdb import bad.hprof.gz > out 2>&1 || { echo "FAILED: import of a damaged block"; cat out; failed=1; }
heapdb info --problems --db bad.heapdb 2> /dev/null | grep -q compression || { echo "FAILED: not told"; failed=1; }
lost=$(($(stat -c %s unpacked) - $(heapdb export dump --db bad.heapdb 2> /dev/null | wc -c)))
# part of the damaged block of 1 MiB was read
[ $lost -lt $((1200 * 1024)) ] || { echo "FAILED: $lost bytes lost"; failed=1; }
exit $failed
