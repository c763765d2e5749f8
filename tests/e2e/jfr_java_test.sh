#!/bin/sh
# jfr_java_test.sh - recordings of every installed JDK (17 and later): each event of the four kinds, field by field,
# compared with `jfr print --json` of the JDK; of a program that keeps sessions, in several chunks, with paths to GC
# roots, and of javac. With the program's dump, `leaks --jfr` names the line.
# Slow: it runs Java programs with each JDK.
set -eu
command -v python3 >/dev/null || { echo "no python3 here"; exit 77; }
here=$HDB_ROOT/tests
tried=0
for home in /usr/lib/jvm/*; do
	if [ ! -x "$home/bin/jfr" ] || [ ! -x "$home/bin/javac" ] || [ -L "$home" ]; then continue; fi
	version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$home/release")
	[ "$version" -ge 17 ] || continue
	tried=$((tried + 1))
	work=$TMPDIR/$version
	mkdir -p "$work"
	cd "$work"
	"$home/bin/javac" -J-XX:StartFlightRecording:filename=javac.jfr,settings=profile -d . \
		"$here"/java/Recorded.java "$here"/java/Known.java >log 2>&1 || { cat log; exit 1; }
	"$home/bin/java" -Xmx200m Recorded x.jfr x.hprof >log 2>&1 || { cat log; exit 1; }
	for recording in x.jfr javac.jfr; do
		echo "JDK $version, $recording"
		python3 "$here/e2e/jfr_compare.py" "$home/bin/jfr" "$recording"
	done
	heapdb jfr x.jfr --json | grep -q '"chunks":[2-9]' || { echo "one chunk"; exit 1; }
	heapdb leaks x.hprof --jfr x.jfr --json --quiet >leaks.json
	said='of [0-9,]* [^"]* w[a-z]* sampled, [0-9a-z ]*allocated at Recorded.*:\(14\|15\|18\|25\)"'
	grep -q "$said" leaks.json || {
		echo "leaks does not say where sessions are allocated"
		grep -o '[^"]*sampled[^"]*' leaks.json
		exit 1
	}
done
[ $tried -gt 0 ] || { echo "no JDK of 17 or later in /usr/lib/jvm"; exit 77; }
