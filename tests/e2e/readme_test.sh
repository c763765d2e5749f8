#!/bin/sh
# tests/e2e/readme_test.sh - the README's commands on the sample dump print what it shows: the first one and the five.
# The files that it links to exist, and it has at most 700 words.
set -eu
export LC_ALL=C.UTF-8 COLUMNS=100
unset HEAPDB
cd "$TMPDIR"
cp "$DUMP" sample.hprof
sed -n '1,/^## Install/p; /^## Five commands/,/^`heapdb diff/p' "$HDB_ROOT/README.md" | sed -n 's/^    //p' > want
grep '^\$ ' want | sed 's/^\$ //' > typed
[ "$(wc -l < typed)" -eq 6 ]
while read -r line; do
	echo "$ $line"
	eval "$line" 2> /dev/null
done < typed | sed 's/ *$//' | grep -v '^$' > have
diff -u want have
words=$(wc -w < "$HDB_ROOT/README.md")
[ "$words" -le 700 ] || { echo "$words words"; exit 1; }
grep -o '](\([^)]*\))' "$HDB_ROOT/README.md" | sed 's/^](//; s/)$//' | while read -r file; do
	[ -e "$HDB_ROOT/$file" ] || { echo "no file $file"; exit 1; }
done
