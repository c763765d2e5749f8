#!/bin/sh
# relations_test.sh - finds answers that cannot be right, without knowing the right ones: rows that do not add up,
# numbers that differ between two answers, answers that change if the same heap is written differently. relations.py
# runs the queries, variants.py writes the variants. Uses the sample and some small dumps; HEAPDB_HOSTILE=long: all
# dumps of ../shared/dumps (hours).
# Slow: 2.2 million relations.
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
TMPDIR=$work
export TMPDIR PYTHONDONTWRITEBYTECODE=1
dumps=${HDB_DUMPS:-$HDB_ROOT/../shared/dumps}
if [ "${HEAPDB_HOSTILE:-}" != long ]; then
	set -- "$DUMP"
	for name in slurp_64 android_ahat_test slurp_32; do
		[ -f "$dumps/$name.hprof.zst" ] || continue
		zstd -dqf "$dumps/$name.hprof.zst" -o "$work/$name.hprof"
		set -- "$@" "$work/$name.hprof"
	done
	RELATIONS_WAYS=random:600K python3 tests/oracle/relations.py short "$@"
	exit
fi
failed=0
RELATIONS_WAYS="random:600K random:3M ladder:2M tail:1M list:2M" \
	python3 tests/oracle/relations.py long "$DUMP" || failed=1
for file in "$dumps"/*.hprof.zst; do
	[ -f "$file" ] || continue
	name=$(basename "$file" .zst)
	zstd -dqf "$file" -o "$work/$name"
	python3 tests/oracle/relations.py long "$work/$name" || failed=1
	rm -f "$work/$name"
done
exit $failed
