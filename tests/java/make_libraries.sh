#!/bin/sh
# tests/java/make_libraries.sh - makes dumps with library collections of known contents.
#
#   JAVA_HOME=/path/to/jdk17 sh tests/java/make_libraries.sh FOLDER [MOST]
#
# Writes FOLDER/NAME.hprof and NAME.tsv for KnownLibraries and KnownScala212. Maven downloads the jars once to
# KNOWN_JARS (build/known-jars). Exit status 77 if Maven, JDK 17 or the jars are not available.
#
# tests/data/libraries.* are a part of such a dump, with MOST 1100: python3 tests/java/part_of_dump.py
# FOLDER/KnownLibraries.hprof KnownLibraries libraries.hprof extracts it, and zstd -19 compresses it.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=$1 most=${2:-40000}
jars=${KNOWN_JARS:-$here/../../build/known-jars}
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
version=$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p') || true
[ "${version:-0}" -ge 17 ] || { echo "no JDK 17 or later: set JAVA_HOME"; exit 77; }
command -v mvn > /dev/null || { echo "no Maven here: it brings the jars"; exit 77; }
mkdir -p "$jars"
if ! cmp -s "$here/known_libraries.xml" "$jars/pom.xml"; then
	{ mvn -q -B -f "$here/known_libraries.xml" dependency:copy-dependencies -DincludeScope=runtime \
		-DoutputDirectory="$jars/all" &&
		mvn -q -B dependency:copy -Dartifact=org.scala-lang:scala-library:2.12.19 \
			-DoutputDirectory="$jars/scala212"; } > "$jars/log" 2>&1 ||
		{ echo "Maven cannot bring the jars: $(grep -m 1 ERROR "$jars/log")"; exit 77; }
	cp "$here/known_libraries.xml" "$jars/pom.xml"
fi
"$java" -Xmx512m -XX:+UseSerialGC -cp "$jars/all/*" "$here/KnownLibraries.java" "$out/KnownLibraries.hprof" \
	"$out/KnownLibraries.tsv" "$most"
"$java" -Xmx256m -XX:+UseSerialGC -cp "$jars/scala212/*" "$here/KnownScala212.java" "$out/KnownScala212.hprof" \
	"$out/KnownScala212.tsv"
