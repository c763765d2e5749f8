#!/bin/sh
# sql_jdbc_test.sh - xerial's JDBC driver for SQLite loads the extension, lists its tables and columns, and returns the
# same rows as `heapdb sql`; see tests/java/Jdbc.java.
# Slow: Maven downloads the driver on first use.
set -eu
for tool in java mvn; do
	command -v "$tool" >/dev/null || { echo "no $tool here"; exit 77; }
done
[ -f "$BUILD/heapdb.so" ] || { echo "no heapdb.so"; exit 77; }
case $(ldd "$BUILD/heapdb" 2>/dev/null) in
*libasan* | *libtsan*) echo "Java cannot load a library with sanitizers"; exit 77 ;;
esac
jars=$HDB_ROOT/build/jdbc
if [ ! -f "$jars/ready" ]; then
	for artifact in org.xerial:sqlite-jdbc:3.46.1.3 org.slf4j:slf4j-api:1.7.36; do
		timeout 200 mvn -q -B dependency:copy -Dartifact="$artifact" -DoutputDirectory="$jars" \
			>/dev/null 2>&1 || { echo "Maven cannot bring $artifact"; exit 77; }
	done
	: >"$jars/ready"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
heapdb import "$DUMP" -o s.heapdb --quiet >/dev/null
java -cp "$jars/*" "$HDB_ROOT/tests/java/Jdbc.java" "$BUILD/heapdb" s.heapdb 2>err >got || { cat err; exit 1; }
{
	echo true
	heapdb sql s.heapdb --quiet --format tsv "SELECT class, count(*) FROM objects WHERE class GLOB 'java.util.*' \
		GROUP BY 1 ORDER BY 2 DESC LIMIT 2; SELECT 'entries', sum(size) FROM \"java.util.HashMap\"; \
		SELECT kind, objects FROM kind_totals ORDER BY kind" | grep '[0-9]$' | tr '\t' ' '
} >want
[ "$(wc -l <want)" -eq 8 ] || { cat want; exit 1; }
diff want got
