#!/bin/sh
# first_lines_test.sh - the first line of the report, which says what to look at first, for the sample, for dumps of
# hprofgen, and for the dumps in ../shared/dumps and ../shared/android (or HDB_DUMPS, HDB_ANDROID) if they exist.
# tests/README.md lists those whose line differs from what a person would name.
#
#   FIRST_LINES=write first_lines_test.sh      prints the content of data/first_lines.txt, for review
#
# The dumps of hprofgen have 100,000 objects.
# Slow: large dumps are made and read.
set -eu
export LC_ALL=C
cd "$TMPDIR"
dumps=${HDB_DUMPS:-$HDB_ROOT/../shared/dumps} android=${HDB_ANDROID:-$HDB_ROOT/../shared/android}

# first NAME DUMP: prints a line of the file.
first() {
	heapdb import "$2" -o first.heapdb --force --quiet > import.log
	printf '%s: %s\n' "$1" "$(heapdb report first.heapdb | sed -n 3p)"
}

{
	first sample "$DUMP"
	for shape in tree list ladder ring star tail random; do
		hprofgen $shape --objects 100K -o made.hprof > made.log
		first $shape made.hprof
	done
	if command -v zstd > /dev/null; then
		for packed in "$dumps"/*.hprof.zst "$android"/*.hprof.zst; do
			[ -f "$packed" ] || continue
			zstd -dqf -o made.hprof "$packed"
			first "$(basename "$packed" .hprof.zst)" made.hprof
		done
	fi
} > found
if [ "${FIRST_LINES:-}" = write ]; then
	cat found
	exit
fi
# Missing dumps are skipped.
cut -d : -f 1 found > names
awk -F : 'FNR == NR { here[$1]; next } $1 in here' names "$HDB_ROOT/tests/data/first_lines.txt" | diff -u - found
echo "$(wc -l < found) first lines"
