#!/bin/sh
# tests/e2e/readme_test.sh - the README's commands on the sample dump print what it says, the files that
# it links to are there, and it is a front page: at most 1,000 words.
set -eu
export LC_ALL=C.UTF-8 COLUMNS=100
unset HEAPDB
cd "$TMPDIR"
cp "$DUMP" sample.hprof
sed -n '/^## Five commands/,/^`heapdb diff/p' "$HDB_ROOT/README.md" | sed -n 's/^    //p' > want
grep '^\$ ' want | sed 's/^\$ //' > typed
[ "$(wc -l < typed)" -eq 5 ]
while read -r line; do
	echo "$ $line"
	eval "$line" 2> /dev/null
done < typed | sed 's/ *$//' | grep -v '^$' > have
diff -u want have
words=$(wc -w < "$HDB_ROOT/README.md")
[ "$words" -le 1000 ] || { echo "$words words"; exit 1; }
grep -o '](\([^)]*\))' "$HDB_ROOT/README.md" | sed 's/^](//; s/)$//' | while read -r file; do
	[ -e "$HDB_ROOT/$file" ] || { echo "no file $file"; exit 1; }
done
