#!/bin/sh
# far_test.sh - a heap whose references lead anywhere: retained sizes from the dominators of all
# against those of each object's surroundings, which are computed before there are dominators.
set -eu

command -v hprofgen >/dev/null || { echo "hprofgen was not built"; exit 77; }
hprofgen random -o "$TMPDIR/far.hprof" --objects 1100K --seed 7 >/dev/null
heapdb import --quiet "$TMPDIR/far.hprof" -o "$TMPDIR/far.heapdb" >/dev/null
export HEAPDB="$TMPDIR/far.heapdb"

# Every 10,000th object.
heapdb export objects --quiet --columns id --format tsv | awk 'NR > 1 && NR % 10000 == 2' >"$TMPDIR/ids"
while read -r id; do
	heapdb query retained "$id" --quiet --json | grep -o '"retained": *[0-9]*' | head -n 1 | tr -dc '0-9\n'
done <"$TMPDIR/ids" >"$TMPDIR/local"

heapdb query dominators --quiet --timings >/dev/null 2>"$TMPDIR/timings"
grep -q "meeting" "$TMPDIR/timings" || { echo "dominators were not found by meeting"; exit 1; }
heapdb export objects --quiet --columns retained --format tsv | awk 'NR > 1 && NR % 10000 == 2' >"$TMPDIR/all"
[ "$(wc -l <"$TMPDIR/local")" -ge 50 ] || { echo "too few answers"; exit 1; }
diff "$TMPDIR/local" "$TMPDIR/all"
heapdb check --quiet >/dev/null
