#!/bin/sh
# android_ahat_test.sh - import --sizes ahat: size, native memory, dominators and retained sizes of every object equal
# ahat's, in each heap and for each strength of references. ahat_answers.py lists the differences.
# Slow: large dumps are made and read.
# shellcheck disable=SC2094
set -eu
for tool in zstd python3; do
	command -v $tool > /dev/null || { echo "no $tool here"; exit 77; }
done
dumps=${HDB_DUMPS:-$HDB_ROOT/../shared/dumps}
answers=$dumps/../android
[ -f "$answers/syn.ahat.tsv.zst" ] || { echo "no $answers; HDB_DUMPS names another folder"; exit 77; }
cd "$TMPDIR"
failed=0

# compare NAME FILE LOCALS CLASSES [HEAP_COLUMNS]
compare() {
	zstd -dqf -o dump.hprof "$2"
	zstd -dqf -o want.tsv "$answers/$1.ahat.tsv.zst"
	heapdb import dump.hprof -o dump.heapdb --sizes ahat --force --quiet > import.log
	for strength in strong soft phantom; do
		heapdb export objects --all --retained $strength --format tsv --db dump.heapdb \
			--columns "id,shallow,native,reachable,dominator,retained,retained_native${5:-}" \
			> objects.$strength
	done
	python3 "$HDB_ROOT/tests/oracle/ahat_answers.py" want.tsv strong objects.strong soft objects.soft \
		phantom objects.phantom -- "$3" "$4" || failed=1
}
compare leak_service_binder "$dumps/android_service_leak.hprof.zst" 24 0 ,retained_app,retained_zygote
compare test-dump_84ad4287 "$dumps/android_ahat_test.hprof.zst" 4 0
compare test-dump "$answers/test-dump.hprof.zst" 4 0
compare test-dump-base "$answers/test-dump-base.hprof.zst" 4 0
for name in syn syn2 syn3 g0 g1 g2 g3; do
	compare $name "$answers/$name.hprof.zst" 5 90
done
# References between strong and phantom: each strength reaches at least the objects of the previous one.
last=0
for strength in strong soft finalizer weak phantom; do
	heapdb query top --retained $strength --limit 1 --db dump.heapdb > top
	count=$(sed -n 's/.*reachable objects: \([0-9,]*\).*/\1/p' top | tr -d ,)
	[ "$count" -ge "$last" ] || { echo "FAILED: $strength reaches $count objects, less than $last"; failed=1; }
	last=$count
done
grep -q '^references followed: phantom' top || { echo "FAILED: top does not say which references count"; failed=1; }
heapdb info --db dump.heapdb --sizes | grep -q ahat || { echo "FAILED: info does not tell the model"; failed=1; }
# By default class objects of Dalvik have the size recorded in the dump: 657,876 bytes and their rounding.
zstd -dqf -o dalvik.hprof "$dumps/android_service_leak.hprof.zst"
heapdb import dalvik.hprof --quiet > import.log
bytes=$(heapdb export objects --all --columns kind,shallow --format tsv --db dalvik.heapdb |
	awk '$1 == "class" { sum += $2 } END { print sum }')
if [ "$bytes" -lt 657876 ] || [ "$bytes" -gt 680000 ]; then
	echo "FAILED: class objects are $bytes bytes"
	failed=1
fi
# Characters of ART's strings have no header: a string ends where the next object begins, or up to 7 bytes before.
zstd -dqf -o art.hprof "$dumps/android_ahat_test.hprof.zst"
heapdb import art.hprof --quiet > import.log
heapdb export objects --all --columns id,kind,class,shallow --format tsv --db art.heapdb > objects
python3 - << 'END' || failed=1
rows = [line.rstrip("\n").split("\t") for line in open("objects")][1:]
rows = sorted((int(i, 0), kind, name, int(size)) for i, kind, name, size in rows)
strings = tight = 0
for (at, _, name, size), (value, kind, _, more), (after, *_) in zip(rows, rows[1:], rows[2:]):
    if name == "java.lang.String" and kind == "primitive array" and value - at in (8, 16):
        strings += 1
        assert at + size + more <= after, "the string at 0x%x of %d and %d bytes" % (at, size, more)
        tight += at + size + more == after
assert strings == 405 and tight > 200, (strings, tight)
END
exit $failed
