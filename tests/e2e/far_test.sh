#!/bin/sh
# far_test.sh - a heap with random references: retained sizes computed from the dominator tree equal those computed from
# each object's surroundings before the tree exists; also with little memory.
set -eu

command -v hprofgen >/dev/null || { echo "hprofgen was not built"; exit 77; }
hprofgen random -o "$TMPDIR/far.hprof" --objects 2200K --seed 7 >/dev/null
heapdb import --quiet "$TMPDIR/far.hprof" -o "$TMPDIR/far.heapdb" >/dev/null
cp "$TMPDIR/far.heapdb" "$TMPDIR/short.heapdb"
export HEAPDB="$TMPDIR/far.heapdb"

# Every 20,000th object.
heapdb export objects --quiet --columns id --format tsv | awk 'NR > 1 && NR % 20000 == 2' >"$TMPDIR/ids"
while read -r id; do
	heapdb query retained "$id" --quiet --json | grep -o '"retained": *[0-9]*' | head -n 1 | tr -dc '0-9\n'
done <"$TMPDIR/ids" >"$TMPDIR/local"

for db in far short; do
	memory=
	[ $db = far ] || memory='--memory 16M'
	# shellcheck disable=SC2086
	heapdb query dominators --db "$TMPDIR/$db.heapdb" --quiet $memory >/dev/null
done
heapdb export objects --quiet --columns retained --format tsv | awk 'NR > 1 && NR % 20000 == 2' >"$TMPDIR/all"
[ "$(wc -l <"$TMPDIR/local")" -ge 50 ] || { echo "too few answers"; exit 1; }
diff "$TMPDIR/local" "$TMPDIR/all"
for db in far short; do
	heapdb export objects --db "$TMPDIR/$db.heapdb" --quiet --columns id,retained,dominator \
		--format tsv >"$TMPDIR/$db"
done
cmp "$TMPDIR/far" "$TMPDIR/short"
heapdb check --quiet >/dev/null
