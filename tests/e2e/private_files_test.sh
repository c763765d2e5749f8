#!/bin/sh
# private_files_test.sh - every file that a command writes has mode 0600, whatever the umask and whatever it replaces,
# because all of them contain data of a heap.
set -eu
cd "$TMPDIR"
umask 022
heapdb import "$DUMP" -o s.heapdb --quiet > /dev/null

# Runs a command and checks the mode of the file that it wrote.
private() {
	file=$1
	shift
	"$@" > out.txt 2>&1 || { echo "failed: $*"; cat out.txt; exit 1; }
	mode=$(stat -c %a "$file")
	[ "$mode" = 600 ] || { echo "mode $mode of $file: $*"; exit 1; }
}
[ "$(stat -c %a s.heapdb)" = 600 ] || { echo "the database"; exit 1; }
private o.tsv heapdb export objects -o o.tsv --db s.heapdb
private o.jsonl heapdb export objects -o o.jsonl --db s.heapdb
private o.parquet heapdb export objects -o o.parquet --db s.heapdb
private leaks.txt heapdb leaks -o leaks.txt --db s.heapdb
private leaks.json heapdb leaks -o leaks.json --db s.heapdb
private report.md heapdb report -o report.md --db s.heapdb
private report.html heapdb report --html report.html --db s.heapdb
private dump.hprof heapdb export dump -o dump.hprof --db s.heapdb
private stripped.hprof heapdb strip "$DUMP" stripped.hprof
private redacted.hprof heapdb redact "$DUMP" redacted.hprof
private converted.hprof heapdb convert "$DUMP" converted.hprof
private s.heapdb.notes heapdb notes add java.lang.Object "expected" --db s.heapdb
# A file that others could read becomes private when it gets new contents.
echo > leaks.txt
chmod 644 leaks.txt
private leaks.txt heapdb leaks -o leaks.txt --force --db s.heapdb
