#!/bin/sh
# known_test.sh - every entry, size, value, path label and property of collections and values of known classes equals
# what a JVM returns for them. Runs tests/java/Known.java on each JDK since 17 in HDB_JDKS (/usr/lib/jvm/*). Needs
# python3.
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
count=0
for home in ${HDB_JDKS:-/usr/lib/jvm/*}; do
	if [ ! -x "$home/bin/javac" ] || [ -L "$home" ]; then
		continue
	fi
	version=$("$home/bin/javac" -version 2>&1 | sed 's/[^0-9]*\([0-9]*\).*/\1/')
	[ "$version" -ge 17 ] || continue
	count=$((count + 1))
	"$home/bin/java" -Xmx256m -XX:+UseSerialGC "$HDB_ROOT/tests/java/Known.java" \
		"$work/$version.hprof" "$work/$version.tsv"
	heapdb import "$work/$version.hprof" -o "$work/$version.heapdb" --quiet > /dev/null
	echo "JDK $version"
	python3 "$HDB_ROOT/tests/oracle/known_check.py" "$work/$version.heapdb" "$work/$version.tsv" || failed=1
	heapdb info --db "$work/$version.heapdb" | grep -q "^vm  *java  *$version" || {
		echo "FAILED: info has no version of Java"
		failed=1
	}
	rm -f "$work/$version.hprof" "$work/$version.heapdb"
done
[ $count -gt 0 ] || { echo "no JDK 17 or later in ${HDB_JDKS:-/usr/lib/jvm}"; exit 77; }
exit $failed
