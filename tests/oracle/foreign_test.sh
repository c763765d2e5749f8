#!/bin/sh
# foreign_test.sh - memory outside the heap of java/Foreign.java, with known amounts, on each JDK since 22.
set -eu
cd "$TMPDIR"
failed=0 jdks=0

same()
{
	if [ "$2" != "$3" ]; then
		printf 'FAILED: %s\n  got:      %s\n  expected: %s\n' "$1" "$2" "$3"
		failed=1
	fi
}

# Prints the fact $2 of `query $1` on the database $3.
fact()
{
	heapdb query "$1" --json --db "$3" | grep -o "\"$2\":[0-9]*" | head -n 1 | cut -d: -f2
}

for home in $(for java in /usr/lib/jvm/*/bin/java "${JAVA_HOME:-}/bin/java"; do
	[ ! -x "$java" ] || readlink -f "$java"
done | sort -u | sed 's/\/bin\/java$//'); do
	[ -x "$home/bin/javac" ] || continue
	"$home/bin/javac" -J-XX:TieredStopAtLevel=1 -nowarn -d classes \
		"$HDB_ROOT/tests/java/Foreign.java" 2>/dev/null || continue
	jdks=$((jdks + 1))
	rm -f f.hprof
	"$home/bin/java" -Xmx64m --enable-native-access=ALL-UNNAMED -cp classes Foreign "$PWD/f.hprof"
	heapdb import f.hprof -o f.heapdb --force --quiet >/dev/null
	same "direct" "$(fact direct-buffers capacity f.heapdb)" 12345
	same "mapped" "$(fact direct-buffers mapped f.heapdb)" $((10 << 20))
	same "segments" "$(fact direct-buffers segments f.heapdb)" $(((1 << 20) + 65536 + 4096))
	same "holder" "$(heapdb query direct-buffers --csv --columns kind,holder --db f.heapdb |
		grep -c '^\(direct\|mapped\|segment\),class Foreign$')" 5
	same "owned" "$(fact native native f.heapdb)" \
		$((12345 + (10 << 20) + (1 << 20) + 65536 + 4096))
	heapdb check --quiet --db f.heapdb >/dev/null || failed=1
done
[ $jdks -gt 0 ] || { echo "no JDK 22 or later here"; exit 77; }
exit $failed
